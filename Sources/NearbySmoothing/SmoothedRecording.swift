// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// What a smoother makes of a whole recording.
public struct SmoothedRecording: Hashable, Sendable {
  /// A track for each peer, in the order in which peers were added.
  public var tracks: [SmoothedTrack]
  /// The device's path; `nil` when no sample could be used.
  public var path: SmoothedPath?
}

/// What the whole recording says about one peer.
public struct SmoothedTrack: Hashable, Sendable {
  /// The peer.
  public var peer: PeerID
  /// How it moves: as it was said to, and for `PeerMotion.unknown` what explains the samples better.
  public var motion: PeerMotion
  /// The peer at each of its samples, in the order in which the samples were added; empty when none of
  /// them could be used.
  public var positions: [SmoothedPosition]
  /// The peer at the end of the recording, in the odometry's world as it was then.
  public var final: SmoothedPosition?
  /// The constant error of its ranges, metres.
  public var rangeBias: SmoothedParameter
  /// The scale error of its ranges, a ratio.
  public var rangeScale: SmoothedParameter
  /// The places where it may be at the end, the most probable first.
  public var modes: [SmoothedMode]
}

/// Where a peer was at one moment, given everything before and after it.
public struct SmoothedPosition: Hashable, Sendable {
  /// The moment.
  public var timestamp: Timestamp
  /// The device in the odometry's world; `nil` when the odometry cannot say where it was.
  public var worldFromDevice: RigidTransform?
  /// The posterior mean in the odometry's world as it was at that moment, metres.
  public var positionInWorld: Vector3
  /// The posterior covariance of the position relative to the device, in that world's axes, the spread
  /// between modes included, m².
  public var covarianceInWorld: SymmetricMatrix3

  /// Metres from the device to the peer.
  public var distance: Double? {
    worldFromDevice.map { (positionInWorld - $0.translation).length }
  }

  /// The unit vector from the device to the peer, in device axes.
  public var direction: Vector3? {
    worldFromDevice.map { $0.inverse.act(positionInWorld).normalized }
  }

  /// The peer's bearing about gravity relative to the device's heading, radians, positive to the right.
  public var horizontalAngleRadians: Double? {
    worldFromDevice.map { device in
      Heading(device.rotation).bearing(of: positionInWorld - device.translation)
    }
  }
}

/// A constant that was estimated on the way.
public struct SmoothedParameter: Hashable, Sendable {
  /// The estimate.
  public var value: Double
  /// One standard deviation.
  public var sigma: Double
}

/// One of the places where a peer may be.
public struct SmoothedMode: Hashable, Sendable {
  /// Its place at the end of the recording, in the odometry's world as it was then, metres.
  public var positionInWorld: Vector3
  /// The covariance around it, m².
  public var covarianceInWorld: SymmetricMatrix3
  /// Its probability.
  public var probability: Double
}
