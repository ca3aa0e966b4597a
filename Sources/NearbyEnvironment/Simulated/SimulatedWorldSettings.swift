// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyFusion
internal import NearbyGeometry
public import NearbySimulation

/// The settings of a simulated world.
public struct SimulatedWorldSettings: Hashable, Sendable, Codable {
  /// The seed of all random numbers.
  public var seed: UInt64 = 1
  /// The radio of every device; its rate must divide that of the odometry.
  ///
  /// Rates are clamped to those of a scenario (odometry: 0.1 to 1000 Hz, radio: 0.001 to 1000 Hz).
  public var radio = ScenarioRadio()
  /// The odometry of every device.
  public var odometry = ScenarioOdometry()
  /// The default capabilities of devices.
  public var capabilities: DeviceCapabilities = [
    .phoneWithAntennaArray, .extendedDistance,
  ]
  /// The limits of sessions.
  public var limits = SessionLimits()
  /// The obstacles between the devices.
  public var obstacles: [SimulatedObstacle] = []
  /// The share of end-of-session messages that never arrive.
  public var lostFarewellShare = 0.0
  /// The factor by which extended distances increase the radio's reach.
  public var extendedReachFactor = 4.0
  /// The signal strength at one metre without obstacles, dBm.
  ///
  /// It falls by 6 dB with each doubling of the distance.
  public var signalStrengthAtOneMetre = -65.0
  /// The attenuation of the signal by an obstacle, dB.
  public var obstacleLoss = 10.0
  /// The spread of the devices' clock rates, one sigma, a ratio.
  public var clockRateSigma = 5e-6
  /// The anchors whose messages devices hear, of which the first begins each round.
  public var anchors: [SimulatedAnchor] = []
  /// How the anchors' clocks err against the first one's.
  public var anchorClocks = AnchorClocks.synchronized
  /// The amplitude of the default sweep of devices, metres.
  public var sweep = 0.2

  /// Whether all sessions that are made without a device are on one, as those of an app on a phone are.
  ///
  /// Otherwise each has a device of its own, and two sessions of one program can measure each other.
  public var sharesDefaultDevice = false
  /// The prompt that asks the user once, before the first session runs; `nil` if none is shown and
  /// measurements are allowed.
  public var permissionPrompt: Prompt?

  /// A prompt for the permission to measure.
  public struct Prompt: Hashable, Sendable, Codable {
    /// What the user answers; `nil` to wait for ``SimulatedWorld/answerPermissionPrompt(_:)`` or a script.
    public var answer: Bool?
    /// How long the user takes, seconds.
    public var seconds = 0.5

    /// Makes a prompt.
    ///
    /// - Parameter answer: What the user answers.
    public init(answer: Bool?) { self.answer = answer }
  }

  /// Makes default settings: ranges up to 30 m, angles within a cone of 120 degrees.
  public init() { radio.reach = 0...30 }

  /// How often time advances in the world: with every pose, Hz.
  var tickRate: Double { Self.limited(odometry.rate, to: 0.1...1000) }

  /// How many poses there are for each exchange of the radios.
  var ticksPerExchange: Int64 {
    max(1, Int64((tickRate / Self.limited(radio.rate, to: 0.001...1000)).rounded()))
  }

  /// The nearest number of an interval; its lower end for NaN.
  private static func limited(_ rate: Double, to interval: ClosedRange<Double>) -> Double {
    rate >= interval.lowerBound ? min(rate, interval.upperBound) : interval.lowerBound
  }

  /// The engine's configuration that matches the sensors.
  var fusion: FusionConfiguration {
    var scenario = Scenario(.standingStill)
    scenario.radio = radio
    scenario.odometry = odometry
    return scenario.matchingConfiguration
  }

  /// The engine's configuration on a device that the world placed, whose peers are hand-held, too.
  ///
  /// A swept device (``SimulatedMotion/sweeping(about:reach:seed:)``) moves at 1.2 times the reach
  /// a second along each axis, and reverses after half a second. A device that is carried about a
  /// room moves as the defaults assume.
  var fusionAmongHands: FusionConfiguration {
    var configuration = fusion
    guard capabilities.contains(.direction), sweep > 0 else { return configuration }
    configuration.motion.horizontalSpeedSigma = 1.2 * sweep
    configuration.motion.verticalSpeedSigma = 1.2 * sweep
    configuration.motion.velocitySeconds = 0.5
    return configuration
  }

  /// The motion of the peers of a device that the world placed.
  var motionAmongHands: PeerMotion {
    capabilities.contains(.direction) ? sweep > 0 ? .moving : .stationary : .unknown
  }

  /// How long a person walks or stands, seconds: time enough to find a peer at rest.
  private static let turnSeconds = 30.0
  /// The radius of the circle on which devices stand, metres.
  private static let circleRadius = 1.5

  /// The default pose of a device, by its index in the order of devices.
  ///
  /// Devices stand on a circle of 1.5 m about the origin, 1.4 m above the floor, and face the
  /// centre. The first two face each other, and the next two stand at right angles to them.
  func standing(_ slot: Int) -> RigidTransform {
    // The bits of the number in reverse order: halves, then quarters, then eighths of a turn.
    var (turn, step, rest) = (0.0, 0.5, slot)
    while rest > 0 {
      if rest & 1 == 1 { turn += step }
      rest >>= 1
      step /= 2
    }
    let angle = 2 * Double.pi * turn
    return RigidTransform(
      standingAt: Vector3(Self.circleRadius * sin(angle), 1.4, Self.circleRadius * cos(angle)),
      facing: Vector3(0, 1.4, 0))
  }

  /// The default motion of a device, which is swept by hand.
  ///
  /// Without antenna arrays such motions leave positions ambiguous. Devices are then carried about the room
  /// instead, by people who walk for ``turnSeconds`` and stand still for as long: every other one walks while
  /// the rest stand, so that each finds the others in its turn.
  ///
  /// - Parameters:
  ///   - slot: Its index in the order of devices.
  ///   - roommate: Its index among the devices of one process, which share a slot. Every other
  ///     device stands across the circle from the one before and faces it, and each pair stands 0.6
  ///     m to the right of the previous pair. So devices that are made together see each other.
  ///   - seconds: The world's time at which the motion begins.
  ///   - isAccessory: Whether it is an accessory, which stays where it is.
  /// - Returns: Its motion.
  func motion(
    _ slot: Int, roommate: Int = 0, beginningAt seconds: Double = 0, isAccessory: Bool = false
  ) -> SimulatedMotion {
    let isAcross = roommate % 2 == 1
    let steps = Double((roommate + 1) / 2)
    let across = RigidTransform(
      rotation: Rotation(angleRadians: .pi, about: Vector3(0, 1, 0)),
      translation: Vector3(0, 0, -2 * Self.circleRadius))
    // The right of the first device is the left of the one across.
    let aside = RigidTransform(
      rotation: .identity, translation: Vector3((isAcross ? -0.6 : 0.6) * steps, 0, 0))
    let standing = standing(slot) * (isAcross ? across : .identity) * aside
    let seed = seed &+ UInt64(slot) &+ 7919 &* UInt64(roommate)
    if isAccessory { return .resting(at: standing) }
    if !capabilities.contains(.direction) {
      let walk = ScenarioMotion(.wanderingWalk, seed: seed)
      let start = RigidTransform(
        rotation: .identity, translation: standing.translation - Vector3(0, 1.4, 0))
      let isSecond = (slot + roommate) % 2 == 1
      return .inTurns(
        walk, from: start, turnSeconds: Self.turnSeconds,
        phaseSeconds: seconds + (isSecond ? Self.turnSeconds : 0))
    }
    return .sweeping(about: standing, reach: sweep, seed: seed)
  }
}
