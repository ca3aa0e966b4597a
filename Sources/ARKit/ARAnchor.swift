// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import simd

/// A pose in the world to which an app attaches virtual content.
open class ARAnchor: NSObject, NSCopying, @unchecked Sendable {
  // Unchecked because the class is open; its own properties are constants.

  /// The anchor's name among all anchors.
  public let identifier: UUID
  /// A name that the app chose.
  public let name: String?
  /// Anchor axes to the world, metres.
  public let transform: simd_float4x4

  /// Makes an anchor.
  public init(transform: simd_float4x4) {
    identifier = UUID()
    name = nil
    self.transform = transform
  }

  /// Makes an anchor with a name.
  public init(name: String, transform: simd_float4x4) {
    identifier = UUID()
    self.name = name
    self.transform = transform
  }

  /// The anchor itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A detected surface.
///
/// None is ever found here; the class exists so that code compiles.
public final class ARPlaneAnchor: ARAnchor, @unchecked Sendable {
  // Unchecked because there are no instances.

  /// The orientation of a surface.
  public enum Alignment: Int, Sendable {
    /// Horizontal, like a floor.
    case horizontal = 0
    /// Vertical, like a wall.
    case vertical = 1
  }

  /// The orientation of the surface.
  public let alignment: Alignment

  private override init(transform: simd_float4x4) {
    alignment = .horizontal
    super.init(transform: transform)
  }
}

/// Another user in a shared world.
///
/// No world is ever shared here.
public final class ARParticipantAnchor: ARAnchor, @unchecked Sendable {
  // Unchecked because there are no instances.

  private override init(transform: simd_float4x4) { super.init(transform: transform) }
}
