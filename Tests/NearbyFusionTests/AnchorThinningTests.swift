// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// Samples to anchors in turn, of which some are left out.
@Suite("Anchor thinning")
struct AnchorThinningTests {
  private static func point(at place: Vector3, seconds: Double) -> TrajectoryPoint {
    TrajectoryPoint(
      worldFromDevice: RigidTransform(rotation: .identity, translation: place),
      timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: seconds))
  }

  @Test("of anchors in turn, equally many samples remain", arguments: [1, 3, 4, 5])
  func rounds(anchors: Int) {
    var thinning = AnchorThinning(400, toAtMost: 100, anchors: anchors)
    var chosen = [Int](repeating: 0, count: anchors)
    for sample in 0..<400 where thinning.chooses(sample % anchors) { chosen[sample % anchors] += 1 }
    #expect(chosen.allSatisfy { abs($0 - 100 / anchors) <= 1 }, "\(chosen)")
  }

  @Test("few samples all remain", arguments: [1, 99, 100])
  func few(samples: Int) {
    var thinning = AnchorThinning(samples, toAtMost: 100, anchors: 1)
    #expect((0..<samples).count { _ in thinning.chooses(0) } == samples)
  }

  @Test("a device that ranges to four anchors in turn has one place, however many ranges there are")
  func oneSolution() throws {
    let anchors = [
      Vector3(0, 2.6, 0), Vector3(8, 0.4, 0.5), Vector3(7.5, 2.2, 6), Vector3(0.5, 0.8, 7),
    ]
    var window = AnchorWindow(
      anchors: anchors, errors: anchors.map { _ in AnchorError(variance: 0.01, scaleSigma: 0) })
    var device = Self.point(at: .zero, seconds: 0)
    for step in 0..<400 {
      let seconds = 0.1 * Double(step)
      let place = Vector3(4 + 2 * sin(0.4 * seconds), 1.4, 3 + 0.05 * seconds)
      device = Self.point(at: place, seconds: seconds)
      let anchor = step % anchors.count
      _ = window.add(
        (anchors[anchor] - place).length, to: anchor, sigma: 0.1, from: device,
        antennaInDevice: .zero)
    }
    let solutions = window.solutions(
      at: device, FusionConfiguration(),
      anchors: Dictionary(uniqueKeysWithValues: anchors.enumerated().map { ($0, $1) }))
    #expect(solutions.count == 1)
    let found = try #require(solutions.first)
    #expect((found.position - device.worldFromDevice.translation).length < 0.05)
  }
}
