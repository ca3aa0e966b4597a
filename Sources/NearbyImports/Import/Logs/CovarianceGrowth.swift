// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The growth of the covariances that odometry gives with its poses, from which its drift follows.
///
/// A covariance that does not grow is no drift: some drivers write the same numbers into each message.
struct CovarianceGrowth {
  private struct Variances {
    var position: Double
    var yaw: Double
  }

  private var first: Variances?
  private var last: Variances?
  private var place: Vector3?
  private var length = 0.0

  /// Takes the covariance of a pose: 36 numbers, row by row, position first.
  mutating func add(_ covariance: MessageValue, at place: Vector3, isZUp: Bool) {
    guard case .list(let elements) = covariance, elements.count == 36 else { return }
    let diagonal = (0..<6).compactMap { elements[7 * $0].number }
    guard diagonal.count == 6, diagonal.allSatisfy({ $0.isFinite && $0 >= 0 }) else { return }
    // Of an odometry in the plane the third is a number that means "unknown".
    let position = isZUp ? (diagonal[0] + diagonal[1]) / 2 : (diagonal[0] + diagonal[2]) / 2
    last = Variances(position: position, yaw: isZUp ? diagonal[5] : diagonal[4])
    first = first ?? last
    if let before = self.place { length += (place - before).length }
    self.place = place
  }

  /// The growth over the path as densities of a random walk, rounded up to two digits.
  ///
  /// `nil` when there is no path, or the covariance hardly grew.
  var drift: (position: Double, yawDegrees: Double)? {
    guard let first, let last, length > 1, last.position > 2 * first.position + 1e-6 else {
      return nil
    }
    let position = ((last.position - first.position) / length).squareRoot()
    let yaw = (max(last.yaw - first.yaw, 0) / length).squareRoot().radiansAsDegrees
    return (min(position.roundedUpToTwoDigits, 10), min(yaw.roundedUpToTwoDigits, 180))
  }
}
