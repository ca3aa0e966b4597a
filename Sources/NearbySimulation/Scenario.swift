// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// The definition of simulated runs, as data.
///
/// ``simulated(seed:peer:)`` draws a run from a seed.
///
/// A scenario consists of a moving device, its odometry, radios and peers, each with its faults.
/// Switching one part on or off does not change the random numbers of the others, so that a fault
/// can be compared with the same run without it.
///
/// ```swift
/// var scenario = Scenario(.wanderingWalk)
/// scenario.radio.rangeNoise = 0.2
/// scenario.peer.distance = 3...5
/// let run = scenario.simulated(seed: 7)
/// ```
public struct Scenario: Hashable, Sendable, Codable {
  /// The name, for tables and folders.
  public var name: String
  /// A description in one line.
  public var summary = ""
  /// How long a run lasts, seconds.
  public var duration: Double
  /// The expected behaviour of an engine.
  public var expectation = Expectation.converges
  /// How the device moves.
  public var motion: ScenarioMotion.Kind
  /// The room and the device's height, for a motion of the kind ``ScenarioMotion/Kind/levelWalk``.
  public var walk = ScenarioWalk()
  /// The time after which the device sends poses and samples at lower rates.
  public var idle = Idle()
  /// The odometry that reports the motion.
  public var odometry = ScenarioOdometry()
  /// How the radio measures.
  public var radio = ScenarioRadio()
  /// How barometers measure height differences.
  public var barometers = ScenarioBarometers()
  /// The positions and motions of the peers.
  public var peer = ScenarioPeer()

  /// Makes a scenario with a kind of motion, ranges and angles, and no faults.
  ///
  /// - Parameter motion: How the device moves; the run lasts as long as its kind does.
  public init(_ motion: ScenarioMotion.Kind) {
    self.motion = motion
    name = motion.rawValue
    duration = motion.duration
  }

  /// A change to lower rates, for a device at rest.
  ///
  /// Its odometry does not drift any more.
  public struct Idle: Hashable, Sendable, Codable {
    /// The time of the change, seconds after the start; zero for no change.
    public var afterSeconds = 0.0
    /// Poses per second from then on.
    public var poseRate = 20.0
    /// Samples per second from then on.
    public var sampleRate = 1.0

    /// Makes no change.
    public init() {}

    /// The time of the change; infinite when there is none.
    var start: Double { afterSeconds > 0 ? afterSeconds : .infinity }
  }

  /// The expected behaviour of an engine in a scenario.
  public enum Expectation: Hashable, Sendable {
    /// The engine converges to the right position.
    case converges
    /// The engine never converges, because the motion leaves the peer's position ambiguous.
    case neverConverges
    /// An event invalidates the previous estimate. It is over at this time, seconds after the
    /// start, and from then on the engine converges as after a fresh start.
    case recovers(afterSeconds: Double)
    /// The engine converges and follows a moving peer.
    case follows
    /// The engine converges if the samples determine the position, which differs from run to run;
    /// if it does, the position is right.
    case mayConverge
  }

  /// How the peers move, as far as a user would know.
  public var peerMotion: PeerMotion { peer.declaredMotion }

  /// The configuration that tells an engine what a user would know of calibrated sensors.
  ///
  /// That is their accuracy, how much of it is white noise, antenna and cone, and the odometry's drift,
  /// but not their faults. A radio with ``ScenarioRadio/rangeErrors`` is not calibrated: how much is white
  /// is not told.
  ///
  /// A constant range bias counts as one sigma of the prior of such biases.
  public var matchingConfiguration: FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.ranging.antennaInDevice = radio.antennaInDevice
    configuration.ranging.fieldOfViewRadians = radio.fieldOfViewRadians
    configuration.ranging.rangeSigma = radio.totalRangeSigma
    configuration.ranging.rangeBiasSigma = radio.totalRangeBiasSigma
    configuration.ranging.azimuthSigmaRadians = radio.azimuth.totalSigma
    configuration.ranging.elevationSigmaRadians = radio.elevation.totalSigma
    configuration.ranging.rangeWhiteShare = radio.rangeWhiteShare
    configuration.ranging.azimuthWhiteShare = radio.azimuth.whiteShare
    configuration.ranging.elevationWhiteShare = radio.elevation.whiteShare
    configuration.ranging.whiteSharesAreKnown = radio.rangeErrors == ScenarioRangeErrors()
    configuration.ranging.heightDifferenceSigma = barometers.noise
    configuration.ranging.heightOffsetSigma = barometers.offsetSigma
    configuration.ranging.heightOffsetSeconds = barometers.offsetSeconds
    configuration.odometry.positionDrift = odometry.positionDrift
    configuration.odometry.yawDriftRadians = odometry.yawDriftRadians
    return configuration
  }
}

// MARK: - Codable

extension Scenario.Expectation: Codable {
  /// The five cases by name, with a time that only one of them uses.
  private struct Form: Codable {
    enum Outcome: String, Codable { case converges, neverConverges, recovers, follows, mayConverge }

    var outcome: Outcome
    var afterSeconds: Double
  }

  /// Reads `{ "outcome": "recovers", "afterSeconds": 25 }`.
  public init(from decoder: any Decoder) throws {
    let form = try Form(from: decoder)
    self =
      switch form.outcome {
      case .converges: .converges
      case .neverConverges: .neverConverges
      case .recovers: .recovers(afterSeconds: form.afterSeconds)
      case .follows: .follows
      case .mayConverge: .mayConverge
      }
  }

  /// Always encodes both keys.
  public func encode(to encoder: any Encoder) throws {
    let form =
      switch self {
      case .converges: Form(outcome: .converges, afterSeconds: 0)
      case .neverConverges: Form(outcome: .neverConverges, afterSeconds: 0)
      case .recovers(let seconds): Form(outcome: .recovers, afterSeconds: seconds)
      case .follows: Form(outcome: .follows, afterSeconds: 0)
      case .mayConverge: Form(outcome: .mayConverge, afterSeconds: 0)
      }
    try form.encode(to: encoder)
  }
}
