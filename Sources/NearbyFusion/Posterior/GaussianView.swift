// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The posterior when one hypothesis is left: mean and covariance say all.
struct GaussianView: PosteriorView {
  let worldFromDevice: RigidTransform
  let mean: Vector3
  let covariance: SymmetricMatrix3
  let toBest: Vector3

  /// A Gaussian as it is.
  @inline(__always)
  init(_ mean: Vector3, _ covariance: SymmetricMatrix3, from worldFromDevice: RigidTransform) {
    self.worldFromDevice = worldFromDevice
    self.mean = mean
    self.covariance = covariance
    toBest = mean - worldFromDevice.translation
  }

  /// Not stored: a sample that changes no verdict needs none.
  @inline(__always)
  var best: LineOfSight { LineOfSight(toBest, covariance) }

  /// A Gaussian of the newest sample's time, as seen later.
  @inline(__always)
  init(
    _ mean: Vector3, _ covariance: SymmetricMatrix3, from worldFromDevice: RigidTransform,
    drift: OdometryDrift
  ) {
    let toPeer = mean - worldFromDevice.translation
    self.init(mean, covariance + drift.covariance(for: toPeer), from: worldFromDevice)
  }

  @inline(__always)
  func weightAroundBest(withinSquared squaredRadius: Double) -> Double { 1 }

  @inline(__always)
  func distance(_ best: LineOfSight) -> (mean: Double, variance: Double) { best.distance }

  @inline(__always)
  func direction(_ best: LineOfSight) -> (unit: Vector3, variance: Double) {
    best.direction(worldFromDevice.rotation)
  }

  @inline(__always)
  func horizontalAngle() -> (mean: Double, variance: Double) {
    let (angle, variance) = bearing(toBest, covariance, Heading(worldFromDevice.rotation))
    return (angle, variance < Self.widestVariance ? variance : .infinity)
  }

  /// Beyond this variance, -2 log 1e-12, nothing is left of the mean direction's length,
  /// exp(-variance/2).
  private static let widestVariance = 55.262042231857095

  @inline(__always)
  func verticalProbabilities(sameLevelWithin limit: Double) -> (above: Double, below: Double) {
    tails(toBest.y, covariance.yy, limit)
  }
}
