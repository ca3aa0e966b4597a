// SPDX-License-Identifier: Apache-2.0

/// An operation whose cost is measured, executed in batches.
///
/// The same workload is timed, and its instructions and allocations are counted. Each measures only
/// ``run()``.
public protocol Workload {
  /// The number of operations of a batch; costs are those of one operation.
  var operations: Int { get }

  /// Prepares the next batch. Not measured.
  mutating func prepare() throws

  /// Runs the batch. Measured.
  mutating func run()

  /// Runs the floor for the operations of a batch. Measured together with it.
  mutating func runFloor()

  /// Checks the result of the last batch. Not measured.
  ///
  /// - Throws: ``WrongState`` when it is wrong, which voids the measurement.
  func check() throws
}

extension Workload {
  /// Nothing to prepare.
  public mutating func prepare() throws {}

  /// No floor.
  public mutating func runFloor() {}

  /// Does not check anything.
  public func check() throws {}
}

/// The error that voids a measurement, because the state was not the intended one.
public struct WrongState: Error, CustomStringConvertible {
  /// The actual state.
  public var description: String

  init(_ description: String) { self.description = description }
}
