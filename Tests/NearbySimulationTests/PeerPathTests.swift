// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("PeerPath")
struct PeerPathTests {
  private func paths(_ motion: ScenarioPeer.Motion, _ seeds: Range<UInt64>) -> [PeerPath] {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.rate = 0.1
    scenario.peer.motion = motion
    return seeds.map { scenario.simulated(seed: $0).peers[0].path }
  }

  @Test(
    "velocity is the derivative of position, accelerations are bounded",
    arguments: [ScenarioPeer.Motion.walking, .carried, .handedOver, .outings, .stops])
  func derivatives(motion: ScenarioPeer.Motion) {
    let step = 1e-4
    for path in paths(motion, 0..<10) {
      for t in stride(from: 0.1, to: 49.9, by: 0.173) {
        let numeric = (path.position(at: t + step) - path.position(at: t - step)) / (2 * step)
        #expect((numeric - path.velocity(at: t)).length < 1e-5, "at \(t) s")
        let change = path.velocity(at: t + step) - path.velocity(at: t - step)
        // While walking 4 σ v; others come to speed within 0.75 s as well, or stand up within 1 s.
        let standing = motion == .outings ? 2.31 : 0
        let most = max(path.speed * (motion == .walking ? 2 : 2 + 2.6), standing)
        #expect(change.length / (2 * step) < most + 1e-3, "at \(t) s")
      }
    }
  }

  @Test("a walking peer keeps its speed, drawn from the interval, and its height")
  func speed() {
    var speeds = RunningMoments()
    for path in paths(.walking, 0..<60) {
      #expect((0.5...1.5).contains(path.speed))
      speeds.add(path.speed)
      let height = path.position(at: 0).y
      for t in stride(from: 0.5, to: 49, by: 7.3) {
        #expect(abs(path.velocity(at: t).length - path.speed) < 1e-12)
        #expect(path.position(at: t).y == height)
      }
    }
    #expect(abs(speeds.mean - 1) < 0.12)
  }

  @Test("its velocity changes as the stated spectral density of acceleration says")
  func accelerationDensity() {
    // What remains of the velocity is E cos of a normal angle: the integral of the turn rate.
    var remaining = RunningMoments()
    var expected = RunningMoments()
    let gap = 4.0
    for path in paths(.walking, 0..<150) {
      let square = path.speed * path.speed
      for t in stride(from: 1.0, to: 45, by: 5) {
        remaining.add(path.velocity(at: t).dot(path.velocity(at: t + gap)) / square)
      }
      // ∫∫ σ² exp(-(s - u)² / 2τ²) over [0, gap]², numerically.
      var variance = 0.0
      let (sigma, tau) = (PeerPath.turnRateSigma, PeerPath.turnCorrelation)
      for i in 0..<100 {
        for j in 0..<100 {
          let lag = gap * Double(i - j) / 100
          variance += sigma * sigma * (gap / 100) * (gap / 100) * exp(-lag * lag / (2 * tau * tau))
        }
      }
      expected.add(exp(-variance / 2))
    }
    #expect(abs(remaining.mean - expected.mean) < 0.06)

    let path = paths(.walking, 3..<4)[0]
    let diffusion = 2 * path.accelerationDensity / (path.speed * path.speed)
    #expect(abs(diffusion - 0.25 * 1.5 * 2.506_628) < 1e-5)
  }

  @Test("a carried peer rests, moves, and rests again")
  func carried() {
    var scenario = Scenario(.wanderingWalk)
    scenario.peer.motion = .carried
    scenario.peer.speed = 1...1
    for seed in 0..<20 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      let path = run.peers[0].path
      #expect(path.position(at: 0) == path.position(at: 20))
      #expect(path.position(at: 26) == path.position(at: 50))
      #expect(path.velocity(at: 19.9) == .zero && path.velocity(at: 26.1) == .zero)
      #expect(abs(path.velocity(at: 23).length - 1) < 1e-12)
      let way = (path.position(at: 26) - path.position(at: 20)).length
      #expect((0.5...5.3).contains(way))
    }
  }

  @Test(
    "the device keeps clear of peers, however they move", arguments: ScenarioPeer.Motion.allCases)
  func clearance(motion: ScenarioPeer.Motion) {
    var scenario = Scenario(.wanderingWalk)
    scenario.peer.motion = motion
    for seed in 0..<30 as Range<UInt64> {
      for sample in scenario.simulated(seed: seed).samples {
        let gap = (sample.peerInOdometry - sample.odometryFromDevice.translation).length
        #expect(gap > 0.65)
      }
    }
  }

  @Test("samples carry the truth of a peer that moves")
  func samples() {
    var scenario = Scenario(.wanderingWalk)
    scenario.peer.motion = .walking
    scenario.odometry.positionDrift = 0
    scenario.odometry.yawDriftDegrees = 0
    scenario.radio.rangeNoise = 0
    scenario.radio.rangeBiasSigma = 0
    let run = scenario.simulated(seed: 8)
    for sample in run.samples {
      let place = run.peers[0].path.position(at: sample.seconds)
      #expect((sample.peerInOdometry - place).length < 1e-9)
      let velocity = run.peers[0].path.velocity(at: sample.seconds)
      #expect((sample.peerVelocityInOdometry - velocity).length < 1e-12)
      let antenna = run.device.pose(at: sample.seconds).act(run.antennaInDevice)
      #expect(abs((sample.distance ?? .nan) - (place - antenna).length) < 1e-9)
    }
  }

  @Test("a scenario that leaves no room still ends")
  func noRoom() {
    var scenario = Scenario(.standingStill)
    scenario.peer.distance = 0.1...0.3
    scenario.peer.heightDifference = 0...0
    let run = scenario.simulated(seed: 1)
    let gap = run.samples[0].peerInOdometry - run.samples[0].odometryFromDevice.translation
    #expect((0.25...0.32).contains(gap.length), "the farthest of many")
  }
}
