// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// What a simulated run is made of, as data; ``simulated(seed:peer:)`` draws one from a seed.
///
/// A scenario is made of a device that moves, an odometry that reports it, radios that measure and
/// peers that are measured, each with its faults. Nothing that is turned on or off changes the random
/// numbers of the rest: a fault can be compared with the same run without it.
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
  /// What happens, in a line.
  public var summary = ""
  /// How long a run lasts, seconds.
  public var duration: Double
  /// What an engine should make of it.
  public var expectation = Expectation.converges
  /// How the device moves.
  public var motion: ScenarioMotion.Kind
  /// From when on the device sends poses and samples more rarely.
  public var idle = Idle()
  /// How the odometry reports that.
  public var odometry = ScenarioOdometry()
  /// How the radio measures.
  public var radio = ScenarioRadio()
  /// Where the peers are, and how they move.
  public var peer = ScenarioPeer()

  /// Makes a scenario with a kind of motion, ranges and angles, and no faults.
  ///
  /// - Parameter motion: How the device moves; the run lasts as long as its kind does.
  public init(_ motion: ScenarioMotion.Kind) {
    self.motion = motion
    name = motion.rawValue
    duration = motion.duration
  }

  /// A change to lower rates, for a device that rests: its odometry does not drift any more.
  public struct Idle: Hashable, Sendable, Codable {
    /// From when on, seconds after the start; zero: never.
    public var afterSeconds = 0.0
    /// Poses per second from then on.
    public var poseRate = 20.0
    /// Samples per second from then on.
    public var sampleRate = 1.0

    /// Makes a change that never comes.
    public init() {}

    /// When it comes.
    var start: Double { afterSeconds > 0 ? afterSeconds : .infinity }
  }

  /// What an engine should make of a scenario.
  public enum Expectation: Hashable, Sendable {
    /// It converges, and is right.
    case converges
    /// It never converges: the motion cannot resolve where the peer is.
    case neverConverges
    /// Something happens that invalidates what was known. From this moment on, seconds after the start,
    /// nothing more happens, and it converges as after a fresh start.
    case recovers(afterSeconds: Double)
    /// It converges and stays with a peer that moves.
    case follows
  }

  /// How the peers move, as far as a user would know.
  public var peerMotion: PeerMotion { peer.declaredMotion }

  /// The configuration that tells an engine what a user would know of calibrated sensors: their
  /// accuracy, how much of it is white noise, antenna and cone, and the odometry's drift, but not their
  /// faults.
  ///
  /// A constant range bias counts as one sigma of the prior of such biases.
  public var matchingConfiguration: FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.ranging.antennaInDevice = radio.antennaInDevice
    configuration.ranging.fieldOfViewRadians = radio.fieldOfViewRadians
    configuration.ranging.rangeSigma = radio.rangeNoise
    configuration.ranging.rangeBiasSigma = radio.totalRangeBiasSigma
    configuration.ranging.azimuthSigmaRadians = radio.azimuth.totalSigma
    configuration.ranging.elevationSigmaRadians = radio.elevation.totalSigma
    configuration.ranging.rangeWhiteShare = 1
    configuration.ranging.azimuthWhiteShare = radio.azimuth.whiteShare
    configuration.ranging.elevationWhiteShare = radio.elevation.whiteShare
    configuration.ranging.whiteSharesAreKnown = true
    configuration.odometry.positionDrift = odometry.positionDrift
    configuration.odometry.yawDriftRadians = odometry.yawDriftRadians
    return configuration
  }
}

// MARK: - Codable

extension Scenario.Expectation: Codable {
  /// The four cases by name, with a moment that only one of them uses.
  private struct Form: Codable {
    enum Outcome: String, Codable { case converges, neverConverges, recovers, follows }

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
      }
  }

  /// Writes both keys in any case.
  public func encode(to encoder: any Encoder) throws {
    let form =
      switch self {
      case .converges: Form(outcome: .converges, afterSeconds: 0)
      case .neverConverges: Form(outcome: .neverConverges, afterSeconds: 0)
      case .recovers(let seconds): Form(outcome: .recovers, afterSeconds: seconds)
      case .follows: Form(outcome: .follows, afterSeconds: 0)
      }
    try form.encode(to: encoder)
  }
}
