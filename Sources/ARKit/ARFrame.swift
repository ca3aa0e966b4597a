// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyFusion
package import NearbyGeometry
@_exported public import simd

/// What the camera and the odometry know at one moment; without an image.
public final class ARFrame: NSObject, NSCopying, Sendable {
  /// The moment, seconds on the device's monotonic clock.
  public let timestamp: TimeInterval
  /// Where the camera is.
  public let camera: ARCamera
  /// How light the scene is, if that is estimated.
  public let lightEstimate: ARLightEstimate?
  /// What the app has attached to the world.
  public let anchors: [ARAnchor]

  /// How much of the surroundings a stored world would hold.
  public enum WorldMappingStatus: Int, Sendable {
    /// There is none.
    case notAvailable = 0
    /// Too little.
    case limited = 1
    /// The surroundings but for the newest part.
    case extending = 2
    /// The surroundings.
    case mapped = 3
  }

  /// How much of the surroundings a stored world would hold: here no world is stored.
  public var worldMappingStatus: WorldMappingStatus { .notAvailable }

  init(
    timestamp: TimeInterval, camera: ARCamera, lightEstimate: ARLightEstimate?,
    anchors: [ARAnchor]
  ) {
    self.timestamp = timestamp
    self.camera = camera
    self.lightEstimate = lightEstimate
    self.anchors = anchors
  }

  /// The frame itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Where the camera is, and how well that is known.
public final class ARCamera: NSObject, NSCopying, Sendable {
  /// How well the odometry tracks.
  public enum TrackingState: Hashable, Sendable {
    /// Why tracking is limited.
    public enum Reason: Hashable, Sendable {
      /// The odometry has just started.
      case initializing
      /// The device moves too fast.
      case excessiveMotion
      /// The camera sees too little.
      case insufficientFeatures
      /// The odometry tries to find its earlier world again.
      case relocalizing
    }

    /// Poses mean nothing.
    case notAvailable
    /// Poses drift faster than usual.
    case limited(Reason)
    /// Poses are good.
    case normal
  }

  /// Camera axes (+x right, +y up, +z toward the user) to the world (+y up), metres.
  ///
  /// ARKit's camera axes are those of a device in landscape; here they are those of the device as it is
  /// held in portrait, the axes of all directions in this package.
  public let transform: simd_float4x4
  /// How well the odometry tracks.
  public let trackingState: TrackingState

  init(transform: simd_float4x4, trackingState: TrackingState) {
    self.transform = transform
    self.trackingState = trackingState
  }

  /// The attitude: pitch about x, yaw about y and roll about z, radians, the roll acting first.
  public var eulerAngles: simd_float3 {
    let (x, y, z) = (transform.columns.0, transform.columns.1, transform.columns.2)
    return simd_float3(
      asin(max(-1, min(1, -z.y))), atan2(z.x, z.z), atan2(x.y, y.y))
  }

  /// The camera itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// How light the scene is.
public final class ARLightEstimate: NSObject, Sendable {
  /// Lumens; 1000 is a well lit room.
  public let ambientIntensity: Double
  /// Kelvin; the colour of the light is not measured, it counts as white.
  public var ambientColorTemperature: Double { 6500 }

  init(ambientIntensity: Double) { self.ambientIntensity = ambientIntensity }
}

// MARK: - From the engine's types

extension simd_float4x4 {
  /// The same transform in single precision.
  package init(_ transform: RigidTransform) {
    func column(_ v: Vector3, _ w: Float) -> simd_float4 {
      simd_float4(Float(v.x), Float(v.y), Float(v.z), w)
    }
    self.init(
      column(transform.rotation.xAxis, 0), column(transform.rotation.yAxis, 0),
      column(transform.rotation.zAxis, 0), column(transform.translation, 1))
  }
}

extension ARCamera.TrackingState {
  init(_ quality: TrackingSample.Quality) {
    switch quality {
    case .normal: self = .normal
    case .notAvailable: self = .notAvailable
    case .limited(let reason):
      switch reason {
      case .initializing, .unspecified: self = .limited(.initializing)
      case .relocalizing: self = .limited(.relocalizing)
      case .excessiveMotion: self = .limited(.excessiveMotion)
      case .insufficientFeatures: self = .limited(.insufficientFeatures)
      }
    }
  }
}
