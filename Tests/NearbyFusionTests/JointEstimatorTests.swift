// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEvaluation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Peers that share a drift, and heights from level walks.
@Suite("Joint estimator")
struct JointEstimatorTests {
  /// The mean square of the errors of all peers in the second half of a run, m².
  private func squaredError(
    of run: SimulatedRun, _ configuration: FusionConfiguration
  ) throws -> Double {
    var engine = try FusionEngine(configuration)
    let peers = run.peers.map { _ in engine.addPeer() }
    var (sum, count) = (0.0, 0)
    let end = run.samples.map(\.seconds).max() ?? 0
    run.feed(&engine, as: peers) { index, report, engine in
      let sample = run.samples[index]
      guard sample.seconds > 0.5 * end,
        let mean = engine.estimate(of: report.peer).positionInWorld
      else { return }
      let away = mean - sample.peerInOdometry
      sum += away.dot(away)
      count += 1
    }
    return sum / Double(max(count, 1))
  }

  @Test("peers that share a drift are found better than each alone")
  func sharedDrift() throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.measuresAngles = false
    scenario.duration = 90
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftRadians = 0.6.degreesAsRadians
    var alone = scenario.matchingConfiguration
    alone.features.remove(.jointFit)
    var sums = (alone: 0.0, together: 0.0)
    for seed in 0..<4 as Range<UInt64> {
      let run = scenario.simulated(seed: seed, peerCount: 5)
      sums.alone += try squaredError(of: run, alone)
      sums.together += try squaredError(of: run, scenario.matchingConfiguration)
    }
    let ratio = (sums.together / sums.alone).squareRoot()
    #expect(ratio < 0.85, "RMSE together over alone: \(ratio)")
  }

  @Test("exactly level, above and below look alike: no side is named and no height claimed")
  func exactlyLevel() throws {
    let scenario = try #require(Scenario.preset(named: "level-exact"))
    for seed in 0..<4 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      var engine = try FusionEngine(scenario.matchingConfiguration)
      let peer = engine.addPeer()
      run.feed(&engine, as: peer) { _, _, engine in
        let estimate = engine.estimate(of: peer)
        #expect(estimate.convergence != .converged, "seed \(seed)")
        #expect(
          estimate.verticalDirection != .above && estimate.verticalDirection != .below,
          "seed \(seed)")
      }
    }
  }

  @Test("on a slope nothing wrong is claimed", arguments: ["slope-10", "slope-15-exact"])
  func slope(name: String) throws {
    let scenario = try #require(Scenario.preset(named: name))
    for seed in [5, 18, 25, 30, 73, 82] as [UInt64] {
      let run = scenario.simulated(seed: seed)
      var engine = try FusionEngine(scenario.matchingConfiguration)
      let peer = engine.addPeer()
      var wrong = 0
      run.feed(&engine, as: peer) { index, _, engine in
        let estimate = engine.estimate(of: peer)
        guard estimate.convergence == .converged, let mean = estimate.positionInWorld else {
          return
        }
        let away = mean - run.samples[index].peerInOdometry
        // A false convergence, as `nearby prove` counts them.
        let sigma = estimate.covarianceInWorld.trace.squareRoot()
        if away.length > 0.5, away.length > 3.4 * sigma { wrong += 1 }
      }
      #expect(wrong == 0, "seed \(seed)")
    }
  }

  @Test("peers that are declared and never heard change nothing")
  func declaredPeers() throws {
    var scenario = try #require(Scenario.preset(named: "level-office"))
    scenario.duration = 60
    let run = scenario.simulated(seed: 1, peerCount: 4)
    func means(declared: Int) throws -> [Vector3?] {
      var engine = try FusionEngine(scenario.matchingConfiguration)
      let peers = (0..<declared).map { _ in engine.addPeer() }
      run.feed(&engine, as: peers)
      return (0..<4).map { engine.estimate(of: peers[$0]).positionInWorld }
    }
    #expect(try means(declared: 4) == means(declared: 40))
  }

  @Test("members that are not heard any more make room for others")
  func dismissal() throws {
    let scenario = try #require(Scenario.preset(named: "level-office"))
    let run = scenario.simulated(seed: 1, peerCount: 8)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    // Each minute the eight radios have other names: 32 peers in turn.
    let peers = try (0..<32).map { try engine.addPeer(named: "peer-\($0)") }
    let start = try #require(run.poses.first).timestamp
    for event in run.events {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index):
        let sample = run.samples[index]
        let minute = min(Int(sample.timestamp.seconds(since: start) / 60), 3)
        engine.add(run.rangingSample(index, of: peers[8 * minute + sample.peer]))
      }
    }
    let members = engine.joint.peers
    #expect(members.count <= 24 && members.contains { $0 >= 24 }, "\(members)")
    // No examination will follow of those that were dismissed.
    let dismissed = peers.map(\.index).filter { !members.contains($0) }
    #expect(!dismissed.isEmpty)
    #expect(dismissed.allSatisfy { engine.peers[$0].jointCandidate?.claim != .contested })
  }

  @Test("samples from one place are one cell; other heights and other values are not")
  func cells() {
    func device(_ place: Vector3, seconds: Double) -> TrajectoryPoint {
      var point = TrajectoryPoint.nowhere
      point.worldFromDevice = RigidTransform(rotation: .identity, translation: place)
      point.timestamp = Timestamp(nanoseconds: Int64(seconds * 1e9))
      return point
    }
    func range(_ metres: Double) -> Measurements {
      var measurements = Measurements()
      measurements[.range] = MeasuredValue(value: metres, sigma: 0.1)
      return measurements
    }
    let peer = Vector3(0, 0, -10)
    var cell = JointCell(
      range(10), at: device(.zero, seconds: 0), isObstructed: false, of: peer)
    func take(_ metres: Double, _ place: Vector3, isObstructed: Bool = false) -> Bool {
      cell.take(
        range(metres), at: device(place, seconds: 1), isObstructed: isObstructed, of: peer)
    }
    #expect(take(9.8, Vector3(0, 0, -0.2)))
    #expect(cell.values.range.count == 2)
    #expect(abs(cell.values.range.mean - 9.9) < 1e-12)
    #expect(abs(cell.device.worldFromDevice.translation.z + 0.1) < 1e-12)
    // Too far, too high, too wrong, of another kind.
    #expect(!take(9, Vector3(0, 0, -1)))
    #expect(!take(10, Vector3(0, 0.1, 0)))
    #expect(!take(11, .zero))
    #expect(!take(10, .zero, isObstructed: true))
    #expect(cell.values.range.count == 2)
  }

  @Test("cells that are near each other share their errors")
  func commonErrors() {
    let offset = HeightOffset(RangingConfiguration())
    func cell(at x: Double) -> JointCell {
      var point = TrajectoryPoint.nowhere
      point.worldFromDevice = RigidTransform(
        rotation: .identity, translation: Vector3(x, 0, 0))
      var measurements = Measurements()
      measurements[.range] = MeasuredValue(value: 5, sigma: 0.1)
      return JointCell(measurements, at: point, isObstructed: false, of: Vector3(0, 0, -5))
    }
    var (a, b, c) = (cell(at: 0), cell(at: 0.4), cell(at: 8))
    b.meet(&a, offset)
    c.meet(&a, offset)
    #expect(abs(a.neighbours.range - (1 + 0.5 * (exp(-1) + exp(-0.4 / 2.5)))) < 1e-9)
    #expect(a.neighbours.range == b.neighbours.range)
    #expect(c.neighbours.range == 1)
  }
}
