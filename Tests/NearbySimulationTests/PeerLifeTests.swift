// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import Testing

/// Peers that rest and walk in turn, walk together, or are not heard.
@Suite("Peers' lives")
struct PeerLifeTests {
  private func scenario(
    _ motion: ScenarioPeer.Motion, _ change: (inout ScenarioPeer) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.rate = 0.1
    scenario.peer.motion = motion
    change(&scenario.peer)
    return scenario
  }

  @Test("on outings a peer sits, stands up, walks and sits down, over and over")
  func outings() throws {
    var scenario = scenario(.outings) {
      $0.restSeconds = 5...9
      $0.walkSeconds = 3...6
    }
    scenario.duration = 120
    var speeds = RunningMoments()
    for seed in 0..<20 as Range<UInt64> {
      let path = scenario.simulated(seed: seed).peers[0].path
      // Each takes at most 9 + 1 + 6 + 1 s.
      #expect(path.walks.count >= 7)
      var sat = 0.0
      for walk in path.walks {
        let rest = walk.lowerBound - 1 - sat
        #expect((4.999...9.001).contains(rest))
        #expect((2.999...6.001).contains(walk.upperBound - walk.lowerBound))
        let seat = path.position(at: sat + 0.02 * rest)
        for share in stride(from: 0.04, to: 1, by: 0.04) {
          #expect(path.position(at: sat + share * rest) == seat)
          #expect(path.velocity(at: sat + share * rest) == .zero)
        }
        #expect((0.01...0.39).contains(path.position(at: walk.lowerBound - 0.5).y - seat.y))
        for time in stride(from: walk.lowerBound, to: walk.upperBound, by: 0.1) {
          #expect(abs(path.position(at: time).y - seat.y - 0.4) < 1e-12)
          #expect(path.velocity(at: time).length <= path.speed + 1e-12)
        }
        let speed = path.velocity(at: (walk.lowerBound + walk.upperBound) / 2).length
        #expect((0.5...1.5).contains(speed))
        speeds.add(speed)
        sat = walk.upperBound + 1
        let next = path.position(at: sat)
        #expect(abs(next.y - seat.y) < 1e-12)
        #expect((next - seat).length > 0.1)
      }
    }
    #expect(abs(speeds.mean - 1) < 0.1 && speeds.deviation > 0.2, "each walk has its own speed")
  }

  @Test("a peer that stops walks first, then rests and walks on at its height, over and over")
  func stops() {
    var scenario = scenario(.stops) {
      $0.restSeconds = 2...4
      $0.walkSeconds = 3...6
    }
    scenario.duration = 60
    for seed in 0..<20 as Range<UInt64> {
      let path = scenario.simulated(seed: seed).peers[0].path
      // Each walk with its stop takes at most 10 s.
      #expect(path.walks.count >= 6 && path.walks[0].lowerBound == 0)
      for (walk, next) in zip(path.walks, path.walks.dropFirst()) {
        #expect((2.999...6.001).contains(walk.upperBound - walk.lowerBound))
        let rest = next.lowerBound - walk.upperBound
        #expect((1.999...4.001).contains(rest))
        let place = path.position(at: walk.upperBound)
        #expect(place.y == path.position(at: 0).y)
        for share in stride(from: 0.1, to: 1, by: 0.2) {
          #expect(path.position(at: walk.upperBound + share * rest) == place)
        }
        #expect((path.position(at: next.upperBound) - place).length > 0.1)
      }
    }
  }

  @Test("a peer handed over rests for a moment, then moves on with another speed")
  func handedOver() throws {
    var pauses = RunningMoments()
    for seed in 0..<20 as Range<UInt64> {
      let path = scenario(.handedOver).simulated(seed: seed).peers[0].path
      let walks = path.walks
      try #require(walks.count == 2)
      #expect(walks[0] == 20...26)
      #expect(abs(walks[1].upperBound - walks[1].lowerBound - 6) < 1e-9)
      let pause = walks[1].lowerBound - 26
      #expect((1...2).contains(pause))
      pauses.add(pause)
      let place = path.position(at: 26)
      #expect(path.position(at: 26 + 0.9 * pause) == place && path.position(at: 20) != place)
      #expect(path.velocity(at: 26 + 0.5 * pause) == .zero)
      let end = path.position(at: walks[1].upperBound)
      #expect((end - place).length > 0.1 && path.position(at: 49) == end)
      let speeds = walks.map { path.velocity(at: $0.lowerBound + 3).length }
      #expect(abs(speeds[0] - speeds[1]) > 1e-6)
      #expect(abs(path.speed - max(speeds[0], speeds[1])) < 1e-12)
    }
    #expect(pauses.deviation > 0.15)
  }

  @Test("side by side, peers keep their distance across the heading")
  func sideBySide() {
    let scenario = scenario(.walking) {
      $0.count = 3
      $0.formation = .sideBySide
    }
    let step = 1e-4
    for seed in 0..<10 as Range<UInt64> {
      let paths = scenario.simulated(seed: seed, peerCount: 3).peers.map(\.path)
      let alone = scenario.simulated(seed: seed, peer: 2).peers[0].path
      for t in stride(from: 0.5, to: 49, by: 1.7) {
        let (middle, right, left) = (
          paths[0].position(at: t), paths[1].position(at: t), paths[2].position(at: t)
        )
        let ahead = paths[0].velocity(at: t)
        #expect(abs(ahead.length - paths[0].speed) < 1e-12)
        #expect(abs((right - middle).length - 0.6) < 1e-12)
        #expect(((right + left) / 2 - middle).length < 1e-12)
        #expect(abs((right - middle).dot(ahead)) < 1e-12)
        #expect(ahead.cross(right - middle).y < 0, "the second is to the right")
        #expect(alone.position(at: t) == left, "whoever else is drawn")
        for path in paths {
          let numeric = (path.position(at: t + step) - path.position(at: t - step)) / (2 * step)
          #expect((numeric - path.velocity(at: t)).length < 1e-5)
          #expect(path.velocity(at: t).length < path.speed + 0.6 * 2)
        }
      }
    }
  }

  @Test("in a circle, peers walk round a centre that walks slowly")
  func circling() {
    let scenario = scenario(.walking) {
      $0.count = 2
      $0.formation = .circling
    }
    let step = 1e-4
    var turns = RunningMoments()
    for seed in 0..<20 as Range<UInt64> {
      let paths = scenario.simulated(seed: seed, peerCount: 2).peers.map(\.path)
      #expect((0.5...1.5).contains(paths[0].speed))
      for t in stride(from: 0.5, to: 49, by: 1.7) {
        let (a, b) = (paths[0].position(at: t), paths[1].position(at: t))
        #expect(abs((a - b).length - 2) < 1e-12 && a.y == b.y)
        let centre = (paths[0].velocity(at: t) + paths[1].velocity(at: t)) / 2
        #expect(abs(centre.length - 0.2 * paths[0].speed) < 1e-9)
        let around = paths[0].velocity(at: t) - centre
        #expect(abs(around.length - paths[0].speed) < 1e-9 && abs(around.dot(a - b)) < 1e-9)
        turns.add((a - b).cross(around).y < 0 ? -1 : 1)
        for path in paths {
          let numeric = (path.position(at: t + step) - path.position(at: t - step)) / (2 * step)
          #expect((numeric - path.velocity(at: t)).length < 1e-5)
        }
      }
    }
    #expect(abs(turns.mean) < 0.8, "to the left and to the right")
  }

  @Test("the device keeps clear of all peers of a formation")
  func clearance() {
    for formation in [ScenarioPeer.Formation.sideBySide, .circling] {
      var scenario = scenario(.walking) {
        $0.count = 3
        $0.formation = formation
        $0.distance = 1...3
      }
      scenario.radio.rate = 10
      for seed in 0..<40 as Range<UInt64> {
        for sample in scenario.simulated(seed: seed, peerCount: 3).samples {
          let gap = (sample.peerInOdometry - sample.odometryFromDevice.translation).length
          #expect(gap > 0.6)
        }
      }
    }
  }

  @Test("in a silence there are no samples, and all others are as they were")
  func silence() {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.rangeFaults = .init(share: 0.2, persistence: 0.7)
    scenario.radio.lostShare = 0.1
    scenario.barometers.arePresent = true
    let heard = scenario.simulated(seed: 3, peerCount: 2)
    scenario.peer.silence.seconds = 20
    scenario.peer.silence.duration = 5
    let silent = scenario.simulated(seed: 3, peerCount: 2)
    let others = heard.samples.filter { !($0.seconds >= 20 && $0.seconds < 25) }
    #expect(heard.samples.count - others.count > 70)
    #expect(silent.samples.map(\.seconds) == others.map(\.seconds))
    #expect(silent.samples.map(\.distance) == others.map(\.distance))
    #expect(silent.samples.map(\.azimuthRadians) == others.map(\.azimuthRadians))
    #expect(silent.samples.map(\.heightDifference) == others.map(\.heightDifference))
    #expect(silent.poses == heard.poses)
  }
}
