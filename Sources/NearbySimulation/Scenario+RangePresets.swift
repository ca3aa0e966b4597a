// SPDX-License-Identifier: Apache-2.0

extension Scenario {
  /// Walks with ranges whose errors last or come back, under a stated accuracy of 0.1 m.
  static let lastingErrors = [
    room("errors-attitude", "ranges wrong by ±0.5 m with attitude and place", peers: 1) {
      $0.radio.rangeErrors.attitudeSigma = 0.18
      $0.radio.rangeErrors.placeSigma = 0.18
    },
    room("errors-attitude-4", "the same with four peers", peers: 4) {
      $0.radio.rangeErrors.attitudeSigma = 0.18
      $0.radio.rangeErrors.placeSigma = 0.18
    },
    room("short-minute", "all ranges 0.3 to 0.6 m short for 45 s", peers: 1) {
      setLapse(&$0)
    },
    room("short-minute-3", "the same with three peers, of which each has its own 45 s", peers: 3) {
      setLapse(&$0)
    },
    room("zones", "three zones in which a reflection is measured", peers: 1) {
      $0.radio.rangeErrors.zones.count = 3
    },
    room("zones-8", "the same with eight peers, of which each has its own", peers: 8) {
      $0.radio.rangeErrors.zones.count = 3
    },
    room("reflector", "half of the room measures a mirror image", peers: 1) {
      setReflector(&$0)
    },
    room("reflector-8", "the same with eight peers, of which each has its own", peers: 8) {
      setReflector(&$0)
    },
    room("antenna-turned", "an anchor that faces away: half of its ranges long", peers: 1) {
      $0.radio.rangeErrors.turned.share = 1
    },
    room("antenna-turned-8", "a third of eight anchors face away", peers: 8) {
      $0.radio.rangeErrors.turned.share = 0.34
    },
  ]

  /// A walk up and down through a room of 24 by 16 m, with ranges to resting peers.
  private static func room(
    _ name: String, _ summary: String, peers: Int, _ change: (inout Scenario) -> Void
  ) -> Scenario {
    var scenario = Scenario(.levelWalk)
    scenario.name = name
    scenario.summary = summary
    scenario.duration = 180
    scenario.expectation = .mayConverge
    scenario.walk.heightVariation = 0.4
    scenario.walk.sweeps = true
    scenario.radio.measuresAngles = false
    scenario.radio.rangeBiasSigma = 0.08
    scenario.peer.isInRoom = true
    scenario.peer.side = .above
    scenario.peer.heightDifference = -1...2
    scenario.peer.count = peers
    change(&scenario)
    return scenario
  }

  private static func setLapse(_ scenario: inout Scenario) {
    scenario.radio.rangeErrors.lapse.seconds = 60...120
    scenario.radio.rangeErrors.lapse.duration = 45...45
    scenario.radio.rangeErrors.lapse.error = -0.6 ... -0.3
    scenario.radio.rangeErrors.lapse.wildShare = 0.05
  }

  private static func setReflector(_ scenario: inout Scenario) {
    scenario.radio.rangeErrors.zones.count = 1
    scenario.radio.rangeErrors.zones.radius = 6...9
    scenario.radio.rangeErrors.zones.excess = 2...6
  }
}
