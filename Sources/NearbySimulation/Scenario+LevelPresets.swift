// SPDX-License-Identifier: Apache-2.0

extension Scenario {
  /// Walks at nearly constant height, in which ranges determine the height of a peer only at second
  /// order.
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
