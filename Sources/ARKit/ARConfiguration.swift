// SPDX-License-Identifier: Apache-2.0
@_exported public import Foundation
internal import NearbyEnvironment

/// The settings of an ``ARSession``: the base of all configurations.
open class ARConfiguration: NSObject, NSCopying {
  /// The orientation of the world's axes.
  public enum WorldAlignment: Int, Sendable {
    /// +y is up; +z points toward the user at the start.
    case gravity = 0
    /// +y is up; the other axes follow the compass.
    case gravityAndHeading = 1
    /// The axes are the camera's.
    case camera = 2
  }

  /// Analyses of the camera's image.
  ///
  /// None is done, since there is no image.
  public struct FrameSemantics: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The regions of people in the image.
    public static let personSegmentation = FrameSemantics(rawValue: 1 << 0)
    /// The regions and distances of people in the image.
    public static let personSegmentationWithDepth = FrameSemantics(rawValue: 1 << 1)
    /// The poses of people's bodies.
    public static let bodyDetection = FrameSemantics(rawValue: 1 << 2)
    /// The depth of the scene.
    public static let sceneDepth = FrameSemantics(rawValue: 1 << 3)
    /// The depth of the scene, smoothed over time.
    public static let smoothedSceneDepth = FrameSemantics(rawValue: 1 << 4)
  }

  /// The orientation of the world's axes.
  public var worldAlignment = WorldAlignment.gravity
  /// The requested analyses of the camera's image; without effect.
  public var frameSemantics: FrameSemantics = []
  /// Whether sound is recorded; without effect.
  public var providesAudioData = false
  /// Whether frames contain a light estimate.
  public var isLightEstimationEnabled = true
  /// The size and the rate of the camera's images; without effect.
  public var videoFormat = VideoFormat.only

  /// Whether this kind of configuration can run here.
  open class var isSupported: Bool { false }

  /// The formats from which ``videoFormat`` may be chosen: a single one.
  open class var supportedVideoFormats: [VideoFormat] { [.only] }

  /// Whether analyses of the camera's image are supported.
  ///
  /// Only the empty set is.
  ///
  /// - Parameter frameSemantics: The requested set.
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
    videoFormat = other.videoFormat
    providesAudioData = other.providesAudioData
  }

  /// Whether a device can run the configuration, which requires odometry.
  final func canRun(on capabilities: DeviceCapabilities) -> Bool {
    capabilities.contains(.cameraAssistance)
  }

  /// The reason why a Nearby Interaction session cannot use poses of this configuration, if there
  /// is one.
  package var trajectoryFault: String? { "is no world tracking" }
}

extension ARConfiguration {
  /// The size and the rate of the camera's images.
  public final class VideoFormat: NSObject, NSCopying, Sendable {
    /// The width and height of an image in landscape, pixels.
    ///
    /// There are no images; ``ARCamera`` projects to this size.
    public var imageResolution: CGSize { CGSize(width: 1920, height: 1440) }
    /// How many frames a second has on simulated devices.
    ///
    /// Replayed and live devices have the rate of their poses.
    public let framesPerSecond = 60
    /// Whether larger single images can be taken: never here.
    public let isRecommendedForHighResolutionFrameCapturing = false

    static let only = VideoFormat()

    private override init() {}

    /// The format itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }
  }

  /// Reconstructions of the scene.
  ///
  /// None is ever made.
  public struct SceneReconstruction: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The surfaces of the scene.
    public static let mesh = SceneReconstruction(rawValue: 1 << 0)
    /// The surfaces of the scene with their classification.
    public static let meshWithClassification: SceneReconstruction = [
      .mesh, SceneReconstruction(rawValue: 1 << 1),
    ]
  }
}

/// Poses in six degrees of freedom.
open class ARWorldTrackingConfiguration: ARConfiguration {
  /// The kinds of surfaces to detect.
  ///
  /// None is ever found here.
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

  /// Textures of the surroundings for reflections.
  ///
  /// None is ever made here.
  public enum EnvironmentTexturing: Int, Sendable {
    /// None.
    case none = 0
    /// At the anchors that the app adds.
    case manual = 1
    /// Automatically.
    case automatic = 2
  }

  /// Whether several devices share one world.
  public var isCollaborationEnabled = false
  /// Whether the front camera tracks the user's face.
  public var userFaceTrackingEnabled = false
  /// A stored world to relocalise in.
  public var initialWorldMap: ARWorldMap?
  /// The surfaces to detect.
  public var planeDetection: PlaneDetection = []
  /// Textures of the surroundings; without effect.
  public var environmentTexturing = EnvironmentTexturing.none
  /// Whether such textures have a high dynamic range; without effect.
  public var wantsHDREnvironmentTextures = true
  /// The requested reconstruction of the scene; without effect.
  public var sceneReconstruction: ARConfiguration.SceneReconstruction = []
  /// Whether the camera focuses automatically; without effect.
  public var isAutoFocusEnabled = true
  /// How many known images are tracked; without effect.
  public var maximumNumberOfTrackedImages = 0

  /// Whether this kind of configuration can run here: on the current environment's default device.
  open override class var isSupported: Bool {
    NearbyEnvironments.current.defaultCapabilities.contains(.cameraAssistance)
  }

  /// Whether the user's face can be tracked.
  ///
  /// Always false.
  open class var supportsUserFaceTracking: Bool { false }

  /// Whether reconstructions of the scene are supported.
  ///
  /// Only the empty set is.
  ///
  /// - Parameter sceneReconstruction: The requested set.
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

/// Attitudes without positions, which cannot locate a peer.
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

/// Poses in six degrees of freedom, for apps that show no camera image.
open class ARPositionalTrackingConfiguration: ARConfiguration {
  /// The surfaces to detect.
  ///
  /// None is ever found here.
  public var planeDetection: ARWorldTrackingConfiguration.PlaneDetection = []
  /// A stored world to relocalise in.
  public var initialWorldMap: ARWorldMap?

  /// Whether this kind of configuration can run here: on the current environment's default device.
  open override class var isSupported: Bool { ARWorldTrackingConfiguration.isSupported }

  /// Makes a configuration of defaults.
  public override init() { super.init() }

  /// Makes a copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = ARPositionalTrackingConfiguration()
    copy.take(self)
    copy.planeDetection = planeDetection
    copy.initialWorldMap = initialWorldMap
    return copy
  }
}
