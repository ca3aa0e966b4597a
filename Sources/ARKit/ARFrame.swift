// SPDX-License-Identifier: Apache-2.0
public import Foundation
package import NearbyGeometry
@_exported public import simd

/// The state of the camera and the odometry at one time, without an image.
public final class ARFrame: NSObject, NSCopying, Sendable {
  /// The time, seconds on the device's monotonic clock.
  public let timestamp: TimeInterval
  /// The camera.
  public let camera: ARCamera
  /// The light of the scene, if it is estimated.
  public let lightEstimate: ARLightEstimate?
  /// The anchors that the app added.
  public let anchors: [ARAnchor]

  /// The completeness of a stored world.
  public enum WorldMappingStatus: Int, Sendable {
    /// No world can be stored.
    case notAvailable = 0
    /// The world covers too little.
    case limited = 1
    /// The world covers the surroundings except for the newest part.
    case extending = 2
    /// The world covers the surroundings.
    case mapped = 3
  }

  /// The points that the camera saw: none, since there is no image.
  public var rawFeaturePoints: ARPointCloud? { nil }

  /// The completeness of a stored world.
  ///
  /// No world is stored here.
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

/// The light of the scene.
public final class ARLightEstimate: NSObject, Sendable {
  /// Lumens; 1000 is a well lit room.
  public let ambientIntensity: Double
  /// Kelvin.
  ///
  /// The colour of the light is not measured and is assumed to be white.
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
