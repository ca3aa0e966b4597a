// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import simd

/// A stored world.
///
/// Here it holds anchors alone, and no session makes one or finds its place in one.
open class ARWorldMap: NSObject, NSCopying, NSSecureCoding {
  /// The anchors in the world.
  open var anchors: [ARAnchor] = []
  /// The centre of the stored space: the origin.
  public let center = simd_float3.zero
  /// The size of the stored space: none.
  public let extent = simd_float3.zero
  /// The points that the camera saw: none.
  public let rawFeaturePoints = ARPointCloud()

  /// Makes an empty map; Apple's interface has no such initializer.
  public override init() { super.init() }

  private static let key = "anchors"

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the anchors.
  public func encode(with coder: NSCoder) { coder.encode(anchors as NSArray, forKey: Self.key) }

  /// Reads a map; `nil` when the archive holds none.
  ///
  /// Subclasses of ``ARAnchor`` are not read.
  public required init?(coder: NSCoder) {
    guard
      let anchors = coder.decodeObject(of: [NSArray.self, ARAnchor.self], forKey: Self.key)
        as? [ARAnchor]
    else { return nil }
    self.anchors = anchors
  }

  /// Makes a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = ARWorldMap()
    copy.anchors = anchors
    return copy
  }
}

/// The points that the camera saw.
///
/// No instance exists, since frames have no image.
public final class ARPointCloud: NSObject, Sendable {
  /// The points in the world, metres.
  public let points: [simd_float3] = []
  /// Their names.
  public let identifiers: [UInt64] = []

  override init() {}
}

extension ARSession {
  /// What devices that share a world tell each other.
  ///
  /// No world is shared here, so that sessions make none and ignore what others made.
  public final class CollaborationData: NSObject, NSSecureCoding, Sendable {
    /// How important it is that the data arrive.
    public enum Priority: Int, Sendable {
      /// They must arrive.
      case critical = 0
      /// They may be lost.
      case optional = 1
    }

    /// How important it is that the data arrive.
    public let priority = Priority.optional

    /// Always true.
    public static var supportsSecureCoding: Bool { true }
    /// Writes nothing.
    public func encode(with coder: NSCoder) {}
    /// Always `nil`, since the data of a phone cannot be read here.
    public required init?(coder: NSCoder) { nil }
  }

  /// Handles data of another device: ignores them, since no world is shared here.
  ///
  /// - Parameter collaborationData: The data.
  public func update(with collaborationData: CollaborationData) {}
}
