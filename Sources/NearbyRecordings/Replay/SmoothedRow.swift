// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// What a batch estimator says after the whole recording about one row of `ranging.csv`.
///
/// Everything is in the engine's frames.
public struct SmoothedRow: Hashable, Sendable {
  /// The row's moment.
  public var timestamp: Timestamp
  /// The peer's name.
  public var peer: String
  /// The peer's place in the recording's list of peers.
  public var peerIndex: Int
  /// The device in the odometry's world; `nil` where the odometry cannot say.
  public var worldFromDevice: RigidTransform?
  /// The peer in the odometry's world as it was at that moment, metres; `nil` when nothing of its
  /// samples could be used.
  public var positionInWorld: Vector3?
  /// Its covariance, m².
  public var covariance: SymmetricMatrix3
  /// The probability of the mode, among the places where the peer may be, that the position is in;
  /// `nil` when there is none.
  public var modeProbability: Double?
  /// The peer's bearing relative to the device's heading, radians, positive to the right.
  public var horizontalAngleRadians: Double?

  /// Makes a row.
  public init(
    timestamp: Timestamp, peer: String, peerIndex: Int, worldFromDevice: RigidTransform?,
    positionInWorld: Vector3?, covariance: SymmetricMatrix3, modeProbability: Double?,
    horizontalAngleRadians: Double?
  ) {
    self.timestamp = timestamp
    self.peer = peer
    self.peerIndex = peerIndex
    self.worldFromDevice = worldFromDevice
    self.positionInWorld = positionInWorld
    self.covariance = covariance
    self.modeProbability = modeProbability
    self.horizontalAngleRadians = horizontalAngleRadians
  }

  /// The vector from the device to the peer in device axes.
  var fromDevice: Vector3? {
    guard let worldFromDevice, let positionInWorld else { return nil }
    return worldFromDevice.inverse.act(positionInWorld)
  }

  /// The unit vector along ``fromDevice``; `nil` when the two are in one place, too.
  var directionFromDevice: Vector3? {
    fromDevice.flatMap { $0.length > 0 ? $0.normalized : nil }
  }
}
