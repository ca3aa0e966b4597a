// SPDX-License-Identifier: Apache-2.0

extension Scenario {
  /// Walks at nearly constant height over a floor, level or not, in which ranges determine how far a peer
  /// is from the plane of the walk only at second order.
  static let levelWalks = [
    level("level-bob", "a short sweep, then level within 3 cm; no drift", seconds: 40) {
      $0.walk.sweeps = true
      $0.walk.heightVariation = 0.03
      setNoDrift(&$0)
    },
    level("level-exact", "exactly level from the start; no drift", seconds: 60) {
      $0.walk.heightVariation = 0
      setNoDrift(&$0)
    },
    level("level-hand", "level within 15 cm, no sweep; no drift", seconds: 120) {
      $0.walk.heightVariation = 0.15
      setNoDrift(&$0)
    },
    level("level-drift", "a short sweep, then level within 8 cm", seconds: 120) {
      $0.walk.sweeps = true
      $0.walk.heightVariation = 0.08
    },
    level("level-azimuth", "level within 3 cm, with azimuths", seconds: 30) {
      $0.walk.heightVariation = 0.03
      $0.radio.measuresAzimuth = true
    },
    level("level-stairs", "level within 5 cm, then up the stairs at 60 s", seconds: 80) {
      $0.walk.heightVariation = 0.05
      $0.walk.stairsAfterSeconds = 60
    },
    level("level-place", "errors of 10 cm that depend on the place", seconds: 240) {
      $0.radio.rangePlaceSigma = 0.1
    },
    level("level-turn", "a robot whose yaw drifts steadily, level within 3 cm", seconds: 120) {
      $0.walk.heightVariation = 0.03
      $0.walk.isHandHeld = false
      $0.odometry.steadyTurnDegrees = 0.05
    },
    office("level-office", "eight peers in an office of 24 x 16 m"),
    office("level-hall", "eight peers in a hall of 40 x 30 m") {
      $0.walk.roomLength = 40
      $0.walk.roomWidth = 30
    },
    office("level-nlos", "the office, with 15 % of the ranges too long, in bursts") {
      $0.radio.rangeFaults = .init(share: 0.15, persistence: 0.7)
    },
    office("level-azimuth-8", "the office, with azimuths", seconds: 60) {
      $0.radio.measuresAzimuth = true
    },
    office(
      "level-trolley", "a trolley among eight peers; errors depend on the place", seconds: 300
    ) {
      $0.walk.heightVariation = 0.03
      $0.walk.isHandHeld = false
      $0.radio.rangeBias = 0.2
      $0.radio.rangePlaceSigma = 0.1
    },
    level("slope-10", "a slope of 10 %, level within 3 cm over it", seconds: 60) {
      $0.walk.slopePercent = 10
      $0.walk.heightVariation = 0.03
    },
    level("slope-10-sweep", "the same after a short sweep", seconds: 60) {
      $0.walk.slopePercent = 10
      $0.walk.heightVariation = 0.03
      $0.walk.sweeps = true
    },
    level("slope-10-azimuth", "the same with azimuths and no sweep", seconds: 60) {
      $0.walk.slopePercent = 10
      $0.walk.heightVariation = 0.03
      $0.radio.measuresAzimuth = true
    },
    level("slope-15-exact", "a slope of 15 %, exactly even; no drift", seconds: 60) {
      $0.walk.slopePercent = 15
      $0.walk.heightVariation = 0
      setNoDrift(&$0)
    },
    level("slope-ridge", "up a ramp of 10 % and down behind it", seconds: 120) {
      $0.walk.ridgePercent = 10
      $0.walk.heightVariation = 0.05
    },
    level("slope-hills", "undulating ground within 40 cm", seconds: 120) {
      $0.walk.undulation = 0.4
      $0.walk.heightVariation = 0.05
    },
    level("slope-spiral", "up a spiral stair", seconds: 40) {
      $0.walk.roomLength = 4
      $0.walk.roomWidth = 4
      $0.walk.climbRate = 0.25
      $0.walk.heightVariation = 0.03
      $0.peer.isInRoom = false
      $0.peer.distance = 3...8
    },
    level("slope-bend", "a straight line that bends after 20 s", seconds: 60) {
      $0.walk.straightSeconds = 20
      $0.walk.heightVariation = 0.03
    },
    level("slope-drone", "a drone at one height", seconds: 60) {
      $0.walk.isHandHeld = false
      $0.walk.heightVariation = 0.02
    },
    office("slope-office-3", "eight peers in an office on a slope of 3 %") {
      $0.walk.slopePercent = 3
    },
    office("slope-office-8", "eight peers in an office on a slope of 8 %") {
      $0.walk.slopePercent = 8
    },
    office("slope-office-13", "a slope of 13 %, even within 3 cm", seconds: 120) {
      $0.walk.slopePercent = 13
      $0.walk.heightVariation = 0.03
    },
    office("slope-office-azimuth", "the office on a slope of 8 %, with azimuths", seconds: 120) {
      $0.walk.slopePercent = 8
      $0.radio.measuresAzimuth = true
    },
    office("slope-office-hills", "eight peers; the ground undulates within 40 cm") {
      $0.walk.undulation = 0.4
    },
  ]

  /// A walk with ranges to one peer within a few metres, in a room of 12 by 8 m.
  private static func level(
    _ name: String, _ summary: String, seconds: Double, _ change: (inout Scenario) -> Void
  ) -> Scenario {
    var scenario = Scenario(.levelWalk)
    scenario.name = name
    scenario.summary = summary
    scenario.duration = seconds
    scenario.expectation = .mayConverge
    scenario.walk.roomLength = 12
    scenario.walk.roomWidth = 8
    scenario.radio.measuresAngles = false
    scenario.radio.rangeBiasSigma = 0.08
    scenario.peer.isInRoom = true
    scenario.peer.side = .above
    scenario.peer.heightDifference = -1...1.2
    change(&scenario)
    return scenario
  }

  /// The same with eight peers in an office.
  private static func office(
    _ name: String, _ summary: String, seconds: Double = 240,
    _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    level(name, summary, seconds: seconds) {
      $0.walk.roomLength = 24
      $0.walk.roomWidth = 16
      $0.peer.count = 8
      change(&$0)
    }
  }

  private static func setNoDrift(_ scenario: inout Scenario) {
    scenario.odometry.positionDrift = 0
    scenario.odometry.yawDriftDegrees = 0
  }
}
