// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@testable import NearbyEnvironment

@Suite("Height differences in sessions")
struct SessionHeightTests {
  private static let time = Timestamp(nanoseconds: 5)

  @Test("A height difference alone is a measurement, and reaches the engine's sample")
  func measurement() throws {
    #expect(RadioMeasurement(timestamp: Self.time).isEmpty)
    let measurement = RadioMeasurement(
      timestamp: Self.time, heightDifference: -2.5, heightDifferenceSigma: 0.25)
    #expect(!measurement.isEmpty)
    var engine = try FusionEngine(FusionConfiguration())
    let peer = engine.addPeer(.stationary)
    #expect(
      measurement.sample(of: peer)
        == RangingSample(
          peer: peer, timestamp: Self.time, heightDifference: -2.5, heightDifferenceSigma: 0.25))
  }

  @Test("A recording's row is replayed with all it measured")
  func replay() {
    let row = RangingRow(
      timestamp: Self.time, peer: "keys", distance: 1, azimuthRadians: 2, elevationRadians: 3,
      distanceSigma: 4, azimuthSigmaRadians: 5, elevationSigmaRadians: 6, rssi: -70,
      isNonLineOfSight: true, heightDifference: 7, heightDifferenceSigma: 8)
    #expect(
      RadioMeasurement(row)
        == RadioMeasurement(
          timestamp: Self.time, distance: 1, azimuthRadians: 2, elevationRadians: 3,
          distanceSigma: 4, azimuthSigmaRadians: 5, elevationSigmaRadians: 6,
          isNonLineOfSight: true, peerAddress: "keys", signalStrength: -70, heightDifference: 7,
          heightDifferenceSigma: 8))
  }
}
