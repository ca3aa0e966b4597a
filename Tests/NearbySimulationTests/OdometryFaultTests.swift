// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Each fault of the odometry matches its setting and leaves everything else unchanged.
@Suite("Odometry faults")
struct OdometryFaultTests {
  @Test("white noise of poses has its sigma, and the truth does not have it")
  func whiteNoise() {
    var scenario = Scenario(.wanderingWalk)
    let clean = scenario.simulated(seed: 1)
    scenario.odometry.positionNoise = 0.02
    scenario.odometry.attitudeNoiseDegrees = 0.5
    let noisy = scenario.simulated(seed: 1)
    var (places, angles) = (RunningMoments(), RunningMoments())
    for (a, b) in zip(clean.poses, noisy.poses) {
      let error = b.worldFromDevice.translation - a.worldFromDevice.translation
      for component in [error.x, error.y, error.z] { places.add(component) }
      let turn = b.worldFromDevice.rotation * a.worldFromDevice.rotation.inverse
      let sign = turn.w < 0 ? -2.0 : 2
      for component in [turn.x, turn.y, turn.z] { angles.add(sign * component) }
    }
    #expect(abs(places.deviation - 0.02) < 0.001 && abs(places.mean) < 0.001)
    #expect(abs(angles.deviation.radiansAsDegrees - 0.5) < 0.02)
    for (a, b) in zip(clean.samples, noisy.samples) {
      #expect(a.odometryFromDevice == b.odometryFromDevice && a.distance == b.distance)
    }
  }

  @Test("a tilted world is tilted about the first position, poses and peers alike")
  func tilt() {
    var scenario = Scenario(.sweepThenWalk)
    scenario.odometry.tiltDegrees = 1
    var tilts = RunningMoments()
    for seed in 0..<200 as Range<UInt64> {
      var level = scenario
      level.odometry.tiltDegrees = 0
      level.duration = 2
      scenario.duration = 2
      let (a, b) = (level.simulated(seed: seed), scenario.simulated(seed: seed))
      let turn =
        b.poses[60].worldFromDevice.rotation * a.poses[60].worldFromDevice.rotation.inverse
      let up = turn.act(Vector3(0, 1, 0))
      // Small angles: the tilt about x moves up along z, that about z along x.
      tilts.add(up.x.radiansAsDegrees)
      tilts.add(up.z.radiansAsDegrees)
      #expect(
        (b.poses[0].worldFromDevice.translation - a.poses[0].worldFromDevice.translation).length
          < 1e-12)
      for (x, y) in zip(a.samples, b.samples) {
        #expect(x.distance == y.distance)
        let before = x.odometryFromDevice.inverse.act(x.peerInOdometry)
        let after = y.odometryFromDevice.inverse.act(y.peerInOdometry)
        #expect((before - after).length < 1e-9)
      }
    }
    #expect(abs(tilts.deviation - 1) < 0.1)
  }

  @Test("lost tracking: no poses, a report of the odometry, and then another world")
  func loss() throws {
    var scenario = Scenario(.wanderingWalk)
    let clean = scenario.simulated(seed: 2)
    scenario.odometry.loss.seconds = 20
    scenario.odometry.loss.duration = 3
    scenario.odometry.loss.relocalizing = 2
    scenario.odometry.loss.displacement = Vector3(3, 0, 1)
    scenario.odometry.loss.turnDegrees = 50
    let run = scenario.simulated(seed: 2)
    let start = SimulatedRun.timestamp(at: 0)
    let times = run.poses.map { $0.timestamp.seconds(since: start) }
    #expect(!times.contains { $0 >= 20 && $0 < 23 })
    #expect(clean.poses.count - run.poses.count == 180)

    let said = run.tracking.map { ($0.timestamp.seconds(since: start), $0.quality) }
    #expect(said.map(\.0) == [0, 20, 23, 25])
    #expect(
      said.map(\.1) == [.normal, .notAvailable, .limited(.relocalizing), .normal])
    #expect(run.tracking.allSatisfy { $0.ambientIntensityLumens == 1000 })

    // A report of the odometry arrives before the poses to which it applies.
    var arrived = -1.0
    for event in run.events {
      switch event {
      case .pose(let index): arrived = times[index]
      case .tracking(let index): #expect(arrived < said[index].0)
      case .sample: continue
      }
    }

    for (a, b) in zip(clean.samples, run.samples) {
      #expect(a.distance == b.distance)
      let turn = b.odometryFromDevice.rotation * a.odometryFromDevice.rotation.inverse
      let angle = b.seconds < 23 ? 0 : 50.0.degreesAsRadians
      #expect(abs(turn.y.magnitude - sin(angle / 2)) < 1e-9)
      let before = a.odometryFromDevice.inverse.act(a.peerInOdometry)
      let after = b.odometryFromDevice.inverse.act(b.peerInOdometry)
      #expect((before - after).length < 1e-9, "the truth about the device is the same")
    }
    let place = try #require(clean.poses.first { $0.timestamp.seconds(since: start) >= 23 })
    let moved = try #require(run.poses.first { $0.timestamp == place.timestamp })
    let step = moved.worldFromDevice.translation - place.worldFromDevice.translation
    #expect((step - Vector3(3, 0, 1)).length < 1e-9, "turned about the device")
  }

  @Test("in the dark tracking is limited and the light is low")
  func dark() {
    var scenario = Scenario(.wanderingWalk)
    scenario.odometry.dark.seconds = 10
    scenario.odometry.dark.duration = 5
    let tracking = scenario.simulated(seed: 2).tracking
    #expect(tracking.map(\.ambientIntensityLumens) == [1000, 30, 1000])
    #expect(tracking.map(\.quality) == [.normal, .limited(.insufficientFeatures), .normal])
  }
}
