// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyRecordings

@Suite("Alignment of paths")
struct PathAlignmentTests {
  /// Far from the origin, so that lost digits would be seen.
  private let points = (0..<20).map { index in
    let t = 0.3 * Double(index)
    return Vector3(1e5 + 3 * t, 0.2 * t, 2e5 + t * t)
  }

  @Test(arguments: [-3.0, -1, 0, 0.5, 2, 3.1])
  func turnAndShiftAreFound(angle: Double) throws {
    let expected = RigidTransform(
      rotation: Rotation(angleRadians: angle, about: Vector3(0, 1, 0)),
      translation: Vector3(4, -5, 6))
    var alignment = PathAlignment()
    for point in points { alignment.add(point, expected.act(point)) }
    let found = try #require(alignment.transform)
    for point in points { #expect((found.act(point) - expected.act(point)).length < 1e-6) }
  }

  /// A tilt is no part of the alignment, since both worlds are level.
  @Test func itStaysUpright() throws {
    let tilt = Rotation(angleRadians: 0.2, about: Vector3(1, 0, 0))
    var alignment = PathAlignment()
    for point in points { alignment.add(point, tilt.act(point)) }
    let found = try #require(alignment.transform)
    #expect((found.rotation.act(Vector3(0, 1, 0)) - Vector3(0, 1, 0)).length < 1e-12)
  }

  @Test func withoutPairsThereIsNone() {
    #expect(PathAlignment().transform == nil)
  }
}
