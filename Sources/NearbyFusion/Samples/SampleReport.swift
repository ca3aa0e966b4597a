// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The status record of one measured component: the same for every kind of measurement.
///
/// Innovations are `measured - predicted`, under the hypothesis that carries the most weight after
/// the sample; angles wrapped to (-π, π].
public struct ComponentReport: Hashable, Sendable {
  /// What became of the component.
  public enum Outcome: Hashable, Sendable {
    /// It was not measured.
    case absent
    /// It was used with the given weight, 0.5 to 1: the probability that it is no outlier.
    case fused(weight: Double)
    /// It was used with the given weight, below 0.5, and counts as rejected: most likely an outlier.
    case rejectedAsOutlier(weight: Double)
    /// It was left out.
    case rejected(Rejection)
  }

  /// Why a component was left out.
  public enum Rejection: String, Hashable, Sendable, CaseIterable {
    /// The value is infinite or not a number.
    case notFinite
    /// A range that is negative or zero, or beyond the radio's reach; an angle outside its interval.
    case outOfBounds
    /// A standard deviation that is not a positive number.
    case invalidSigma
    /// The sample is older than the engine looks back.
    case tooLate
    /// The sample repeats the stamp and the values of the one before it.
    case duplicate
    /// An angle that repeats the one before to the last digit although the device has turned.
    case stuck
    /// There is no pose near enough in time to say where the device was.
    case noPose
    /// The odometry had no poses worth the name at that time.
    case trackingNotAvailable
    /// The peer's handle is one of another engine.
    case unknownPeer

    /// Whether the value itself may be right, and only the device's pose is missing.
    var isForLackOfPose: Bool { self == .noPose || self == .trackingNotAvailable }
    /// Whether the radio may be as good as ever: what is too late to be used tells nothing of it either.
    var saysNothingOfRadio: Bool { isForLackOfPose || self == .tooLate }
  }

  /// The measured value: metres or radians.
  public var value: Double
  /// The variance of the value's noise, white part, as it was assumed.
  public var variance: Double
  /// Measured minus predicted.
  public var innovation: Double
  /// The variance expected of the innovation.
  public var innovationVariance: Double
  /// What became of it.
  public var outcome: Outcome

  /// Makes the record of a component.
  @inlinable
  @inline(__always)
  public init(
    value: Double, variance: Double, innovation: Double, innovationVariance: Double,
    outcome: Outcome
  ) {
    self.value = value
    self.variance = variance
    self.innovation = innovation
    self.innovationVariance = innovationVariance
    self.outcome = outcome
  }

  /// The normalised innovation squared over the gate of 3 sigma: above one is suspicious.
  public var testRatio: Double {
    innovationVariance > 0 ? innovation * innovation / (9 * innovationVariance) : 0
  }

  /// Whether the component counts as used.
  public var isUsed: Bool {
    if case .fused = outcome { true } else { false }
  }

  /// One if the component was measured, else zero.
  fileprivate var isPresent: Int { if case .absent = outcome { 0 } else { 1 } }
  /// One if it counts as used, else zero.
  fileprivate var isFused: Int { isUsed ? 1 : 0 }

  /// The record of a component that was not measured.
  public static var absent: ComponentReport {
    ComponentReport(
      value: 0, variance: 0, innovation: 0, innovationVariance: 0, outcome: .absent)
  }
}

/// What became of a ranging sample, component by component.
public struct SampleReport: Hashable, Sendable {
  /// How much of a sample was used.
  public enum Use: String, Hashable, Sendable {
    /// All that was measured.
    case all
    /// Some of what was measured.
    case partial
    /// Nothing.
    case rejected
  }

  /// The sample's peer.
  public var peer: PeerID
  /// The sample's moment.
  public var timestamp: Timestamp
  /// What it has revealed of the past; `nil` mostly.
  public var event: SampleEvent?
  /// All components.
  private var components: PerKind<ComponentReport>

  /// Makes the report of a sample.
  ///
  /// - Parameters:
  ///   - peer: The sample's peer.
  ///   - timestamp: The sample's moment.
  ///   - event: What it has revealed.
  ///   - range: What became of the range.
  ///   - azimuth: What became of the azimuth.
  ///   - elevation: What became of the elevation.
  ///   - heightDifference: What became of the height difference.
  public init(
    peer: PeerID, timestamp: Timestamp, event: SampleEvent? = nil,
    range: ComponentReport = .absent, azimuth: ComponentReport = .absent,
    elevation: ComponentReport = .absent, heightDifference: ComponentReport = .absent
  ) {
    var reports = PerKind<ComponentReport>(repeating: .absent)
    reports.range = range
    reports.azimuth = azimuth
    reports.elevation = elevation
    reports.heightDifference = heightDifference
    self.init(peer: peer, timestamp: timestamp, event, &reports)
  }

  /// Performance: from an `inout` parameter only to pass by reference.
  @inline(__always)
  init(
    peer: PeerID, timestamp: Timestamp, _ event: SampleEvent?,
    _ components: inout PerKind<ComponentReport>
  ) {
    self.peer = peer
    self.timestamp = timestamp
    self.event = event
    self.components = components
  }

  /// The distance.
  public var range: ComponentReport {
    get { components.range }
    set { components.range = newValue }
  }
  /// The azimuth.
  public var azimuth: ComponentReport {
    get { components.azimuth }
    set { components.azimuth = newValue }
  }
  /// The elevation.
  public var elevation: ComponentReport {
    get { components.elevation }
    set { components.elevation = newValue }
  }
  /// The height difference.
  public var heightDifference: ComponentReport {
    get { components.heightDifference }
    set { components.heightDifference = newValue }
  }

  /// How much of the sample was used.
  public var use: Use {
    var (measured, used) = (0, 0)
    for kind in MeasurementKind.allCases {
      measured += self[kind].isPresent
      used += self[kind].isFused
    }
    return used == 0 ? .rejected : used == measured ? .all : .partial
  }

  /// The sum of `innovation² / innovationVariance` over the components that were used.
  ///
  /// Expected: the number of those components. `nil` when there is none, as for a peer's first
  /// sample, which meets no prediction.
  public var normalizedInnovationSquared: Double? {
    var sum = 0.0
    var used = 0
    for kind in MeasurementKind.allCases {
      let report = self[kind]
      guard report.isUsed, report.innovationVariance.isFinite else { continue }
      sum += report.innovation * report.innovation / report.innovationVariance
      used += 1
    }
    return used > 0 ? sum : nil
  }

  /// The report of a kind.
  @inline(__always)
  package subscript(kind: MeasurementKind) -> ComponentReport { components[kind] }
}

extension PerKind<ComponentReport> {
  /// Whether anything that the radio measured counts as used; a height difference needs no radio.
  @inline(__always)
  var usesRadio: Bool { range.isUsed || azimuth.isUsed || elevation.isUsed }
}
