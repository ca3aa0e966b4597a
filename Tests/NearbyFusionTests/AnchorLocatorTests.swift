// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// A device among anchors of known places.
@Suite("Anchor locator")
struct AnchorLocatorTests {
  /// Four anchors in the corners of a room, at different heights.
  private static let room = [
    Vector3(0, 2.6, 0), Vector3(8, 0.4, 0), Vector3(8, 2.4, 6), Vector3(0, 0.6, 6),
  ]

  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  /// A walk of a quarter of a minute with drift, bias and noise as configured.
  private struct Walk {
    var locator: AnchorLocator
    var truth = Vector3.zero
    var turn = 0.0
    var fixes: [AnchorFix?] = []

    init(
      seed: UInt64, anchors: [Vector3] = AnchorLocatorTests.room, moves: Bool = true,
      isLevel: Bool = false, outlierShare: Double = 0, seconds: Double = 15
    ) throws {
      var configuration = FusionConfiguration()
      configuration.ranging.rangeScaleSigma = 0
      configuration.ranging.antennaInDevice = Vector3(0.02, 0.05, 0.01)
      locator = try AnchorLocator(anchors: anchors, configuration)
      var generator = SeededGenerator(seed: seed)
      let start = Vector3(
        generator.uniform(in: 2...6), generator.uniform(in: 1...1.6), generator.uniform(in: 2...4))
      turn = generator.uniform(in: -.pi...Double.pi)
      let biases = anchors.map { _ in
        generator.normal(sigma: configuration.ranging.rangeBiasSigma)
      }
      let phase = generator.uniform(in: -.pi...Double.pi)
      for step in 0..<Int(10 * seconds) {
        let seconds = 0.1 * Double(step)
        let way =
          moves
          ? Vector3(
            1.2 * (sin(0.5 * seconds + phase) - sin(phase)), isLevel ? 0 : 0.2 * sin(seconds),
            cos(0.7 * seconds) - 1) : .zero
        truth = start + way
        // The odometry's world begins where the device does, turned.
        let worldFromSite = Rotation(angleRadians: -turn, about: Vector3(0, 1, 0))
        let attitude = Rotation(angleRadians: 0.3 * sin(seconds), about: Vector3(0, 1, 0))
        let pose = RigidTransform(
          rotation: worldFromSite * attitude, translation: worldFromSite.act(way))
        locator.add(DevicePose(timestamp: AnchorLocatorTests.time(seconds), worldFromDevice: pose))
        let antenna = truth + attitude.act(configuration.ranging.antennaInDevice)
        for (index, anchor) in anchors.enumerated() {
          var range = (anchor - antenna).length + biases[index]
          range += generator.normal(sigma: configuration.ranging.rangeSigma)
          if generator.uniform() < outlierShare { range += generator.exponential(mean: 3) }
          locator.add(range, to: index, at: AnchorLocatorTests.time(seconds))
        }
        if step % 10 == 9 { fixes.append(locator.locate()) }
      }
    }
  }

  @Test func aWalkerIsLocatedWithAnHonestSigma() throws {
    var (sum, turns, count) = (0.0, 0.0, 0.0)
    for seed in UInt64(0)..<60 {
      let walk = try Walk(seed: seed)
      let fix = try #require(walk.fixes.last ?? nil)
      let position = try #require(fix.position.value)
      let inverse = try #require(fix.covariance.positiveDefiniteInverse)
      sum += inverse.quadraticForm(position - walk.truth) / 3
      let transform = try #require(fix.siteFromWorld.value)
      let ahead = transform.rotation.zAxis
      let error = (atan2(ahead.x, ahead.z) - walk.turn).wrappedAngle
      turns += pow(error / fix.siteFromWorld.sigma, 2)
      count += 1
    }
    #expect((0.75...1.3).contains(sum / count))
    #expect((0.6...1.4).contains(turns / count))
  }

  @Test func withoutMovementThereIsAPlaceButNoTurn() throws {
    let walk = try Walk(seed: 3, moves: false)
    let fix = try #require(walk.fixes.last ?? nil)
    let position = try #require(fix.position.value)
    #expect((position - walk.truth).length < 4 * fix.position.sigma)
    #expect(fix.siteFromWorld.value == nil)
    #expect(fix.siteFromWorld.unavailability == .tooUncertain)
  }

  /// Anchors on one ceiling: above it or below it is not to be told by ranges on one level.
  @Test func aMirrorImageIsNoFix() throws {
    let ceiling = Self.room.map { Vector3($0.x, 2.5, $0.z) }
    let walk = try Walk(seed: 5, anchors: ceiling, isLevel: true)
    #expect(walk.fixes.allSatisfy { $0?.position.value == nil })
  }

  @Test(arguments: [1, 2])
  func tooFewAnchorsAreNoFix(_ count: Int) throws {
    let walk = try Walk(seed: 5, anchors: Array(Self.room.prefix(count)), moves: false)
    #expect(walk.fixes.allSatisfy { $0 != nil && $0?.position.value == nil })
  }

  @Test func outliersAreHeld() throws {
    var errors: [Double] = []
    for seed in UInt64(0)..<20 {
      let walk = try Walk(seed: seed, outlierShare: 0.1)
      guard let position = walk.fixes.last??.position.value else { continue }
      errors.append((position - walk.truth).length)
    }
    #expect(errors.count >= 18)
    #expect(errors.sorted()[errors.count / 2] < 0.35)
  }

  @Test func aLostWorldIsForgotten() throws {
    var walk = try Walk(seed: 7)
    #expect(walk.fixes.last??.position.value != nil)
    // The odometry's world jumps by two metres: ranges from before cannot be tied to it.
    walk.locator.add(
      DevicePose(
        timestamp: Self.time(15),
        worldFromDevice: RigidTransform(rotation: .identity, translation: Vector3(9, 9, 9))))
    let fix = walk.locator.locate()
    #expect(fix == nil)
  }

  @Test func derivativesAreThoseOfThePrediction() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<50 {
      let point = (0..<3).map { _ in generator.normal(sigma: 4) } + [generator.normal(sigma: 2)]
      let (way, anchor) = (generator.normalVector(sigma: 2), generator.normalVector(sigma: 4))
      func parameters(_ values: [Double]) -> SIMD4<Double> {
        SIMD4(values[0], values[1], values[2], values[3])
      }
      let numeric = NumericJacobian(at: point) {
        [AnchorProblem.prediction(parameters($0), way: way, anchor: anchor).distance]
      }
      let analytic = AnchorProblem.prediction(parameters(point), way: way, anchor: anchor)
      #expect(numeric.mismatch(with: [(0..<4).map { analytic.derivative[$0] }]) == nil)
    }
    // At the anchor itself there is none: it is taken upward.
    let there = AnchorProblem.prediction(.zero, way: .zero, anchor: .zero)
    #expect(there.distance == 0 && there.derivative == SIMD4(0, 1, 0, 0))
  }

  @Test func whatIsNoRangeIsLeftOut() throws {
    var locator = try AnchorLocator(anchors: Self.room)
    func isKept(
      _ distance: Double, to anchor: Int = 0, sigma: Double? = nil, at seconds: Double = 0
    ) -> Bool {
      locator.add(distance, to: anchor, sigma: sigma, at: Self.time(seconds))
    }
    func fix() -> AnchorFix? { locator.locate() }
    #expect(fix() == nil)
    #expect(!isKept(3))
    locator.add(DevicePose(timestamp: Self.time(0), worldFromDevice: .identity))
    #expect(fix() == nil)
    for bad in [Double.nan, -1, 0, .infinity] { #expect(!isKept(bad)) }
    #expect(!isKept(3, to: 4))
    #expect(!isKept(3, to: -1))
    #expect(!isKept(3, sigma: .nan))
    #expect(isKept(3))
    // Too soon after the anchor's last.
    #expect(!isKept(3, at: 0.05))
    #expect(throws: FusionConfigurationError.self) {
      try AnchorLocator(anchors: [Vector3(.nan, 0, 0)])
    }
  }
}
