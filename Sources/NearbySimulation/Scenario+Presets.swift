// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

extension Scenario {
  /// The scenario of a name.
  ///
  /// - Parameter name: The name, such as `find-behind`.
  /// - Returns: The scenario; `nil` when none of ``presets`` has that name.
  public static func preset(named name: String) -> Scenario? {
    presets.first { $0.name == name }
  }

  /// The scenarios of the proving ground, in the order in which they are listed.
  public static let presets: [Scenario] =
    finding + rangesOnly + angles + ranges + odometryFaults + timing + movingPeers + endurance
    + levelWalks + movingLives + slips + lastingErrors + misfits

  // MARK: Finding

  private static let finding = [
    preset("find", "sweep the device, then walk; ranges and angles", .sweepThenWalk),
    preset("find-upstairs", "one floor up: sweep, walk, climb the stairs", .sweepThenClimb) {
      $0.peer.heightDifference = 2.5...3.5
      $0.peer.side = .above
    },
    preset("find-downstairs", "one floor down: sweep, then walk above it", .sweepThenWalk) {
      $0.peer.heightDifference = 3.5...4.5
      $0.peer.side = .below
    },
    preset("find-behind", "behind the user: no angles at first", .sweepThenWalk) {
      $0.peer.direction = .behind
    },
    preset("far", "25 m away", .sweepThenWalk, seconds: 40) { $0.peer.distance = 25...25 },
    preset("indoor", "find with the noise and faults of real sensors", .sweepThenWalk) {
      $0.radio.rangeNoise = 0.07
      $0.radio.rangeBiasSigma = 0.1
      $0.radio.rangeFaults = .init(share: 0.05, persistence: 0.7)
      $0.radio.azimuth = .init(noiseDegrees: 3, biasDegrees: 6)
      $0.radio.elevation = .init(noiseDegrees: 4, biasDegrees: 8)
      $0.radio.angleFaults = .init(share: 0.03, persistence: 0.9)
    },
  ]

  // MARK: Ranges only

  private static let rangesOnly = [
    ranging("ranges-wander", "ranges only, a wandering walk", .wanderingWalk),
    ranging(
      "ranges-line", "ranges only, along a straight line", .straightLine, .neverConverges
    ) {
      // For a peer next to the line, the ring of possible positions shrinks to a point.
      $0.peer.heightDifference = 1.9...2.1
    },
    ranging(
      "ranges-rotation", "ranges only, turning on the spot", .rotationInPlace, .neverConverges),
    ranging("ranges-still", "ranges only, standing still", .standingStill, .neverConverges),
    ranging(
      "ranges-level", "ranges only, exactly level: above and below look alike",
      .constantHeightWalk, .neverConverges
    ) {
      // Near the device's height the two mirror images coincide.
      $0.peer.heightDifference = 1.9...2.1
      $0.odometry.positionDrift = 0
    },
    ranging(
      "ranges-level-heights", "ranges-level, with a height difference every second",
      .constantHeightWalk
    ) {
      $0.peer.heightDifference = 1.9...2.1
      $0.odometry.positionDrift = 0
      $0.barometers.arePresent = true
    },
    ranging("ranges-nlos-20", "ranges only, a fifth too long, in bursts", .wanderingWalk) {
      $0.radio.rangeFaults = .init(share: 0.2, persistence: 0.7)
    },
    ranging(
      "ranges-pose-jump", "ranges only; the odometry's world jumps by 2 m at 25 s",
      .wanderingWalk, .recovers(afterSeconds: 25)
    ) {
      $0.odometry.jump = poseJump
    },
  ]

  // MARK: Angles

  private static let angles = [
    preset(
      "azimuth-only", "no ranges, no elevations; swings the device and walks", .swingingWalk,
      seconds: 90
    ) {
      $0.radio.measuresRange = false
      $0.radio.measuresElevation = false
    },
    preset("sticky-angles", "a tenth of the angles stick at a wrong value", .sweepThenWalk) {
      $0.radio.angleFaults = .init(share: 0.1, persistence: 0.9)
    },
    preset(
      "mirrored-azimuth", "azimuths beyond 57 degrees confuse front and back", .sweepThenWalk
    ) {
      $0.radio.fieldOfViewDegrees = 360
      $0.radio.azimuthMirror.share = 1
    },
  ]

  // MARK: Ranges

  private static let ranges = [
    preset("nlos-20", "find; a fifth of the ranges too long, in bursts", .sweepThenWalk) {
      $0.radio.rangeFaults = .init(share: 0.2, persistence: 0.7)
    },
    preset("nlos-40", "find; two fifths of the ranges too long, in bursts", .sweepThenWalk) {
      $0.radio.rangeFaults = .init(share: 0.4, persistence: 0.7)
    },
    preset("bias", "all ranges 0.3 m too long", .sweepThenWalk) {
      $0.radio.rangeBias = 0.3
      $0.radio.rangeBiasSigma = 0
    },
    preset("scale", "ranges with a scale error, 3 % one sigma", .sweepThenWalk) {
      $0.radio.rangeScaleSigma = 0.03
    },
    preset("lever-arm", "an antenna 0.3 m from the device's origin", .sweepThenWalk) {
      $0.radio.antennaInDevice = Vector3(0.1, 0.25, 0.13)
    },
    preset(
      "garbage", "2 % garbage, 10 % lost, 10 % late, 5 % twice",
      .sweepThenWalk
    ) {
      $0.radio.garbageShare = 0.02
      $0.radio.lostShare = 0.1
      $0.radio.lateShare = 0.1
      $0.radio.duplicateShare = 0.05
    },
  ]

  // MARK: Odometry

  private static let odometryFaults = [
    preset(
      "drift", "walking, a drift of 3 cm and 0.6 degrees per root metre",
      .wanderingWalk, seconds: 180
    ) {
      $0.odometry.positionDrift = 0.03
      $0.odometry.yawDriftDegrees = 0.6
    },
    preset(
      "pose-jump", "the odometry's world jumps by 2 m at 25 s", .wanderingWalk,
      .recovers(afterSeconds: 25)
    ) {
      $0.odometry.jump = poseJump
    },
    preset(
      "tracking-lost", "no poses from 25 to 28 s, then another world", .wanderingWalk,
      .recovers(afterSeconds: 28), seconds: 60
    ) {
      $0.odometry.loss.seconds = 25
      $0.odometry.loss.duration = 3
      $0.odometry.loss.displacement = Vector3(1.5, 0, -1)
      $0.odometry.loss.turnDegrees = 40
    },
    preset(
      "poses-stop", "no poses from 25 to 35 s, unannounced", .wanderingWalk,
      .recovers(afterSeconds: 35), seconds: 60
    ) {
      $0.odometry.loss.seconds = 25
      $0.odometry.loss.duration = 10
      $0.odometry.loss.isAnnounced = false
    },
    preset(
      "odometry-restarts", "no poses from 25 to 28 s, then another world, unannounced",
      .wanderingWalk, .recovers(afterSeconds: 28), seconds: 60
    ) {
      $0.odometry.loss.seconds = 25
      $0.odometry.loss.duration = 3
      $0.odometry.loss.displacement = Vector3(1.5, 0, -1)
      $0.odometry.loss.turnDegrees = 40
      $0.odometry.loss.isAnnounced = false
    },
  ]

  private static let poseJump = ScenarioOdometry.Jump(
    seconds: 25, displacement: Vector3(1.6, 0, -1.2))

  // MARK: Time

  private static let timing = [
    preset("sparse", "0.7 samples a second, walking", .wanderingWalk, seconds: 60) {
      $0.radio.rate = 0.7
    },
    preset("clock-offset", "the radio's clock is 50 ms ahead", .sweepThenWalk) {
      $0.radio.clockOffset = 0.05
    },
  ]

  // MARK: Peers that move

  private static let movingPeers = [
    preset("peer-moving", "a peer that walks at 0.5 to 1.5 m/s", .wanderingWalk, .follows) {
      $0.peer.motion = .walking
      $0.peer.declaredMotion = .moving
    },
    preset(
      "peer-carried", "at rest for 20 s, carried for 6 s at 1 m/s, at rest again",
      .wanderingWalk, .recovers(afterSeconds: 26)
    ) {
      $0.peer.motion = .carried
      $0.peer.speed = 1...1
      $0.peer.declaredMotion = .unknown
    },
    preset("peer-still-unknown", "find; the motion of the peer is not declared", .sweepThenWalk) {
      $0.peer.declaredMotion = .unknown
    },
  ]

  // MARK: Endurance

  private static let endurance = [
    preset(
      "standing-hours", "find, then stand still for hours, 1 sample a second",
      .sweepThenStand, seconds: 300
    ) {
      $0.idle.afterSeconds = 25
    }
  ]

  // MARK: Making presets

  private static func preset(
    _ name: String, _ summary: String, _ motion: ScenarioMotion.Kind,
    _ expectation: Expectation = .converges, seconds: Double? = nil,
    _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario(motion)
    scenario.name = name
    scenario.summary = summary
    scenario.expectation = expectation
    if let seconds { scenario.duration = seconds }
    change(&scenario)
    return scenario
  }

  private static func ranging(
    _ name: String, _ summary: String, _ motion: ScenarioMotion.Kind,
    _ expectation: Expectation = .converges, _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    preset(name, summary, motion, expectation) {
      $0.radio.measuresAngles = false
      change(&$0)
    }
  }
}
