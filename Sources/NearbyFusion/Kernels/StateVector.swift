// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels

/// The state of one hypothesis, with room for all that it may hold (`NEARBY_MOVING_STATE_SIZE`).
typealias StateVector = InlineArray<14, Double>

/// Its covariance: the packed upper triangle, column by column (`NEARBY_MOVING_COVARIANCE_SIZE`).
typealias StateCovariance = InlineArray<105, Double>

/// Where everything stands in the state of a hypothesis.
enum StateIndex {
  /// The number of states of a peer at rest, of one with height differences, and of one that may move.
  static let restingCount = Int(NEARBY_STATE_SIZE)
  static let heightCount = Int(NEARBY_HEIGHT_STATE_SIZE)
  static let movingCount = Int(NEARBY_MOVING_STATE_SIZE)

  /// The scale error of ranges.
  static let rangeScale = Int(NEARBY_STATE_RANGE_SCALE)

  /// The constant error of ranges.
  static let rangeBias = Int(NEARBY_STATE_RANGE_BIAS)

  /// The constant error of a kind; `nil` for height differences, whose offset is ``wander(_:)``.
  @inline(__always)
  static func bias(_ kind: MeasurementKind) -> Int? {
    kind == .heightDifference ? nil : rangeBias + kind.rawValue
  }

  /// The wandering error of a kind.
  @inline(__always)
  static func wander(_ kind: MeasurementKind) -> Int {
    kind == .heightDifference
      ? Int(NEARBY_STATE_HEIGHT_OFFSET) : Int(NEARBY_STATE_RANGE_WANDER) + kind.rawValue
  }

  /// The velocity along an axis of the world; the position along it is the axis itself.
  static func velocity(_ axis: Int) -> Int { Int(NEARBY_STATE_VELOCITY) + axis }

  /// Where element (row, column) of the covariance stands; `row <= column`.
  @inline(__always)
  static func packed(_ row: Int, _ column: Int) -> Int { column * (column + 1) / 2 + row }

  /// Holds the sizes of Swift's arrays to those of the header, and the order of kinds.
  ///
  /// Performance: all are constants, so that nothing is left of this in an optimised build.
  @inline(__always)
  static func assertLayout() {
    let double = MemoryLayout<Double>.size
    precondition(MemoryLayout<StateVector>.size == Int(NEARBY_MOVING_STATE_SIZE) * double)
    precondition(MemoryLayout<StateCovariance>.size == Int(NEARBY_MOVING_COVARIANCE_SIZE) * double)
    precondition(Int(NEARBY_MOVING_COVARIANCE_SIZE) == packed(0, movingCount))
    precondition(Int(NEARBY_HEIGHT_COVARIANCE_SIZE) == packed(0, heightCount))
    precondition(Int(NEARBY_COVARIANCE_SIZE) == packed(0, restingCount))
    precondition(MeasurementKind.allCases.count == Int(NEARBY_COMPONENTS))
    precondition(
      MeasurementKind.range.rawValue == Int(NEARBY_RANGE)
        && MeasurementKind.azimuth.rawValue == Int(NEARBY_AZIMUTH)
        && MeasurementKind.elevation.rawValue == Int(NEARBY_ELEVATION)
        && MeasurementKind.heightDifference.rawValue == Int(NEARBY_HEIGHT_DIFFERENCE))
  }
}
