// SPDX-License-Identifier: Apache-2.0

/// A rotation followed by a translation: `x ↦ R x + t`.
///
/// Named for its frames, destination first: `worldFromDevice` takes device coordinates to world
/// coordinates.
@frozen
public struct RigidTransform: Hashable, Sendable, Codable {
  /// The rotation `R`.
  public var rotation: Rotation
  /// The translation `t`, in metres, in the destination frame.
  public var translation: Vector3

  /// The identity transform.
  @inlinable
  public static var identity: RigidTransform {
    RigidTransform(rotation: .identity, translation: .zero)
  }

  /// Makes a transform from its two parts.
  @inlinable
  public init(rotation: Rotation, translation: Vector3) {
    self.rotation = rotation
    self.translation = translation
  }

  /// The inverse transform.
  @inlinable
  public var inverse: RigidTransform {
    let back = rotation.inverse
    return RigidTransform(rotation: back, translation: -back.act(translation))
  }

  /// Takes a point of the source frame to the destination frame.
  @inlinable
  public func act(_ point: Vector3) -> Vector3 { rotation.act(point) + translation }

  /// The chain of two transforms; the right one acts first.
  @inlinable
  public static func * (a: RigidTransform, b: RigidTransform) -> RigidTransform {
    RigidTransform(rotation: a.rotation * b.rotation, translation: a.act(b.translation))
  }

  /// Interpolates position linearly and attitude along the shorter arc.
  ///
  /// - Parameters:
  ///   - other: The transform at `fraction` one.
  ///   - fraction: Where between the two, 0 to 1; outside, it extrapolates.
  /// - Returns: The transform in between.
  @inlinable
  @inline(__always)
  public func interpolated(to other: RigidTransform, fraction: Double) -> RigidTransform {
    RigidTransform(
      rotation: rotation.interpolated(to: other.rotation, fraction: fraction),
      translation: translation + fraction * (other.translation - translation))
  }
}
