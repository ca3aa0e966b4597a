// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels

/// The state of one hypothesis, with room for all that it may hold (`NEARBY_MOVING_STATE_SIZE`).
typealias StateVector = InlineArray<14, Double>

/// Its covariance: the packed upper triangle, column by column (`NEARBY_MOVING_COVARIANCE_SIZE`).
typealias StateCovariance = InlineArray<105, Double>

/// The states, covariances and inlier shares of as many fits as are made side by side (`NEARBY_FITS`).
typealias FitStates = InlineArray<88, Double>
typealias FitCovariances = InlineArray<528, Double>
typealias FitShares = InlineArray<32, Double>

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
    MeasurementKind.each { precondition($0.component == $0.rawValue) }
  }
}

extension MeasurementKind {
  /// The kind's number in the kernels.
  @inline(__always)
  package var component: Int {
    switch self {
    case .range: Int(NEARBY_RANGE)
    case .azimuth: Int(NEARBY_AZIMUTH)
    case .elevation: Int(NEARBY_ELEVATION)
    case .heightDifference: Int(NEARBY_HEIGHT_DIFFERENCE)
    }
  }

  /// The bit that says in the kernels' `present` that a value of the kind is there.
  @inline(__always)
  var bit: Int32 { 1 << Int32(truncatingIfNeeded: component) }

  /// The bits of all kinds.
  static var allBits: Int32 { 1 << Int32(allCases.count) - 1 }
}

extension StateIndex {
  /// The constant error of a kind; `nil` for height differences, whose offset is ``wander(_:)``.
  @inline(__always)
  static func bias(_ kind: MeasurementKind) -> Int? {
    switch kind {
    case .range: rangeBias
    case .azimuth: Int(NEARBY_STATE_AZIMUTH_BIAS)
    case .elevation: Int(NEARBY_STATE_ELEVATION_BIAS)
    case .heightDifference: nil
    }
  }

  /// The wandering error of a kind.
  @inline(__always)
  static func wander(_ kind: MeasurementKind) -> Int {
    switch kind {
    case .range: Int(NEARBY_STATE_RANGE_WANDER)
    case .azimuth: Int(NEARBY_STATE_AZIMUTH_WANDER)
    case .elevation: Int(NEARBY_STATE_ELEVATION_WANDER)
    case .heightDifference: Int(NEARBY_STATE_HEIGHT_OFFSET)
    }
  }
}

/// The path of a step as it decorrelates the sensors' errors.
struct KernelTravel {
  var kernel: nearby_travel

  /// - Parameters:
  ///   - path: Its length in correlation lengths of the range's wandering error and of the angles'.
  ///   - heights: Its length in those of the offset of height differences.
  ///   - faults: Its length in those of faults.
  ///   - errors: The stationary variances.
  @inline(__always)
  init(
    _ path: (range: Double, angle: Double), heights: Double, faults: Double,
    _ errors: PerKind<ErrorVariances>
  ) {
    kernel = nearby_travel(
      range: path.range, range_variance: errors.range.wandering, angle: path.angle,
      azimuth_variance: errors.azimuth.wandering, fault: faults,
      elevation_variance: errors.elevation.wandering, height: heights,
      height_variance: errors.heightDifference.wandering)
  }
}
