// SPDX-License-Identifier: Apache-2.0

extension Scenario {
  /// Walks in which the engine's model is wrong, and the settings are stated as they are.
  static let misfits = [
    walk("misfit-none", "a walk among peers at rest, all as stated"),
    walk("misfit-walls", "each wall in between makes a range 0.25 m longer") {
      $0.radio.rangeErrors.walls.excess = 0.25
    },
    walk("misfit-body", "ranges err by 0.15 m with the direction in the device") {
      $0.radio.rangeErrors.attitudeSigma = 0.15
    },
    walk("misfit-warming", "all ranges grow by 0.4 m as the radio warms") {
      $0.radio.rangeErrors.warming.metres = 0.4
    },
    walk("misfit-elevator", "3.2 m up or down, of which the odometry knows nothing") { rise(&$0) },
    walk("misfit-frozen", "the same pose for 8 s while walking") {
      $0.odometry.freeze.seconds = 100
      $0.odometry.freeze.duration = 8
    },
    walk("misfit-short-minute", "all ranges 0.4 m short for a minute") { setMinute(&$0, -0.4) },
    walk("misfit-long-minute", "all ranges 0.4 m long for a minute") { setMinute(&$0, 0.4) },
    walk("misfit-odometry-3", "an odometry that is 3 % too long") { $0.odometry.scale = 1.03 },
    walk("misfit-odometry-5", "an odometry that is 5 % too short") { $0.odometry.scale = 0.95 },
    walk("misfit-clock-late", "the radio's clock is 0.25 s late") {
      $0.radio.clockOffset = -0.25
    },
    walk("misfit-clock-step", "the radio's clock steps by 1.3 s") {
      $0.radio.clockStep.seconds = 120
      $0.radio.clockStep.step = 1.3
    },
    walk("misfit-along", "a fifth peer is carried along") {
      $0.peer.count = 5
      $0.peer.alongCount = 1
    },
    walk("misfit-creeping", "one of the peers creeps") { $0.peer.creepingCount = 1 },
    walk("misfit-taken", "two of eight peers are carried away") { take(&$0) },
    walk("misfit-jump", "the odometry corrects itself by 0.3 to 0.5 m") {
      $0.odometry.slip.seconds = 100
      $0.odometry.slip.shift = 0.3...0.5
      $0.odometry.slip.turnDegrees = 1...3
    },
    walk("misfit-walls-lift", "walls, and an elevator") {
      $0.radio.rangeErrors.walls.excess = 0.25
      rise(&$0)
    },
    walk("misfit-body-warming", "a body, and a radio that warms") {
      $0.radio.rangeErrors.attitudeSigma = 0.15
      $0.radio.rangeErrors.warming.metres = 0.4
    },
    walk("misfit-taken-scale", "two are carried, the odometry is 3 % too long") {
      take(&$0)
      $0.odometry.scale = 1.03
    },
    walk("misfit-three-walls", "walls; two are carried; the odometry is 3 % too long") {
      $0.radio.rangeErrors.walls.excess = 0.25
      take(&$0)
      $0.odometry.scale = 1.03
    },
    walk("misfit-three-body", "a body, an elevator, and a radio that warms") {
      $0.radio.rangeErrors.attitudeSigma = 0.15
      $0.radio.rangeErrors.warming.metres = 0.4
      rise(&$0)
    },
    walk("misfit-zones", "zones in which a reflection is measured, each peer its own") {
      $0.radio.rangeErrors.zones.count = 2
    },
    walk("misfit-reflector", "half of the room measures a mirror image") {
      $0.radio.rangeErrors.zones.count = 1
      $0.radio.rangeErrors.zones.radius = 6...9
      $0.radio.rangeErrors.zones.excess = 2...6
    },
  ]

  /// A walk of 240 s through a room of 24 by 16 m, with ranges to four peers at rest.
  private static func walk(
    _ name: String, _ summary: String, _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario(.levelWalk)
    scenario.name = name
    scenario.summary = summary
    scenario.duration = 240
    scenario.expectation = .mayConverge
    scenario.walk.heightVariation = 0.3
    scenario.odometry.rate = 20
    scenario.radio.rate = 5
    scenario.radio.measuresAngles = false
    scenario.radio.rangeBiasSigma = 0.08
    scenario.peer.isInRoom = true
    scenario.peer.heightDifference = 0...2
    scenario.peer.count = 4
    change(&scenario)
    return scenario
  }

  private static func rise(_ scenario: inout Scenario) {
    scenario.odometry.slip.seconds = 120
    scenario.odometry.slip.duration = 8
    scenario.odometry.slip.rise = 3.2...3.2
  }

  private static func take(_ scenario: inout Scenario) {
    scenario.peer.count = 8
    scenario.peer.carriedCount = 2
    scenario.peer.carriedAfterSeconds = 120
    scenario.peer.carriedForSeconds = 6
    scenario.peer.speed = 0.7...1.3
  }

  private static func setMinute(_ scenario: inout Scenario, _ error: Double) {
    scenario.radio.rangeErrors.lapse.seconds = 80...80
    scenario.radio.rangeErrors.lapse.duration = 60...60
    scenario.radio.rangeErrors.lapse.error = error...error
  }
}
