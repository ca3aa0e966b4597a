// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// What a ranging sample can measure: the one list of kinds.
///
/// Reports, files and kernels have them in this order.
package enum MeasurementKind: Int, Sendable {
  /// The distance from the antenna to the peer, metres.
  case range
  /// The angle to the right of straight ahead in the device's horizontal plane, radians.
  case azimuth
  /// The angle above that plane, radians.
  case elevation
  /// How far the peer is above the antenna along gravity, metres.
  case heightDifference

  /// Whether values wrap at ±π and are measured in radians.
  @inline(__always)
  package var isAngle: Bool { self == .azimuth || self == .elevation }

  /// A difference of two values, angles wrapped to (-π, π].
  @inline(__always)
  package func wrapped(_ difference: Double) -> Double {
    isAngle ? difference.wrappedAngle : difference
  }
}

extension MeasurementKind: CaseIterable {
  /// All kinds, in order.
  ///
  /// Performance: iterating allocates nothing.
  package struct AllCases: RandomAccessCollection, Sendable {
    package var startIndex: Int { 0 }
    package var endIndex: Int { 4 }
    package subscript(index: Int) -> MeasurementKind {
      MeasurementKind(rawValue: index) ?? .range
    }
  }

  package static var allCases: AllCases { AllCases() }
}

/// Something for each kind, in order, for other modules; the engine has ``PerKind``.
package typealias KindArray<Element> = InlineArray<4, Element>

extension InlineArray where count == 4 {
  /// That of a kind.
  package subscript(kind: MeasurementKind) -> Element {
    get { self[kind.rawValue] }
    set { self[kind.rawValue] = newValue }
  }
}

extension RangingSample {
  /// The value of a kind and its stated standard deviation, each `nil` when not given.
  @inline(__always)
  package subscript(kind: MeasurementKind) -> (value: Double?, sigma: Double?) {
    get {
      switch kind {
      case .range: (distance, distanceSigma)
      case .azimuth: (azimuthRadians, azimuthSigmaRadians)
      case .elevation: (elevationRadians, elevationSigmaRadians)
      case .heightDifference: (heightDifference, heightDifferenceSigma)
      }
    }
    set {
      switch kind {
      case .range: (distance, distanceSigma) = newValue
      case .azimuth: (azimuthRadians, azimuthSigmaRadians) = newValue
      case .elevation: (elevationRadians, elevationSigmaRadians) = newValue
      case .heightDifference: (heightDifference, heightDifferenceSigma) = newValue
      }
    }
  }
}

extension RangingConfiguration {
  /// The configured accuracy of a kind, one sigma; used when a sample does not state its own.
  @inline(__always)
  package func sigma(of kind: MeasurementKind) -> Double {
    switch kind {
    case .range: rangeSigma
    case .azimuth: azimuthSigmaRadians
    case .elevation: elevationSigmaRadians
    case .heightDifference: heightDifferenceSigma
    }
  }

  /// The share of the accuracy of a kind that is white noise, 0 to 1; the offset of height differences
  /// is none of it.
  package func whiteShare(of kind: MeasurementKind) -> Double {
    switch kind {
    case .range: rangeWhiteShare
    case .azimuth: azimuthWhiteShare
    case .elevation: elevationWhiteShare
    case .heightDifference: 1
    }
  }

  /// The values that a kind can have; the ends are finite.
  @inline(__always)
  func interval(of kind: MeasurementKind) -> ClosedRange<Double> {
    switch kind {
    case .range: Double.leastNormalMagnitude...maximumRange
    // The ends with a small margin: π rounded to six decimals is beyond π.
    case .azimuth: (-Double.pi - 1e-5)...(Double.pi + 1e-5)
    case .elevation: (-Double.pi / 2 - 1e-5)...(Double.pi / 2 + 1e-5)
    case .heightDifference: -maximumRange...maximumRange
    }
  }
}
