// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import simd

/// A ray, for the surfaces that it meets.
public final class ARRaycastQuery: NSObject, Sendable {
  /// The surfaces at which a ray may end.
  public enum Target: Int, Sendable {
    /// A detected surface within its outline.
    case existingPlaneGeometry = 0
    /// The plane of a detected surface beyond its outline.
    case existingPlaneInfinite = 1
    /// A surface that is guessed around the ray.
    case estimatedPlane = 2
  }

  /// The orientation of such a surface.
  public enum TargetAlignment: Int, Sendable {
    /// Horizontal, like a floor.
    case horizontal = 0
    /// Vertical, like a wall.
    case vertical = 1
    /// Any.
    case any = 2
  }

  /// The start of the ray in the world, metres.
  public let origin: simd_float3
  /// The direction of the ray in the world, of length one.
  public let direction: simd_float3
  /// The surfaces at which it may end.
  public let target: Target
  /// The orientation of such a surface.
  public let targetAlignment: TargetAlignment

  /// Makes a ray.
  ///
  /// - Parameters:
  ///   - origin: Its start in the world, metres.
  ///   - direction: Its direction in the world.
  ///   - target: The surfaces at which it may end.
  ///   - alignment: The orientation of such a surface.
  public init(
    origin: simd_float3, direction: simd_float3, allowing target: Target,
    alignment: TargetAlignment
  ) {
    self.origin = origin
    self.direction = simd_normalize(direction)
    self.target = target
    targetAlignment = alignment
  }
}

/// A surface that a ray has met.
///
/// None is ever met here.
public final class ARRaycastResult: NSObject, Sendable {
  /// The axes of the surface, at the point that was met, to the world, metres.
  public let worldTransform: simd_float4x4
  /// The kind of surface.
  public let target: ARRaycastQuery.Target
  /// The orientation of the surface.
  public let targetAlignment: ARRaycastQuery.TargetAlignment
  /// The anchor of the surface, if it has one.
  public let anchor: ARAnchor?

  init(worldTransform: simd_float4x4, query: ARRaycastQuery, anchor: ARAnchor?) {
    self.worldTransform = worldTransform
    target = query.target
    targetAlignment = query.targetAlignment
    self.anchor = anchor
  }
}

/// A ray that a session casts again with each frame.
///
/// No instance exists: ``ARSession/trackedRaycast(_:updateHandler:)`` returns `nil`.
public final class ARTrackedRaycast: NSObject, Sendable {
  override init() {}

  /// Ends the casting.
  public func stopTracking() {}
}

extension ARSession {
  /// The surfaces that a ray meets: none, since no surface is known here.
  ///
  /// - Parameter query: The ray.
  /// - Returns: Always empty.
  public func raycast(_ query: ARRaycastQuery) -> [ARRaycastResult] { [] }

  /// Casts a ray with each frame: never here, since no surface is known.
  ///
  /// - Parameters:
  ///   - query: The ray.
  ///   - updateHandler: Never called.
  /// - Returns: Always `nil`, which on a phone says that the ray cannot be cast.
  public func trackedRaycast(
    _ query: ARRaycastQuery, updateHandler: @escaping ([ARRaycastResult]) -> Void
  ) -> ARTrackedRaycast? { nil }
}

extension ARFrame {
  /// The ray from the camera through a point of its image.
  ///
  /// - Parameters:
  ///   - point: The point in the image of landscape, from (0, 0) at the upper left to (1, 1) at the
  ///     lower right.
  ///   - target: The surfaces at which it may end.
  ///   - alignment: The orientation of such a surface.
  /// - Returns: The ray in the world.
  public func raycastQuery(
    from point: CGPoint, allowing target: ARRaycastQuery.Target,
    alignment: ARRaycastQuery.TargetAlignment
  ) -> ARRaycastQuery {
    let size = camera.imageResolution
    let pixel = simd_float3(Float(point.x * size.width), Float(point.y * size.height), 1)
    let inImage = camera.intrinsics.inverse * pixel
    let ray = camera.transform * simd_float4(inImage.x, -inImage.y, -inImage.z, 0)
    return ARRaycastQuery(
      origin: simd_make_float3(camera.transform.columns.3), direction: simd_make_float3(ray),
      allowing: target, alignment: alignment)
  }
}
