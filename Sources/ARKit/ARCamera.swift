// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyFusion
package import NearbyGeometry
public import simd

/// The pose of the camera, and its quality.
public final class ARCamera: NSObject, NSCopying, Sendable {
  /// How well the odometry tracks.
  public enum TrackingState: Hashable, Sendable {
    /// The reason why tracking is limited.
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

    /// Poses are not valid.
    case notAvailable
    /// Poses drift faster than usual.
    case limited(Reason)
    /// Poses are good.
    case normal
  }

  /// Camera axes to the world (+y up), metres.
  ///
  /// The axes are fixed to the device and named for landscape with the home button at the right: +x
  /// points along the long side toward the bottom of the phone, +y to the right edge of a phone in
  /// portrait, +z out of the screen toward the user. Directions to peers, such as
  /// `NINearbyObject.direction`, are in the axes of portrait instead, to which
  /// ``viewMatrix(for:)`` takes the world.
  public let transform: simd_float4x4
  /// How well the odometry tracks.
  public let trackingState: TrackingState

  /// The width and height of the image in landscape, pixels.
  ///
  /// There is no image. Its size and ``intrinsics`` are those of a phone's wide camera, so that
  /// projections have the usual field of view: 67 degrees along the long side.
  public var imageResolution: CGSize { ARConfiguration.VideoFormat.only.imageResolution }

  /// Takes a point in camera axes with +y down and +z ahead to homogeneous pixels of the image.
  ///
  /// The focal length is 1450 pixels and the principal point is the centre of the image.
  public var intrinsics: simd_float3x3 {
    let size = imageResolution
    return simd_float3x3(
      simd_float3(Self.focalLength, 0, 0), simd_float3(0, Self.focalLength, 0),
      simd_float3(Float(size.width / 2), Float(size.height / 2), 1))
  }

  private static let focalLength: Float = 1450

  init(transform: simd_float4x4, trackingState: TrackingState) {
    self.transform = transform
    self.trackingState = trackingState
  }

  /// The attitude of the camera axes: pitch about x, yaw about y and roll about z, radians, the roll acting first.
  ///
  /// An upright phone in portrait has a roll of -π/2.
  public var eulerAngles: simd_float3 {
    let (x, y, z) = (transform.columns.0, transform.columns.1, transform.columns.2)
    return simd_float3(
      asin(max(-1, min(1, -z.y))), atan2(z.x, z.z), atan2(x.y, y.y))
  }

  /// The camera itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

// MARK: - Projection

extension ARCamera {
  /// The projection of an image that fills a viewport of its own size in landscape, for depths
  /// from 0.001 m to 1000 m.
  public var projectionMatrix: simd_float4x4 {
    projectionMatrix(
      for: .landscapeRight, viewportSize: imageResolution, zNear: 0.001, zFar: 1000)
  }

  /// The projection of an image that fills a viewport and is cut where it is longer.
  ///
  /// - Parameters:
  ///   - orientation: The orientation in which the image is shown.
  ///   - viewportSize: The width and height of the view, points.
  ///   - zNear: The distance of the near clipping plane, metres.
  ///   - zFar: The distance of the far clipping plane, metres.
  /// - Returns: Takes view axes (``viewMatrix(for:)``) to clip space, whose depth is 0 at the near
  ///   plane and 1 at the far plane.
  public func projectionMatrix(
    for orientation: UIInterfaceOrientation, viewportSize: CGSize, zNear: CGFloat, zFar: CGFloat
  ) -> simd_float4x4 {
    let image = imageResolution
    let (width, height) =
      orientation.isPortrait ? (image.height, image.width) : (image.width, image.height)
    let scale = max(viewportSize.width / width, viewportSize.height / height)
    let focalLength = CGFloat(Self.focalLength) * scale
    let depth = zFar / (zNear - zFar)
    return simd_float4x4(
      simd_float4(Float(2 * focalLength / viewportSize.width), 0, 0, 0),
      simd_float4(0, Float(2 * focalLength / viewportSize.height), 0, 0),
      simd_float4(0, 0, Float(depth), -1), simd_float4(0, 0, Float(depth * zNear), 0))
  }

  /// The transform from the world to the axes of a view: +x right, +y up, +z toward the user.
  ///
  /// The view's axes for ``UIInterfaceOrientation/portrait`` are the device axes of Nearby
  /// Interaction, and those for ``UIInterfaceOrientation/landscapeRight`` the camera axes.
  ///
  /// - Parameter orientation: The orientation of the view.
  /// - Returns: The transform, metres.
  public func viewMatrix(for orientation: UIInterfaceOrientation) -> simd_float4x4 {
    orientation.viewFromCamera * transform.inverse
  }

  /// The place of a point in a view.
  ///
  /// - Parameters:
  ///   - point: The point in the world, metres.
  ///   - orientation: The orientation of the view.
  ///   - viewportSize: The width and height of the view, points.
  /// - Returns: Points from the upper left corner. A point behind the camera is mirrored at the
  ///   centre, as every perspective does; test the sign of its depth in view axes.
  public func projectPoint(
    _ point: simd_float3, orientation: UIInterfaceOrientation, viewportSize: CGSize
  ) -> CGPoint {
    let projection = projectionMatrix(
      for: orientation, viewportSize: viewportSize, zNear: 0.001, zFar: 1000)
    let clip = projection * viewMatrix(for: orientation) * simd_float4(point, 1)
    return CGPoint(
      x: (1 + CGFloat(clip.x / clip.w)) / 2 * viewportSize.width,
      y: (1 - CGFloat(clip.y / clip.w)) / 2 * viewportSize.height)
  }

  /// The point of a plane that is seen at a place of a view.
  ///
  /// - Parameters:
  ///   - point: The place in the view, points from the upper left corner.
  ///   - planeTransform: The plane's axes to the world; the plane is that of its x and z axes.
  ///   - orientation: The orientation of the view.
  ///   - viewportSize: The width and height of the view, points.
  /// - Returns: The point in the world, metres; `nil` if the plane is not in front of the camera
  ///   there.
  public func unprojectPoint(
    _ point: CGPoint, ontoPlane planeTransform: simd_float4x4, orientation: UIInterfaceOrientation,
    viewportSize: CGSize
  ) -> simd_float3? {
    let projection = projectionMatrix(
      for: orientation, viewportSize: viewportSize, zNear: 0.001, zFar: 1000)
    let ray = simd_float4(
      Float(2 * point.x / viewportSize.width - 1) / projection[0, 0],
      Float(1 - 2 * point.y / viewportSize.height) / projection[1, 1], -1, 0)
    let worldFromView = viewMatrix(for: orientation).inverse
    let start = simd_make_float3(worldFromView.columns.3)
    let direction = simd_make_float3(worldFromView * ray)
    let normal = simd_make_float3(planeTransform.columns.1)
    let gap = simd_make_float3(planeTransform.columns.3) - start
    let steps = simd_dot(normal, gap) / simd_dot(normal, direction)
    return steps.isFinite && steps > 0 ? start + steps * direction : nil
  }
}

extension UIInterfaceOrientation {
  /// The turn from the camera axes to those of a view.
  fileprivate var viewFromCamera: simd_float4x4 {
    let (x, y): (simd_float2, simd_float2) =
      switch self {
      case .portrait: (simd_float2(0, -1), simd_float2(1, 0))
      case .portraitUpsideDown: (simd_float2(0, 1), simd_float2(-1, 0))
      case .landscapeRight, .unknown: (simd_float2(1, 0), simd_float2(0, 1))
      case .landscapeLeft: (simd_float2(-1, 0), simd_float2(0, -1))
      }
    return simd_float4x4(
      simd_float4(x.x, x.y, 0, 0), simd_float4(y.x, y.y, 0, 0), simd_float4(0, 0, 1, 0),
      simd_float4(0, 0, 0, 1))
  }
}

// MARK: - From and to the engine's types

extension ARCamera {
  /// The camera axes of a device with a pose in the world, to that world.
  package static func transform(of worldFromDevice: RigidTransform) -> simd_float4x4 {
    let turn = RigidTransform(rotation: .deviceFromARKitCamera, translation: .zero)
    return simd_float4x4(worldFromDevice * turn)
  }

  /// The pose of the device, with the axes of portrait.
  package var worldFromDevice: RigidTransform {
    let columns = [transform.columns.0, transform.columns.1, transform.columns.2]
      .map { Vector3($0) }
    return RigidTransform(
      rotation: Rotation(xAxis: columns[0], yAxis: columns[1], zAxis: columns[2])
        * Rotation.deviceFromARKitCamera.inverse,
      translation: Vector3(transform.columns.3))
  }
}

extension Vector3 {
  /// The first three components, in double precision.
  fileprivate init(_ column: simd_float4) {
    self.init(Double(column.x), Double(column.y), Double(column.z))
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
