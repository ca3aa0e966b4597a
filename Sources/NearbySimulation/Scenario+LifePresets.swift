// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion

extension Scenario {
  /// Peers that people carry about while somebody else walks with the device.
  static let movingLives = [
    life("walker-angles", "a walking peer whose motion is not declared", seconds: 40) {
      $0.peer.motion = .walking
    },
    life("walker-ranges", "the same with ranges only", seconds: 40) {
      $0.peer.motion = .walking
      $0.radio.measuresAngles = false
    },
    life("walkers-abreast", "two peers that walk side by side", seconds: 40) {
      $0.peer.motion = .walking
      $0.peer.count = 2
      $0.peer.formation = .sideBySide
    },
    life("walkers-circling", "two peers that circle each other", seconds: 40) {
      $0.peer.motion = .walking
      $0.peer.count = 2
      $0.peer.formation = .circling
      $0.peer.distance = 2.5...8
    },
    life("walkers-crossing", "two peers that walk where they like", seconds: 40) {
      $0.peer.motion = .walking
      $0.peer.count = 2
      $0.peer.distance = 1...4
    },
    life("peer-outings", "sits, stands up, walks and sits down, over and over", seconds: 120) {
      $0.peer.motion = .outings
    },
    life("peer-outings-ranges", "the same with ranges only", seconds: 120) {
      $0.peer.motion = .outings
      $0.radio.measuresAngles = false
    },
    life("peer-stops", "walks, stops for 2 to 4 s and walks on, over and over", seconds: 60) {
      $0.peer.motion = .stops
      $0.peer.restSeconds = 2...4
    },
    life(
      "peer-handed-over", "carried at 20 s, and again by another person", seconds: 60,
      .recovers(afterSeconds: 34)
    ) {
      $0.peer.motion = .handedOver
    },
    beacon("beacon-moved", "declared at rest, carried from 40 to 45 s"),
    beacon("beacon-moved-ranges", "the same with ranges only") {
      $0.radio.measuresAngles = false
    },
    beacon("beacon-moved-unheard", "the same with angles, not heard meanwhile") {
      $0.peer.silence.seconds = 39
      $0.peer.silence.duration = 7
    },
    life("phone-rest-ranges", "at rest, which is not declared; ranges only", seconds: 50) {
      $0.radio.measuresAngles = false
    },
  ]

  /// Odometry whose world slips at 30 s without saying so.
  static let slips = [
    slip("slip-turn-14", "turns by 10 to 18 degrees, 1.3 m within 4 s", peers: 4) {
      $0.odometry.slip = turn14
    },
    slip("slip-turn-14-ranges", "the same with ranges only", peers: 4) {
      $0.odometry.slip = turn14
      $0.radio.measuresAngles = false
    },
    slip("slip-one", "the same with angles to one peer", peers: 1) {
      $0.odometry.slip = turn14
    },
    slip("slip-step-40", "turns by 35 to 45 degrees at once", peers: 4) {
      $0.odometry.slip.turnDegrees = 35...45
    },
    slip("slip-shift-3", "moves by 2.5 to 3.5 m within 2 s", peers: 4) {
      $0.odometry.slip.duration = 2
      $0.odometry.slip.shift = 2.5...3.5
    },
    slip("slip-small", "turns by 4 to 6 degrees, 0.3 m within 1 s", peers: 8) {
      $0.odometry.slip.duration = 1
      $0.odometry.slip.turnDegrees = 4...6
      $0.odometry.slip.shift = 0.2...0.4
    },
    slip("slip-wheel", "counts one and a half times the way for 3 s", peers: 4) {
      $0.odometry.slip.duration = 3
      $0.odometry.slip.scale = 1.5
    },
    slip("kidnapped", "another place at once, turned by 90 degrees or more", peers: 4) {
      $0.odometry.slip.turnDegrees = 90...180
      $0.odometry.slip.shift = 3...6
    },
  ]

  private static let turn14 = {
    var slip = ScenarioOdometry.Slip()
    slip.seconds = 30
    slip.duration = 4
    slip.turnDegrees = 10...18
    slip.shift = 1...1.6
    return slip
  }()

  /// A wandering walk with ranges and angles to a peer whose motion is not declared.
  private static func life(
    _ name: String, _ summary: String, seconds: Double, _ expectation: Expectation = .mayConverge,
    _ change: (inout Scenario) -> Void
  ) -> Scenario {
    var scenario = Scenario(.wanderingWalk)
    scenario.name = name
    scenario.summary = summary
    scenario.duration = seconds
    scenario.expectation = expectation
    scenario.peer.declaredMotion = .unknown
    change(&scenario)
    return scenario
  }

  /// The same with a peer that is said to be at rest, until it is carried off.
  private static func beacon(
    _ name: String, _ summary: String, _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    life(name, summary, seconds: 80, .recovers(afterSeconds: 45)) {
      $0.peer.motion = .carried
      $0.peer.declaredMotion = .stationary
      $0.peer.carriedAfterSeconds = 40
      $0.peer.carriedForSeconds = 5
      change(&$0)
    }
  }

  /// A wandering walk with ranges and angles to peers at rest, and a slip at 30 s.
  private static func slip(
    _ name: String, _ summary: String, peers: Int, _ change: (inout Scenario) -> Void
  ) -> Scenario {
    life(name, summary, seconds: 60) {
      $0.peer.count = peers
      $0.peer.declaredMotion = .stationary
      $0.odometry.slip.seconds = 30
      change(&$0)
      $0.expectation = .recovers(afterSeconds: $0.odometry.slip.end)
    }
  }
}
