// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation
import Testing

@testable import NearbyEvaluation

/// What a run finds of the radio and the odometry before it starts.
@Suite("Calibration of a recording")
struct RecordingCalibrationTests {
  /// A walk among six beacons, with a clock, an antenna, noise and a drift that the default settings do not
  /// have.
  private static func walk(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = 120
    scenario.peer.count = 6
    scenario.radio.measuresAngles = false
    scenario.radio.rangeNoise = 0.05
    scenario.radio.clockOffset = 0.15
    scenario.radio.antennaInDevice = Vector3(0.12, -0.1, 0.08)
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftDegrees = 0.8
    change(&scenario)
    return scenario
  }

  private func calibration(
    _ scenario: Scenario, seed: UInt64, _ mode: CalibrationMode = .use,
    stated: FusionConfiguration = FusionConfiguration()
  ) -> RecordingCalibration {
    RecordingCalibration(
      TuningDraw(scenario, seed: seed).calibrationData(seed: seed, stated: stated), mode)
  }

  @Test("constants and noise that are not stated are found, each within its sigma, and used")
  func finds() throws {
    let scenario = Self.walk()
    let (radio, drawn) = (scenario.radio, scenario.radio.antennaInDevice)
    let truth: [String: Double] = [
      "clockOffset": radio.clockOffset, "antennaX": drawn.x, "antennaY": drawn.y,
      "antennaZ": drawn.z,
    ]
    var deviations: [Double] = []
    for seed in 1...4 as ClosedRange<UInt64> {
      let found = calibration(scenario, seed: seed)
      let findings = Dictionary(
        uniqueKeysWithValues: found.summary.findings.map { ($0.quantity, $0) })
      #expect(findings["clockOffset"] != nil)
      for (quantity, value) in truth {
        guard let finding = findings[quantity] else { continue }
        deviations.append((finding.value - value) / finding.sigma)
      }
      let settings = found.configuration
      #expect(abs(settings.ranging.clockOffset - radio.clockOffset) < 0.06)
      #expect((settings.ranging.antennaInDevice - drawn).length < 0.1)
      #expect(abs(settings.ranging.rangeSigma - radio.rangeNoise) < 0.1 * radio.rangeNoise)
      #expect((0.015...0.06).contains(settings.odometry.positionDrift))
    }
    #expect(deviations.count >= 12)
    let within = deviations.count { abs($0) < 2 }
    #expect(within >= deviations.count * 3 / 4, "\(deviations)")
    #expect(deviations.allSatisfy { abs($0) < 5 }, "\(deviations)")
  }

  @Test("an angle that is far more accurate than stated does not keep the clock from being found")
  func holdsOneKind() throws {
    let scenario = Self.walk {
      $0.radio.measuresAngles = true
      $0.radio.measuresElevation = false
      $0.radio.azimuth.noiseDegrees = 0.3
      $0.radio.azimuth.biasDegrees = 0
    }
    for seed in 1...2 as ClosedRange<UInt64> {
      let settings = calibration(scenario, seed: seed).configuration
      #expect(abs(settings.ranging.clockOffset - scenario.radio.clockOffset) < 0.06)
      #expect(abs(settings.ranging.rangeSigma - scenario.radio.rangeNoise) < 0.02)
    }
  }

  @Test("a report leaves the settings as they are")
  func reports() throws {
    let stated = FusionConfiguration()
    let reported = calibration(Self.walk(), seed: 1, .report)
    #expect(reported.configuration == stated)
    #expect(reported.summary.findings.contains { $0.isSignificant })
    #expect(reported.summary.findings.allSatisfy { !$0.isUsed })
  }

  @Test("what is stated rightly stays")
  func agrees() throws {
    let scenario = Self.walk { $0.radio.clockOffset = 0 }
    for seed in 1...3 as ClosedRange<UInt64> {
      let found = calibration(scenario, seed: seed, stated: scenario.matchingConfiguration)
      let significant = found.summary.findings.filter(\.isSignificant).map(\.quantity)
      #expect(
        Set(significant).isDisjoint(with: ["clockOffset", "antennaX", "antennaY", "antennaZ"]))
      #expect(found.configuration.ranging.clockOffset == 0)
    }
  }

  @Test("of ranges that are mostly outliers no noise is learnt")
  func heavyTails() throws {
    let scenario = Self.walk {
      $0.radio.rangeFaults = .init(share: 0.5, persistence: 0.9)
      $0.radio.rangeExcess = 6
    }
    let stated = FusionConfiguration()
    for seed in 1...2 as ClosedRange<UInt64> {
      let found = calibration(scenario, seed: seed).configuration
      #expect(found.ranging.rangeSigma == stated.ranging.rangeSigma)
      #expect(found.odometry.positionDrift == stated.odometry.positionDrift)
      #expect(found.odometry.yawDriftRadians == stated.odometry.yawDriftRadians)
    }
  }

  @Test("a peer that was moved is not taken for drift")
  func movedPeer() throws {
    let scenario = Self.walk {
      $0.peer.motion = .carried
      $0.peer.count = 1
      $0.peer.carriedAfterSeconds = 50
    }
    let still = Self.walk { $0.peer.count = 3 }
    // One beacon that is carried among three that stay.
    let data = TuningDraw(still, seed: 2).calibrationData(
      seed: 2, adding: TuningDraw(scenario, seed: 2))
    let found = RecordingCalibration(data, .use)
    #expect(found.configuration.odometry.positionDrift < 0.1)
  }

  @Test("a single peer that is carried is not taken for drift")
  func carriedAlone() throws {
    let scenario = try #require(Scenario.preset(named: "peer-carried"))
    for seed in 1...3 as ClosedRange<UInt64> {
      let found = calibration(scenario, seed: seed).configuration
      // Without the test on the end 0.16, of a stated 0.01.
      #expect(found.odometry.positionDrift < 0.05, "seed \(seed)")
    }
  }

  /// Walks whose settings are stated as they are, with an error that no setting describes.
  private static let misfits = Scenario.presets.map(\.name).filter {
    $0.hasPrefix("misfit-") && !$0.contains("clock") && $0 != "misfit-none"
  }

  @Test(
    "an error that no setting describes is taken for no drift, clock or antenna", arguments: misfits
  )
  func misfit(_ name: String) throws {
    let scenario = try #require(Scenario.preset(named: name))
    let stated = scenario.matchingConfiguration
    for seed in 1...3 as ClosedRange<UInt64> {
      let found = calibration(scenario, seed: seed, stated: stated).configuration
      withKnownIssue("a peer that is carried among walls is not found before the drift is learnt") {
        #expect(found.odometry.positionDrift <= 1.5 * stated.odometry.positionDrift, "seed \(seed)")
      } when: {
        name == "misfit-three-walls" && seed == 1
      }
      #expect(found.odometry.yawDriftRadians <= 2 * stated.odometry.yawDriftRadians, "seed \(seed)")
      #expect(abs(found.ranging.clockOffset) < 0.1, "seed \(seed)")
      let away = found.ranging.antennaInDevice - stated.ranging.antennaInDevice
      #expect(away.length < 0.15, "seed \(seed)")
    }
  }

  @Test("nothing is used of a recording whose clock steps")
  func clockStep() throws {
    let scenario = try #require(Scenario.preset(named: "misfit-clock-step"))
    let stated = scenario.matchingConfiguration
    for seed in 1...4 as ClosedRange<UInt64> {
      #expect(calibration(scenario, seed: seed, stated: stated).configuration == stated)
    }
  }

  @Test(
    "a scale is left to the engine where a camera measures the way, and is the ranges' where wheels do"
  )
  func scale() throws {
    let scenario = try #require(Scenario.preset(named: "misfit-odometry-5"))
    let stated = scenario.matchingConfiguration
    for seed in 1...3 as ClosedRange<UInt64> {
      var data = TuningDraw(scenario, seed: seed).calibrationData(seed: seed, stated: stated)
      let visual = RecordingCalibration(data, .use)
      let scale = try #require(visual.summary.findings.first { $0.quantity == "rangeScale" })
      #expect(scale.isSignificant && !scale.isUsed)
      #expect(abs(scale.value - 0.05) < 0.01)
      #expect(visual.configuration.odometry == stated.odometry)
      #expect(visual.configuration.ranging.rangeScaleSigma == stated.ranging.rangeScaleSigma)
      data.isVisual = false
      let wheeled = RecordingCalibration(data, .use).configuration
      #expect(wheeled.odometry.scaleSigma == stated.odometry.scaleSigma)
      #expect(abs(wheeled.ranging.rangeScaleSigma - 0.05) < 0.01)
    }
  }

  @Test("a pose beyond all numbers calibrates nothing", arguments: [-1e308, 1e200])
  func endlessPath(x: Double) {
    let stated = FusionConfiguration()
    let run = Self.walk().simulated(seed: 1, peerCount: 2)
    var data = CalibrationData(stated: stated)
    let peers = run.peers.map { _ in data.addPeer(.stationary) }
    for (index, pose) in run.poses.enumerated() {
      var pose = pose
      if index == run.poses.count / 2 { pose.worldFromDevice.translation.x = x }
      data.add(pose)
    }
    for index in run.samples.indices {
      data.add(run.rangingSample(index, of: peers[run.samples[index].peer]))
    }
    #expect(RecordingCalibration(data, .use).configuration == stated)
  }

  @Test("the offset of the clock is that of the engine's samples")
  func engineOffset() throws {
    let run = Self.walk().simulated(seed: 3)
    var configuration = FusionConfiguration()
    configuration.ranging.clockOffset = 0.15
    var (offset, shifted) = (try FusionEngine(configuration), try FusionEngine())
    let peers = run.peers.map { _ in (offset.addPeer(), shifted.addPeer()) }
    for event in run.events {
      switch event {
      case .pose(let index):
        offset.add(run.poses[index])
        shifted.add(run.poses[index])
      case .tracking: continue
      case .sample(let index):
        let sample = run.samples[index]
        let (first, second) = peers[sample.peer]
        var ranging = RangingSample(
          peer: first, timestamp: sample.timestamp, distance: sample.values[.range])
        let a = offset.add(ranging)
        ranging.peer = second
        ranging.timestamp = sample.timestamp.advanced(bySeconds: -0.15)
        let b = shifted.add(ranging)
        #expect(a == b)
        #expect(a.timestamp == ranging.timestamp)
      }
    }
    for (first, second) in peers {
      #expect(offset.estimate(of: first) == shifted.estimate(of: second))
    }
  }
}
