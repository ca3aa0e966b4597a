// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The estimate of a batch estimator, from the whole recording, at one row of `ranging.csv`.
///
/// Everything is in the engine's frames.
public struct SmoothedRow: Hashable, Sendable {
  /// The row's time.
  public var timestamp: Timestamp
  /// The peer's name.
  public var peer: String
  /// The peer's index in the recording's list of peers.
  public var peerIndex: Int
  /// The device in the odometry's world; `nil` where there is no pose.
  public var worldFromDevice: RigidTransform?
  /// The peer in the odometry's world as it was at that moment, metres; `nil` when none of its
  /// samples could be used.
  public var positionInWorld: Vector3?
  /// Its covariance, m².
  public var covariance: SymmetricMatrix3
  /// The probability of the posterior mode to which the position belongs; `nil` when there is none.
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

  /// The unit vector along ``fromDevice``; `nil` also when device and peer coincide.
  var directionFromDevice: Vector3? {
    fromDevice.flatMap { $0.length > 0 ? $0.normalized : nil }
  }
}
