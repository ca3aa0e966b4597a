// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Where the odometry's world lies in a map, by what peers say of the path.
@Suite("Map alignment")
struct MapAlignmentTests {
  @Test("a correction is carried to later poses, with the drift since")
  func carried() {
    var device = TrajectoryPoint.nowhere
    device.worldFromDevice.translation = Vector3(1, 2, 3)
    var covariance = InlineArray<16, Double>(repeating: 0)
    for index in 0..<4 { covariance[5 * index] = index < 3 ? 0.01 : 0.0004 }
    let correction = DeviceCorrection(
      device: device, place: Vector3(5, 2, 1), yawRadians: 0.3, covariance: covariance)
    var later = device
    later.worldFromDevice.translation = Vector3(1, 2, -7)
    later.positionDriftVariance = 0.02
    later.yawDriftVariance = 0.0003
    let alignment = correction.alignment(at: later, isPlanar: false)
    let there = alignment.mapFromWorld.act(later.worldFromDevice.translation)
    // Ten metres straight ahead (-z), turned to the left by the yaw.
    let expected = Vector3(5 - 10 * sin(0.3), 2, 1 - 10 * cos(0.3))
    #expect((there - expected).length < 1e-12)
    #expect((alignment.mapFromWorld.act(Vector3(1, 2, 3)) - Vector3(5, 2, 1)).length < 1e-12)
    // Across the step by the uncertain yaw, a third of what it has drifted on the way.
    let across = Vector3(cos(0.3), 0, -sin(0.3))
    let variance = alignment.placeCovariance.quadraticForm(across)
    #expect(abs(variance - (0.01 + 0.02 + 100 * (0.0004 + 0.0001))) < 1e-9)
    #expect(abs(alignment.placeCovariance.yy - 0.03) < 1e-12)
    #expect(abs(alignment.yawVariance - 0.0007) < 1e-12)
  }

  @Test("peers correct the path of a device, and say how well")
  func corrected() throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.radio.measuresAngles = false
    scenario.duration = 90
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftRadians = 0.6.degreesAsRadians
    var (raw, error, normalized, count) = (0.0, 0.0, 0.0, 0)
    for seed in 0..<12 as Range<UInt64> {
      let run = scenario.simulated(seed: seed, peerCount: 6)
      var configuration = scenario.matchingConfiguration
      // The simulated odometry has no scale error.
      configuration.odometry.scaleSigma = 0
      var engine = try FusionEngine(configuration)
      let peers = run.peers.map { _ in engine.addPeer() }
      #expect(engine.mapAlignment == nil)
      run.feed(&engine, as: peers) { index, _, engine in
        let sample = run.samples[index]
        guard sample.seconds > 45, let alignment = engine.mapAlignment else { return }
        // A peer at rest is at one place of the map; in the odometry's world it strays with the drift.
        let first = run.samples.first { $0.peer == sample.peer }?.peerInOdometry ?? .zero
        let strayed = sample.peerInOdometry - first
        let away = alignment.mapFromWorld.act(sample.peerInOdometry) - first
        raw += strayed.dot(strayed)
        error += away.dot(away)
        let sight = sample.peerInOdometry - sample.odometryFromDevice.translation
        let variance =
          alignment.placeCovariance.trace
          + alignment.yawVariance * (sight.x * sight.x + sight.z * sight.z)
        normalized += away.dot(away) / variance
        count += 1
      }
    }
    let ratio = (error / raw).squareRoot()
    #expect(count > 100 && ratio < 0.5, "\(ratio) of the odometry's drift is left")
    #expect((0.2...2).contains(normalized / Double(count)), "\(normalized / Double(count))")
  }
}
