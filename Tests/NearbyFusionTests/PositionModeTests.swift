// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import Testing

@testable import NearbyFusion

@Suite("Places where a peer may be")
struct PositionModeTests {
  private func hypothesis(_ weight: Double, x: Double, sigma: Double = 1) -> PositionMode {
    let variance = sigma * sigma
    return PositionMode(
      probability: weight, positionInWorld: Vector3(x, 0, 0),
      covarianceInWorld: SymmetricMatrix3(
        xx: variance, xy: 0, xz: 0, yy: variance, yz: 0, zz: variance))
  }

  /// The sum of two equal Gaussians has two peaks where their means are more than two standard deviations apart.
  @Test(arguments: [(1.9, 1), (2.1, 2)])
  func twoPeaksAreTwoModes(distance: Double, count: Int) {
    let modes = PositionMode.grouping([hypothesis(0.5, x: 0), hypothesis(0.5, x: distance)])
    #expect(modes.count == count)
    #expect(abs(modes.reduce(0) { $0 + $1.probability } - 1) < 1e-12)
  }

  @Test func aModeHasTheMomentsOfItsHypotheses() {
    let modes = PositionMode.grouping([hypothesis(0.6, x: 0), hypothesis(0.2, x: 1)])
    #expect(modes.count == 1)
    // Mean 0.25, and 1 + 0.75 · 0.25² + 0.25 · 0.75².
    #expect(abs(modes[0].positionInWorld.x - 0.25) < 1e-12)
    #expect(abs(modes[0].covarianceInWorld.xx - 1.1875) < 1e-12)
    #expect(abs(modes[0].covarianceInWorld.yy - 1) < 1e-12)
    #expect(modes[0].probability == 1)
  }

  @Test func theLikeliestComesFirstAndWhatCountsNothingIsLeftOut() {
    let modes = PositionMode.grouping([
      hypothesis(0.3, x: 0), hypothesis(0.6995, x: 50), hypothesis(0.0005, x: 100),
    ])
    #expect(modes.map(\.positionInWorld.x) == [50, 0])
    #expect(abs(modes[0].probability - 0.6995 / 0.9995) < 1e-12)
  }

  /// Covariances of a plane have no inverse.
  @Test func hypothesesOfAPlaneAreToldApart() {
    var (a, b) = (hypothesis(0.5, x: 0), hypothesis(0.5, x: 8))
    a.covarianceInWorld.yy = 0
    b.covarianceInWorld.yy = 0
    #expect(PositionMode.grouping([a, b]).count == 2)
    #expect(PositionMode.grouping([a, a]).count == 1)
  }

  /// One range leaves a sphere of places, a walk across the line of sight one.
  @Test func anEngineTellsThem() throws {
    var engine = try FusionEngine(FusionConfiguration())
    let peer = engine.addPeer(.stationary)
    #expect(engine.modes(of: peer, at: Timestamp(nanoseconds: 0)).isEmpty)
    let place = Vector3(3, 1, -4)
    var counts: [Int] = []
    for step in 0..<150 {
      let time = Timestamp(nanoseconds: Int64(step) * 100_000_000)
      let seconds = 0.1 * Double(step)
      let device = Vector3(
        3 * sin(0.5 * seconds), 0.8 * sin(0.9 * seconds), 2 * cos(0.7 * seconds))
      engine.add(
        DevicePose(
          timestamp: time,
          worldFromDevice: RigidTransform(rotation: .identity, translation: device)))
      engine.add(
        RangingSample(peer: peer, timestamp: time, distance: (place - device).length))
      counts.append(engine.modes(of: peer, at: time).count)
    }
    #expect(counts[0] > 5)
    #expect(counts[149] == 1)
    let mode = try #require(
      engine.modes(of: peer, at: Timestamp(nanoseconds: 14_900_000_000)).first)
    let estimate = engine.estimate(of: peer)
    #expect((mode.positionInWorld - place).length < 0.5)
    #expect(try (mode.positionInWorld - #require(estimate.positionInWorld)).length < 1e-6)
  }
}
