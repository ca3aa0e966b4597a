// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// What a batch estimator takes over from an engine that has seen the same.
extension FusionEngine {
  /// One place where a peer may be.
  package struct PositionMode: Sendable {
    package var position: Vector3
    package var covariance: SymmetricMatrix3
    /// The share of the hypothesis, 0 to 1.
    package var weight: Double
  }

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
  package func modes(of peer: PeerID) -> (device: TrajectoryPoint, modes: [PositionMode])? {
    guard let incumbent = peers[peer.index].incumbent(settings) else { return nil }
    let bank = incumbent.bank
    let modes = (0..<bank.count).map { index in
      PositionMode(
        position: bank.position(index), covariance: bank.positionCovariance(index),
        weight: bank.weight(index))
    }
    return (incumbent.device, modes.sorted { $0.weight > $1.weight })
  }
}
