// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// How an ``ARSession`` is to run: the base of all configurations.
open class ARConfiguration: NSObject, NSCopying {
  /// How the world's axes lie.
  public enum WorldAlignment: Int, Sendable {
    /// +y is up; +z points to where the user was at the start.
    case gravity = 0
    /// +y is up; the other axes point to the compass.
    case gravityAndHeading = 1
    /// The axes are the camera's.
    case camera = 2
  }

  /// How the world's axes lie.
  public var worldAlignment = WorldAlignment.gravity
  /// Whether frames tell how light the scene is.
  public var isLightEstimationEnabled = true

  /// Whether this kind of configuration can run here.
  open class var isSupported: Bool { false }

  override init() {}

  /// Makes a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = ARConfiguration()
    copy.take(self)
    return copy
  }

  final func take(_ other: ARConfiguration) {
    worldAlignment = other.worldAlignment
    isLightEstimationEnabled = other.isLightEstimationEnabled
  }

  /// What about the configuration keeps a nearby-interaction session from using its poses, if anything.
  package var trajectoryFault: String? { "is no world tracking" }
}

/// Poses in six degrees of freedom.
open class ARWorldTrackingConfiguration: ARConfiguration {
  /// Surfaces that are looked for; none is ever found here.
  public struct PlaneDetection: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Floors and tables.
    public static let horizontal = PlaneDetection(rawValue: 1 << 0)
    /// Walls.
    public static let vertical = PlaneDetection(rawValue: 1 << 1)
  }

  /// Whether several devices share one world.
  public var isCollaborationEnabled = false
  /// Whether the front camera tracks the user's face.
  public var userFaceTrackingEnabled = false
  /// A world to be found again.
  public var initialWorldMap: ARWorldMap?
  /// Surfaces to be looked for.
  public var planeDetection: PlaneDetection = []

  /// Whether this kind of configuration can run here.
  open override class var isSupported: Bool { true }

  /// Makes a configuration of defaults.
  public override init() { super.init() }

  /// Makes a copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = ARWorldTrackingConfiguration()
    copy.take(self)
    copy.isCollaborationEnabled = isCollaborationEnabled
    copy.userFaceTrackingEnabled = userFaceTrackingEnabled
    copy.initialWorldMap = initialWorldMap
    copy.planeDetection = planeDetection
    return copy
  }

  package override var trajectoryFault: String? {
    if worldAlignment != .gravity { return "has a worldAlignment other than .gravity" }
    if isCollaborationEnabled { return "has isCollaborationEnabled" }
    if userFaceTrackingEnabled { return "has userFaceTrackingEnabled" }
    return initialWorldMap == nil ? nil : "has an initialWorldMap"
  }
}

/// Attitudes only: nothing to locate a peer with.
open class AROrientationTrackingConfiguration: ARConfiguration {
  /// Whether this kind of configuration can run here.
  open override class var isSupported: Bool { true }

  /// Makes a configuration of defaults.
  public override init() { super.init() }

  /// Makes a copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = AROrientationTrackingConfiguration()
    copy.take(self)
    return copy
  }
}

/// A world that was stored; here it is a name without content.
open class ARWorldMap: NSObject {
  /// Makes an empty map.
  public override init() { super.init() }
}
