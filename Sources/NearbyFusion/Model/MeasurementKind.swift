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
  package var isAngle: Bool {
    switch self {
    case .range, .heightDifference: false
    case .azimuth, .elevation: true
    }
  }

  /// What a wandering error is a function of, by which it decorrelates (``CorrelatedNoise``).
  package enum Wandering {
    /// The device's place and attitude and, along a path, time: a part of the accuracy.
    case withPlace
    /// The direction under which the peer is seen: a part of the accuracy.
    case withDirection
    /// Time alone: an offset that is no part of the accuracy (``HeightOffset``).
    case withTime
  }

  /// How its wandering error wanders.
  @inline(__always)
  package var wandering: Wandering {
    switch self {
    case .range: .withPlace
    case .azimuth, .elevation: .withDirection
    case .heightDifference: .withTime
    }
  }

  /// Whether a radio measures it, so that a value says that the peer is in reach.
  @inline(__always)
  package var isOfRadio: Bool {
    switch self {
    case .range, .azimuth, .elevation: true
    case .heightDifference: false
    }
  }

  /// Whether it tells at first order how high the peer is, on a level walk too.
  @inline(__always)
  package var tellsHeight: Bool {
    switch self {
    case .range, .azimuth: false
    case .elevation, .heightDifference: true
    }
  }

  /// Whether the first hypotheses are made of its value (``InitialHypotheses``); they are updated with
  /// those of the other kinds.
  @inline(__always)
  var makesHypotheses: Bool {
    switch self {
    case .range, .azimuth, .elevation: true
    case .heightDifference: false
    }
  }

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
    /// As many as ``PerKind`` has.
    package var endIndex: Int { MemoryLayout<PerKind<UInt8>>.size }
    package subscript(index: Int) -> MeasurementKind {
      MeasurementKind(rawValue: index) ?? .range
    }
  }

  package static var allCases: AllCases { AllCases() }
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

  /// The prior variance of the error of a kind that lasts as long as the pair of radios, m² or rad².
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - angular: That of an angle: the part of its pose-dependent error that does not wander.
  /// - Returns: The variance; zero for a kind without such an error in the state.
  func constantVariance(of kind: MeasurementKind, angular: Double) -> Double {
    switch kind {
    case .range: rangeBiasSigma * rangeBiasSigma
    case .azimuth, .elevation: angular
    // Its offset is constant and wandering error in one.
    case .heightDifference: 0
    }
  }
}

extension FaultConfiguration {
  /// The probability that a fault begins, from one sample to the next.
  @inline(__always)
  func onset(of kind: MeasurementKind) -> Double {
    switch kind {
    case .range: rangeOnset
    case .azimuth, .elevation: angleOnset
    case .heightDifference: heightOnset
    }
  }
}

extension MeasurementKind {
  /// How wide the interval is in which a faulty value may be anything, radians or metres; `nil` for a
  /// range, whose faults are too long.
  ///
  /// - Parameter fieldOfView: The cone in which angles are measured, radians.
  /// - Returns: Its width.
  @inline(__always)
  func faultSpan(fieldOfView: Double) -> Double? {
    switch self {
    case .range: nil
    case .azimuth, .elevation: fieldOfView
    case .heightDifference: 2 * FaultModel.heightReach
    }
  }
}

/// Something for each kind of measurement; the only container by kind, so that one that lacks a kind
/// does not compile.
///
/// Performance: named properties instead of an inline array, which is copied as a whole for each
/// element that is read.
package struct PerKind<Element> {
  package var range: Element
  package var azimuth: Element
  package var elevation: Element
  package var heightDifference: Element

  @inline(__always)
  package init(
    range: Element, azimuth: Element, elevation: Element, heightDifference: Element
  ) {
    self.range = range
    self.azimuth = azimuth
    self.elevation = elevation
    self.heightDifference = heightDifference
  }

  /// Makes one for each kind.
  @inline(__always)
  package init(_ make: (MeasurementKind) throws -> Element) rethrows {
    range = try make(.range)
    azimuth = try make(.azimuth)
    elevation = try make(.elevation)
    heightDifference = try make(.heightDifference)
  }

  /// All of them in order, as the kernels have them (`NEARBY_COMPONENTS`).
  package typealias Tuple = (Element, Element, Element, Element)

  /// All of them in order.
  @inline(__always)
  package var tuple: Tuple { (range, azimuth, elevation, heightDifference) }

  /// Takes them from the kernels.
  @inline(__always)
  package init(_ tuple: Tuple) {
    (range, azimuth, elevation, heightDifference) = tuple
  }

  /// The same for all kinds.
  @inline(__always)
  package init(repeating element: Element) { self.init { _ in element } }

  @inline(__always)
  package subscript(kind: MeasurementKind) -> Element {
    get {
      switch kind {
      case .range: range
      case .azimuth: azimuth
      case .elevation: elevation
      case .heightDifference: heightDifference
      }
    }
    _modify {
      switch kind {
      case .range: yield &range
      case .azimuth: yield &azimuth
      case .elevation: yield &elevation
      case .heightDifference: yield &heightDifference
      }
    }
  }
}

extension MeasurementKind {
  /// Calls a function with each kind, in order.
  ///
  /// Performance: written out, as ``PerKind`` is, so that each call is compiled for its kind.
  @inline(__always)
  package static func each(_ body: (MeasurementKind) -> Void) { _ = PerKind<Void> { body($0) } }
}

extension PerKind: Equatable where Element: Equatable {}
extension PerKind: Hashable where Element: Hashable {}
extension PerKind: Sendable where Element: Sendable {}
extension PerKind: Encodable where Element: Encodable {}
extension PerKind: Decodable where Element: Decodable {}
