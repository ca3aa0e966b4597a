// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import simd

/// A detected surface.
///
/// None is ever found here, since there is no image; the class exists so that code compiles.
public final class ARPlaneAnchor: ARAnchor, @unchecked Sendable {
  // Unchecked because there are no instances.

  /// The orientation of a surface.
  public enum Alignment: Int, Sendable {
    /// Horizontal, like a floor.
    case horizontal = 0
    /// Vertical, like a wall.
    case vertical = 1
  }

  /// The kind of a surface.
  public enum Classification: Hashable, Sendable {
    /// The reason why the kind is not known.
    public enum Status: Hashable, Sendable {
      /// Kinds are not told apart.
      case notAvailable
      /// Not told apart yet.
      case undetermined
      /// None of the kinds.
      case unknown
    }

    /// Not known.
    case none(Status)
    /// A wall.
    case wall
    /// A floor.
    case floor
    /// A ceiling.
    case ceiling
    /// A table.
    case table
    /// A seat.
    case seat
    /// A door.
    case door
    /// A window.
    case window
  }

  /// Whether kinds of surfaces are told apart: never here.
  public static var isClassificationSupported: Bool { false }

  /// The orientation of the surface.
  public let alignment = Alignment.horizontal
  /// The centre of the surface in the anchor's axes, metres.
  public let center = simd_float3.zero
  /// The lengths of the surface along the anchor's x and z axes, metres.
  public var extent: simd_float3 { simd_float3(planeExtent.width, 0, planeExtent.height) }
  /// The size of the surface.
  public let planeExtent = ARPlaneExtent()
  /// The outline of the surface.
  public let geometry = ARPlaneGeometry()
  /// The kind of the surface.
  public let classification = Classification.none(.notAvailable)

  /// Makes a copy.
  public required init(anchor: ARAnchor) { super.init(anchor: anchor) }

  /// Always `nil`, since there are no instances.
  public required init?(coder: NSCoder) { nil }
}

/// The size of a detected surface.
public final class ARPlaneExtent: NSObject, Sendable {
  /// The turn about the anchor's y axis, radians.
  public let rotationOnYAxis: Float = 0
  /// The length along the turned x axis, metres.
  public let width: Float = 0
  /// The length along the turned z axis, metres.
  public let height: Float = 0

  override init() {}
}

/// The outline of a detected surface as triangles.
public final class ARPlaneGeometry: NSObject, Sendable {
  /// The corners of the triangles in the anchor's axes, metres.
  public let vertices: [simd_float3] = []
  /// The places of the corners in a texture.
  public let textureCoordinates: [simd_float2] = []
  /// The corners of each triangle by their indices.
  public let triangleIndices: [Int16] = []
  /// The corners of the outline, metres.
  public let boundaryVertices: [simd_float3] = []

  override init() {}
}
