// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Scenario")
struct ScenarioTests {
  @Test("a seed repeats bit for bit, and another peer does not change the odometry")
  func seeds() {
    let scenario = Scenario(.sweepThenWalk)
    let run = scenario.simulated(seed: 11)
    let again = scenario.simulated(seed: 11)
    let other = scenario.simulated(seed: 11, peer: 1)
    #expect(run.poses == again.poses)
    #expect(run.samples.map(\.distance) == again.samples.map(\.distance))
    #expect(run.samples.map(\.azimuthRadians) == again.samples.map(\.azimuthRadians))
    #expect(run.poses == other.poses)
    #expect(run.samples.map(\.distance) != other.samples.map(\.distance))
    #expect(scenario.simulated(seed: 12).poses != run.poses)
  }

  @Test("without errors, measurements are those of the geometry")
  func noiseless() {
    var scenario = Scenario(.sweepThenWalk)
    scenario.odometry.positionDrift = 0
    scenario.odometry.yawDriftRadians = 0
    scenario.radio.rangeNoise = 0
    scenario.radio.rangeBiasSigma = 0
    scenario.radio.azimuth = .init(noiseDegrees: 0, biasDegrees: 0)
    scenario.radio.elevation = .init(noiseDegrees: 0, biasDegrees: 0)
    scenario.radio.antennaInDevice = Vector3(0.3, -0.1, 0.2)
    let run = scenario.simulated(seed: 4)
    let motion = ScenarioMotion(.sweepThenWalk, seed: 4)
    var seen = 0
    for sample in run.samples {
      let pose = motion.pose(at: sample.seconds)
      #expect((pose.translation - sample.odometryFromDevice.translation).length < 1e-9)
      let antenna = pose.act(Vector3(0.3, -0.1, 0.2))
      let ray = pose.rotation.inverse.act(run.samples[0].peerInOdometry - antenna)
      #expect(abs((sample.distance ?? .nan) - ray.length) < 1e-9)
      // Sixty degrees from straight ahead, along -z.
      #expect((sample.azimuthRadians != nil) == (-ray.z >= 0.5 * ray.length))
      guard let azimuth = sample.azimuthRadians, let elevation = sample.elevationRadians else {
        continue
      }
      seen += 1
      let direction = ArrivalAngles(azimuthRadians: azimuth, elevationRadians: elevation).direction
      #expect((direction - ray.normalized).length < 1e-9)
    }
    #expect(seen > 10)
  }

  @Test("errors have the spread that the scenario names")
  func spread() {
    var scenario = Scenario(.standingStill)
    scenario.radio.rangeScaleSigma = 0.03
    scenario.radio.fieldOfViewRadians = 2 * .pi
    var noise = RunningMoments()
    var means = RunningMoments()
    var azimuths = RunningMoments()
    for seed in 0..<400 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      let errors = run.samples.map { sample in
        let antenna = sample.odometryFromDevice.act(run.antennaInDevice)
        let distance = (sample.peerInOdometry - antenna).length
        return (sample.distance ?? .nan) - (1 + run.rangeScale) * distance
      }
      let mean = errors.reduce(0, +) / Double(errors.count)
      means.add(mean)
      for error in errors { noise.add(error - mean) }
      let first = run.samples[0]
      let ray = first.odometryFromDevice.rotation.inverse.act(
        first.peerInOdometry - first.odometryFromDevice.act(run.antennaInDevice))
      guard let azimuth = first.azimuthRadians else { continue }
      azimuths.add((azimuth - ArrivalAngles(ofDirection: ray).azimuthRadians).wrappedAngle)
    }
    // 400 runs: the standard deviation of a deviation is 3.5 %.
    #expect(abs(noise.deviation - 0.10) < 0.001)
    #expect(abs(means.deviation - 0.15) < 0.022)
    #expect(abs(azimuths.deviation.radiansAsDegrees - 3.61) < 0.5)
  }

  @Test("drift accumulates as a random walk over the path")
  func drift() {
    var scenario = Scenario(.wanderingWalk)
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftRadians = 0
    var place = RunningMoments()
    for seed in 0..<100 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      let (first, last) = (run.samples[0], run.samples[run.samples.count - 1])
      let moved = (last.peerInOdometry - first.peerInOdometry) / last.travelled.squareRoot()
      for component in [moved.x, moved.y, moved.z] { place.add(component) }
    }
    #expect(abs(place.deviation - 0.03) < 0.005)

    scenario.odometry.positionDrift = 0
    scenario.odometry.yawDriftRadians = 0.01
    var yaw = RunningMoments()
    for seed in 0..<100 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      let last = run.samples[run.samples.count - 1]
      let truth = ScenarioMotion(.wanderingWalk, seed: seed).pose(at: last.seconds)
      let turned = last.odometryFromDevice.rotation * truth.rotation.inverse
      yaw.add(2 * turned.y / last.travelled.squareRoot())
    }
    #expect(abs(yaw.deviation - 0.01) < 0.003)
  }

  @Test("faults come as often, last as long and are as large as the scenario says")
  func faults() {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.rangeFaults = .init(share: 0.2, persistence: 0.75)
    scenario.radio.angleFaults = .init(share: 0.1, persistence: 0.9)
    var faulty = 0
    var bursts = 0
    var angleFaults = 0
    var total = 0
    var excess = RunningMoments()
    for seed in 0..<40 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      var previous: SimulatedRun.Sample?
      for sample in run.samples {
        total += 1
        if sample.areAnglesFaulty {
          angleFaults += 1
          if let previous, previous.areAnglesFaulty {
            #expect(sample.azimuthRadians == previous.azimuthRadians)
          }
        }
        if sample.isRangeFaulty {
          faulty += 1
          if previous?.isRangeFaulty != true { bursts += 1 }
          let antenna = sample.odometryFromDevice.act(run.antennaInDevice)
          excess.add((sample.distance ?? .nan) - (sample.peerInOdometry - antenna).length)
        }
        previous = sample
      }
    }
    #expect(abs(Double(faulty) / Double(total) - 0.2) < 0.02)
    #expect(abs(Double(faulty) / Double(bursts) - 4) < 0.4)
    #expect(abs(Double(angleFaults) / Double(total) - 0.1) < 0.03)
    #expect(abs(excess.mean - 1.5) < 0.12)
  }

  @Test("late samples arrive late and out of order, everything else in the order of time")
  func arrival() {
    var scenario = Scenario(.sweepThenWalk)
    scenario.radio.latency = 0.1...0.9
    let run = scenario.simulated(seed: 2)
    var newestPose = -1
    var order: [Int] = []
    for event in run.events {
      switch event {
      case .pose(let index):
        #expect(index == newestPose + 1)
        newestPose = index
      case .sample(let index):
        order.append(index)
        let age = Double(newestPose) / 60 - run.samples[index].seconds
        #expect((0.08...0.9).contains(age))
      case .tracking: Issue.record("nothing happens to this odometry")
      }
    }
    #expect(order.sorted() == Array(run.samples.indices))
    #expect(order != order.sorted())
    #expect(newestPose == run.poses.count - 1)
  }

  @Test("a jump moves the odometry's world once, peer and device alike")
  func jump() {
    var scenario = Scenario(.wanderingWalk)
    let still = scenario.simulated(seed: 6)
    scenario.odometry.jump = .init(seconds: 20, displacement: Vector3(2, 0, 0))
    let jumped = scenario.simulated(seed: 6)
    for (a, b) in zip(still.samples, jumped.samples) where abs(a.seconds - 20) > 0.02 {
      let expected = a.seconds > 20 ? Vector3(2, 0, 0) : .zero
      #expect((b.peerInOdometry - a.peerInOdometry - expected).length < 1e-9)
      let device = b.odometryFromDevice.translation - a.odometryFromDevice.translation
      #expect((device - expected).length < 1e-9)
      #expect(b.distance == a.distance)
    }
  }

  @Test("clock offset and first error do what they say")
  func clockAndFirstError() {
    var scenario = Scenario(.sweepThenWalk)
    let plain = scenario.simulated(seed: 8)
    scenario.radio.clockOffset = 0.1
    scenario.radio.firstRangeError = 3
    let altered = scenario.simulated(seed: 8)
    for (index, (a, b)) in zip(plain.samples, altered.samples).enumerated() {
      #expect(b.timestamp.seconds(since: a.timestamp) == 0.1)
      let added = (b.distance ?? .nan) - (a.distance ?? .nan)
      #expect(abs(added - (index == 0 ? 3 : 0)) < 1e-12)
      #expect(b.isRangeFaulty == (index == 0))
    }
  }
}
