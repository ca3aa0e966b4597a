// SPDX-License-Identifier: Apache-2.0
@_exported public import Foundation
internal import NearbyEnvironment

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

  /// What is made of the camera's image; nothing is, since there is none.
  public struct FrameSemantics: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Where people are in the image.
    public static let personSegmentation = FrameSemantics(rawValue: 1 << 0)
    /// Where people are in the image, and how far away.
    public static let personSegmentationWithDepth = FrameSemantics(rawValue: 1 << 1)
    /// How people hold themselves.
    public static let bodyDetection = FrameSemantics(rawValue: 1 << 2)
    /// How far away everything is.
    public static let sceneDepth = FrameSemantics(rawValue: 1 << 3)
    /// How far away everything is, steadied over time.
    public static let smoothedSceneDepth = FrameSemantics(rawValue: 1 << 4)
  }

  /// How the world's axes lie.
  public var worldAlignment = WorldAlignment.gravity
  /// What is to be made of the camera's image; without effect.
  public var frameSemantics: FrameSemantics = []
  /// Whether sound is recorded; without effect.
  public var providesAudioData = false
  /// Whether frames tell how light the scene is.
  public var isLightEstimationEnabled = true

  /// Whether this kind of configuration can run here.
  open class var isSupported: Bool { false }

  /// Whether something can be made of the camera's image: only nothing can.
  ///
  /// - Parameter frameSemantics: What is asked for.
  /// - Returns: Whether the set is empty.
  open class func supportsFrameSemantics(_ frameSemantics: FrameSemantics) -> Bool {
    frameSemantics.isEmpty
  }

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
    frameSemantics = other.frameSemantics
    providesAudioData = other.providesAudioData
  }

  /// Whether a device can run the configuration: all of them need its odometry.
  final func canRun(on capabilities: DeviceCapabilities) -> Bool {
    capabilities.contains(.cameraAssistance)
  }

  /// What about the configuration keeps a nearby-interaction session from using its poses, if anything.
  package var trajectoryFault: String? { "is no world tracking" }
}

extension ARConfiguration {
  /// What is rebuilt of the scene; nothing ever is.
  public struct SceneReconstruction: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Its surfaces.
    public static let mesh = SceneReconstruction(rawValue: 1 << 0)
    /// Its surfaces, and what they belong to.
    public static let meshWithClassification: SceneReconstruction = [
      .mesh, SceneReconstruction(rawValue: 1 << 1),
    ]
  }
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

  /// Pictures of the surroundings for reflections; none are ever taken here.
  public enum EnvironmentTexturing: Int, Sendable {
    /// None.
    case none = 0
    /// Where the app places an anchor.
    case manual = 1
    /// Wherever they help.
    case automatic = 2
  }

  /// Whether several devices share one world.
  public var isCollaborationEnabled = false
  /// Whether the front camera tracks the user's face.
  public var userFaceTrackingEnabled = false
  /// A world to be found again.
  public var initialWorldMap: ARWorldMap?
  /// Surfaces to be looked for.
  public var planeDetection: PlaneDetection = []
  /// Pictures of the surroundings; without effect.
  public var environmentTexturing = EnvironmentTexturing.none
  /// Whether such pictures have a high dynamic range; without effect.
  public var wantsHDREnvironmentTextures = true
  /// What is to be rebuilt of the scene; without effect.
  public var sceneReconstruction: ARConfiguration.SceneReconstruction = []
  /// Whether the camera focuses by itself; without effect.
  public var isAutoFocusEnabled = true
  /// How many known pictures are followed; without effect.
  public var maximumNumberOfTrackedImages = 0

  /// Whether this kind of configuration can run here: on the current environment's default device.
  open override class var isSupported: Bool {
    NearbyEnvironments.current.defaultCapabilities.contains(.cameraAssistance)
  }

  /// Whether the user's face can be tracked: it cannot.
  open class var supportsUserFaceTracking: Bool { false }

  /// Whether something can be rebuilt of the scene: only nothing can.
  ///
  /// - Parameter sceneReconstruction: What is asked for.
  /// - Returns: Whether the set is empty.
  open class func supportsSceneReconstruction(
    _ sceneReconstruction: ARConfiguration.SceneReconstruction
  ) -> Bool { sceneReconstruction.isEmpty }

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
    copy.environmentTexturing = environmentTexturing
    copy.wantsHDREnvironmentTextures = wantsHDREnvironmentTextures
    copy.sceneReconstruction = sceneReconstruction
    copy.isAutoFocusEnabled = isAutoFocusEnabled
    copy.maximumNumberOfTrackedImages = maximumNumberOfTrackedImages
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
  /// Whether this kind of configuration can run here: on the current environment's default device.
  open override class var isSupported: Bool { ARWorldTrackingConfiguration.isSupported }

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
