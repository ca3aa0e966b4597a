// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// What a batch estimator takes over from an engine that has seen the same.
extension FusionEngine {
  /// The newest point of the trajectory.
  package var newestDevicePoint: TrajectoryPoint? { trajectory.newest }

  /// The device at a moment; `nil` when no pose is near enough, or when the odometry had none worth
  /// the name.
  package func trackedDevicePoint(at time: Timestamp) -> TrajectoryPoint? {
    guard let point = trajectory.point(at: time), point.isTracked else { return nil }
    return point
  }

  /// The hypotheses about a peer, the heaviest first, in the odometry's world at the device point
  /// that stands beside them; `nil` before the first sample that could be used.
  package func hypotheses(
    of peer: PeerID
  ) -> (device: TrajectoryPoint, hypotheses: [PositionMode])? {
    guard owns(peer), let incumbent = peers[peer.index].incumbent(settings) else { return nil }
    let bank = incumbent.bank
    let hypotheses = (0..<bank.count).map { index in
      PositionMode(
        probability: bank.weight(index), positionInWorld: bank.position(index),
        covarianceInWorld: bank.positionCovariance(index))
    }
    return (incumbent.device, hypotheses.sorted { $0.probability > $1.probability })
  }
}
