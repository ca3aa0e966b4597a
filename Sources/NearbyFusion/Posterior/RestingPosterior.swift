// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Where a peer is as of the newest sample: what most outputs are made of.
///
/// Performance: apart from the track, which is too large to be copied for each estimate.
struct RestingPosterior: Sendable, Codable {
  /// Whether the rest is the whole posterior, at any later time: there is a single hypothesis of a peer at
  /// rest.
  var isSingle = false
  /// The device at the newest sample.
  var device = TrajectoryPoint.nowhere
  /// Where the device has been.
  var spread = DeviceSpread()
  /// The mean and the covariance of the position.
  var mean = Vector3.zero
  var covariance = SymmetricMatrix3.zero

  /// How it is seen from the device at a later moment.
  @inline(__always)
  func view(from later: TrajectoryPoint, isPlanar: Bool) -> GaussianView {
    GaussianView(
      mean, covariance, from: later.worldFromDevice,
      drift: OdometryDrift(from: device, to: later, isPlanar: isPlanar))
  }
}
