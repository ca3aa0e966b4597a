// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import simd

/// A place in the world to which something virtual is attached.
open class ARAnchor: NSObject, NSCopying, @unchecked Sendable {
  // Unchecked: open, so that others may add to it; what is here are constants.

  /// The anchor's name among all anchors.
  public let identifier: UUID
  /// A name of the app's own.
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

/// A surface; none is ever found here, so that code which asks for one compiles and sees none.
public final class ARPlaneAnchor: ARAnchor, @unchecked Sendable {
  // Unchecked: there is none.

  /// How a surface lies.
  public enum Alignment: Int, Sendable {
    /// As a floor.
    case horizontal = 0
    /// As a wall.
    case vertical = 1
  }

  /// How the surface lies.
  public let alignment: Alignment

  private override init(transform: simd_float4x4) {
    alignment = .horizontal
    super.init(transform: transform)
  }
}

/// Another user in a world that is shared; no world is ever shared here.
public final class ARParticipantAnchor: ARAnchor, @unchecked Sendable {
  // Unchecked: there is none.

  private override init(transform: simd_float4x4) { super.init(transform: transform) }
}
