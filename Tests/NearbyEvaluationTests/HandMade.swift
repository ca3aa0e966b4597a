// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

@testable import NearbyEvaluation

extension Moment {
  /// A hand-made moment, by default converged, right and published.
  ///
  /// The claimed covariance is isotropic, so that NEES is three times the squared error over the squared
  /// total claim.
  static func at(
    _ seconds: Double, isConverged: Bool = true, error: Vector3 = .zero, claimed: Double = 0.3,
    bound: Double = 0.3, distance: Double = 4, travelled: Double = 0, contradicts: Bool = false,
    isPlaced: Bool? = nil, innovations: PerKind<Double?> = PerKind(repeating: nil)
  ) -> Moment {
    var outputs = OutputErrors()
    outputs.isPlaced = isPlaced ?? isConverged
    return Moment(
      seconds: seconds,
      convergence: isConverged ? .converged : .notConverged(.insufficientMovement),
      errorInOdometry: error, claimedSigma: claimed,
      normalizedErrorSquared: 3 * error.dot(error) / (claimed * claimed), bound: bound,
      distance: distance, heightDifference: 1, travelled: travelled, outputs: outputs,
      normalizedInnovationSquared: innovations, contradictsFormerPlace: contradicts,
      hypothesisCount: 1)
  }
}

extension RunRecord {
  /// A record of hand-made moments with a constant line of sight.
  static func of(
    _ moments: [Moment], seed: UInt64 = 0, event: RunEvent? = nil
  ) -> RunRecord {
    var record = RunRecord(seed: seed, event: event)
    for moment in moments { record.add(moment, lineOfSight: Vector3(1, 0, 0)) }
    return record
  }
}
