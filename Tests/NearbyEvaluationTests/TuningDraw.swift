// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry
import NearbySimulation

@testable import NearbyEvaluation

/// A simulated run whose settings are drawn, and that states none of them.
struct TuningDraw {
  let scenario: Scenario
  private let run: SimulatedRun

  init(seed: UInt64) {
    var draw = SeededGenerator(seed: seed, stream: 77)
    func logarithmic(_ interval: ClosedRange<Double>) -> Double {
      exp(draw.uniform(in: log(interval.lowerBound)...log(interval.upperBound)))
    }
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = draw.uniform(in: 120...300)
    scenario.peer.count = 1 + Int(draw.uniform(in: 0...4))
    scenario.radio.rangeNoise = logarithmic(0.03...0.5)
    scenario.radio.rangeFaults = .init(share: draw.uniform(in: 0...0.15), persistence: 0.5)
    scenario.radio.clockOffset = draw.uniform(in: -0.1...0.1)
    scenario.radio.antennaInDevice = Vector3(
      draw.uniform(in: -0.2...0.2), draw.uniform(in: -0.2...0.2), draw.uniform(in: -0.2...0.2))
    scenario.radio.measuresAngles = draw.uniform() < 0.5
    scenario.radio.azimuth.noiseDegrees = draw.uniform(in: 1...6)
    scenario.radio.elevation.noiseDegrees = draw.uniform(in: 1...6)
    scenario.radio.rangeScaleSigma = 0.01
    scenario.odometry.positionDrift = logarithmic(0.005...0.1)
    scenario.odometry.yawDriftDegrees = logarithmic(0.1...3)
    self.init(scenario, seed: seed)
  }

  init(_ scenario: Scenario, seed: UInt64) {
    self.scenario = scenario
    run = scenario.simulated(seed: seed)
  }

  /// What a tuner takes from the run, with further peers of another run of the same walk.
  func data(
    stated: FusionConfiguration = FusionConfiguration(), adding other: TuningDraw? = nil
  ) throws -> TuningData {
    var data = try TuningData(stated: stated)
    let peers = run.peers.map { _ in data.addPeer(.stationary) }
    for event in run.events {
      switch event {
      case .pose(let index): data.add(run.poses[index])
      case .tracking(let index): data.add(run.tracking[index])
      case .sample(let index): data.add(sample(index, of: peers))
      }
    }
    if let other {
      let peers = other.run.peers.map { _ in data.addPeer(.stationary) }
      for index in other.run.samples.indices { data.add(other.sample(index, of: peers)) }
    }
    return data
  }

  /// What a calibration takes from a run of the same scenario with all its peers, with those of another one.
  func calibrationData(
    seed: UInt64, stated: FusionConfiguration = FusionConfiguration(),
    adding other: TuningDraw? = nil
  ) -> CalibrationData {
    var data = CalibrationData(
      scenario.simulated(seed: seed, peerCount: scenario.peer.count), motion: .stationary,
      stated: stated)
    if let other {
      let peers = other.run.peers.map { _ in data.addPeer(.stationary) }
      for index in other.run.samples.indices { data.add(other.sample(index, of: peers)) }
    }
    return data
  }

  private func sample(_ index: Int, of peers: [PeerID]) -> RangingSample {
    let sample = run.samples[index]
    var ranging = RangingSample(peer: peers[sample.peer], timestamp: sample.timestamp)
    for kind in MeasurementKind.allCases { ranging[kind] = (sample.values[kind], nil) }
    return ranging
  }
}
