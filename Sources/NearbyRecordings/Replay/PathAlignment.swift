// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyGeometry

/// The turn about gravity and the shift that bring one path closest to another.
///
/// They minimise the sum of the squared distances of pairs of points, `Σ |q - R p - t|²`. Both worlds have y
/// up and are level, so that one angle is left of the rotation. Sums are relative to the first pair, so that
/// large coordinates do not lose digits.
package struct PathAlignment {
  private var count = 0
  private var origins: (from: Vector3, to: Vector3) = (.zero, .zero)
  private var sums: (from: Vector3, to: Vector3) = (.zero, .zero)
  /// The sums of `q·p` and of `q × p` in the horizontal plane.
  private var products = (dot: 0.0, cross: 0.0)

  /// Makes an alignment without pairs.
  package init() {}

  /// Adds a point of the path that is moved, and the one at that time of the other path.
  package mutating func add(_ from: Vector3, _ to: Vector3) {
    if count == 0 { origins = (from, to) }
    let (p, q) = (from - origins.from, to - origins.to)
    count += 1
    sums = (sums.from + p, sums.to + q)
    products.dot += q.x * p.x + q.z * p.z
    products.cross += q.x * p.z - q.z * p.x
  }

  /// The transform of the first path's world to the other's; `nil` without a pair.
  package var transform: RigidTransform? {
    guard count > 0 else { return nil }
    let (p, q) = (sums.from / Double(count), sums.to / Double(count))
    let dot = products.dot - Double(count) * (q.x * p.x + q.z * p.z)
    let cross = products.cross - Double(count) * (q.x * p.z - q.z * p.x)
    let turn = Rotation(angleRadians: atan2(cross, dot), about: Vector3(0, 1, 0))
    return RigidTransform(
      rotation: turn, translation: origins.to + q - turn.act(origins.from + p))
  }
}
