// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// All unknowns at one point: where the device was in a world that does not drift, and where the peers.
struct SmoothingState: Sendable {
  /// The device at each knot: its place, and the yaw by which the odometry's world is turned.
  var devices: [DeviceCorrection]
  /// What does not change about each peer.
  var peers: [PeerParameters]
  /// For each knot each moving peer in turn.
  var motions: [Kinematics]
}

/// The device in the fixed world at one knot.
struct DeviceCorrection: Hashable, Sendable {
  /// The device's place in the fixed world, metres.
  var place: Vector3
  /// By how much vectors of the odometry's world are turned about gravity to those of the fixed one.
  var yawRadians: Double
}

/// What does not change about a peer.
struct PeerParameters: Hashable, Sendable {
  /// Its place in the fixed world, metres; of a moving peer not used.
  var position: Vector3
  /// The constant error of its ranges, metres.
  var rangeBias = 0.0
  /// The scale error of its ranges.
  var rangeScale = 0.0
}

/// A moving peer at one knot.
struct Kinematics: Hashable, Sendable {
  /// Metres in the fixed world.
  var position: Vector3
  /// Metres per second there.
  var velocity = Vector3.zero
}

extension SmoothingState {
  /// Where a peer is in the odometry's world as it was at a knot.
  ///
  ///     p = d + Rᵀ (x - c)
  ///
  /// with `x` the peer and `c` the device in the fixed world, `d` the device in the odometry's.
  func position(ofPeerAt x: Vector3, knot: Int, device d: Vector3) -> Vector3 {
    d + YawTurn(devices[knot].yawRadians).actBack(x - devices[knot].place)
  }
}
