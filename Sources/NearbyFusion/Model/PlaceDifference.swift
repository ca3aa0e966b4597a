// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The difference d of two places, and its covariance C.
struct PlaceDifference {
  /// In a world's axes, metres.
  var offset: Vector3
  /// m².
  var covariance: SymmetricMatrix3

  /// Differences beyond both, in metres and in standard deviations, are those of two places.
  private static let leastMetres = 0.5
  private static let sigmas = 4.0

  /// Whether they are two places: |d| > 0.5 m and d² > 16 uᵀ C u, with u = d/|d|.
  var isSignificant: Bool {
    let distance = offset.length
    guard distance > Self.leastMetres else { return false }
    return distance * distance
      > Self.sigmas * Self.sigmas * covariance.quadraticForm(offset / distance)
  }
}
