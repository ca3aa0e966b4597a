// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyFusion
internal import NearbyGeometry
public import NearbySimulation

/// What a simulated world is made of.
public struct SimulatedWorldSettings: Hashable, Sendable, Codable {
  /// From which every random number follows.
  public var seed: UInt64 = 1
  /// The radio of every device; its rate must divide that of the odometry.
  ///
  /// Rates beyond those that a scenario may have (odometry: 0.1 to 1000 Hz, radio: 0.001 to 1000 Hz)
  /// count as the nearest of them.
  public var radio = ScenarioRadio()
  /// The odometry of every device.
  public var odometry = ScenarioOdometry()
  /// What devices that are made without saying so can measure.
  public var capabilities: DeviceCapabilities = [
    .phoneWithAntennaArray, .extendedDistance,
  ]
  /// The limits of sessions.
  public var limits = SessionLimits()
  /// What stands between the devices.
  public var obstacles: [SimulatedObstacle] = []
  /// The share of farewells that never arrive.
  public var lostFarewellShare = 0.0
  /// By how much extended distances stretch the radio's reach.
  public var extendedReachFactor = 4.0
  /// The signal strength at one metre with nothing in between, dBm: falls by 6 dB with each doubling.
  public var signalStrengthAtOneMetre = -65.0
  /// By how much an obstacle weakens the signal, dB.
  public var obstacleLoss = 10.0
  /// The spread of the devices' clock rates, one sigma, a ratio.
  public var clockRateSigma = 5e-6
  /// How far hands sweep the devices that are made without saying so, metres.
  public var sweep = 0.2

  /// Makes a world of defaults: ranges up to 30 m, angles within a cone of 120 degrees.
  public init() { radio.reach = 0...30 }

  /// How often time advances in the world: with every pose, Hz.
  var tickRate: Double { Self.limited(odometry.rate, to: 0.1...1000) }

  /// How many poses there are for each exchange of the radios.
  var ticksPerExchange: Int64 {
    max(1, Int64((tickRate / Self.limited(radio.rate, to: 0.001...1000)).rounded()))
  }

  /// The nearest number of an interval; its lower end for what is no number.
  private static func limited(_ rate: Double, to interval: ClosedRange<Double>) -> Double {
    rate >= interval.lowerBound ? min(rate, interval.upperBound) : interval.lowerBound
  }

  /// What an engine should know of the sensors.
  var fusion: FusionConfiguration {
    var scenario = Scenario(.standingStill)
    scenario.radio = radio
    scenario.odometry = odometry
    return scenario.matchingConfiguration
  }

  /// What an engine should know on a device that the world places: those around it are in hands, too.
  ///
  /// Hands that sweep a device (``SimulatedMotion/sweeping(about:reach:seed:)``) move it to and fro at 1.2
  /// times the reach a second along each axis, and turn back after half a second. Who is carried about a
  /// room moves as the defaults say.
  var fusionAmongHands: FusionConfiguration {
    var configuration = fusion
    guard capabilities.contains(.direction), sweep > 0 else { return configuration }
    configuration.motion.horizontalSpeedSigma = 1.2 * sweep
    configuration.motion.verticalSpeedSigma = 1.2 * sweep
    configuration.motion.velocitySeconds = 0.5
    return configuration
  }

  /// How those move that a device meets which the world places.
  var motionAmongHands: PeerMotion {
    capabilities.contains(.direction) ? sweep > 0 ? .moving : .stationary : .unknown
  }

  /// Of the circle on which devices stand, metres.
  private static let circleRadius = 1.5

  /// Where a device stands that is made without saying so, by its place in the order of devices.
  ///
  /// On a circle of 1.5 m about the origin, 1.4 m above the floor, each looking at the middle: the first
  /// two face each other across it, the next two across the first.
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

  /// How such a device moves: hands sweep it.
  ///
  /// Without antenna arrays that resolves nothing, so every other device is carried about the room
  /// instead, and those between rest.
  ///
  /// - Parameters:
  ///   - slot: Its place in the order of devices.
  ///   - roommate: Which of the devices of one process it is, which share a place: every other one
  ///     stands across the circle from the one before and looks at it, each two 0.6 m to the right of
  ///     the two before, so that what is made together sees each other.
  /// - Returns: Its motion.
  func motion(_ slot: Int, roommate: Int = 0) -> SimulatedMotion {
    let isAcross = roommate % 2 == 1
    let steps = Double((roommate + 1) / 2)
    let across = RigidTransform(
      rotation: Rotation(angleRadians: .pi, about: Vector3(0, 1, 0)),
      translation: Vector3(0, 0, -2 * Self.circleRadius))
    // To the right of the first is to the left of who stands across.
    let aside = RigidTransform(
      rotation: .identity, translation: Vector3((isAcross ? -0.6 : 0.6) * steps, 0, 0))
    let standing = standing(slot) * (isAcross ? across : .identity) * aside
    let seed = seed &+ UInt64(slot) &+ 7919 &* UInt64(roommate)
    if !capabilities.contains(.direction) {
      if (slot + roommate) % 2 == 1 { return .resting(at: standing) }
      let walk = ScenarioMotion(.wanderingWalk, seed: seed)
      let start = RigidTransform(
        rotation: .identity, translation: standing.translation - Vector3(0, 1.4, 0))
      return .carried(walk, from: start)
    }
    return .sweeping(about: standing, reach: sweep, seed: seed)
  }
}
