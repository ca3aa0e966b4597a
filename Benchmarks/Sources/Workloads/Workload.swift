// SPDX-License-Identifier: Apache-2.0

/// Something whose cost is of interest, done in batches.
///
/// The same workload is timed, counted in instructions and counted in allocations: each looks at
/// ``run()`` alone.
public protocol Workload {
  /// How many operations a batch has; costs are given for one.
  var operations: Int { get }

  /// Makes what the next batch needs. Not measured.
  mutating func prepare() throws

  /// Does the batch. Measured.
  mutating func run()

  /// Does as much of what bounds the cost from below as a batch does of the operation. Measured beside it.
  mutating func runFloor()

  /// Sees that the last batch did what it stands for. Not measured.
  ///
  /// - Throws: ``WrongState`` when it did not, which makes the measurement worthless.
  func check() throws
}

extension Workload {
  /// Nothing to prepare.
  public mutating func prepare() throws {}

  /// No floor.
  public mutating func runFloor() {}

  /// Nothing can go wrong.
  public func check() throws {}
}

/// What makes a measurement worthless: the state was not the one that was to be measured.
public struct WrongState: Error, CustomStringConvertible {
  /// What it was instead.
  public var description: String

  init(_ description: String) { self.description = description }
}
