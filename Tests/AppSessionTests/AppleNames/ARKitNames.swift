// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation

// Uses every name of ARKit that session code needs; see `NearbyInteractionNames.swift`.

enum ARKitNames {
  // MARK: - ARSession

  static func session(_ session: ARSession) {
    let other = ARSession()
    let _: UUID = session.identifier
    session.delegate = other.delegate
    session.delegateQueue = DispatchQueue.main
    let _: ARFrame? = session.currentFrame
    let _: ARConfiguration? = session.configuration
    let configuration = ARWorldTrackingConfiguration()
    session.run(configuration)
    session.run(
      configuration,
      options: [
        .resetTracking, .removeExistingAnchors, .stopTrackedRaycasts, .resetSceneReconstruction,
      ])
    let _: ARSession.RunOptions = []
    session.pause()
    let anchor = ARAnchor(transform: matrix_identity_float4x4)
    session.add(anchor: anchor)
    session.remove(anchor: anchor)
    session.setWorldOrigin(relativeTransform: matrix_identity_float4x4)
    session.getCurrentWorldMap { map, error in _ = (map?.anchors, error) }
    let query = ARRaycastQuery(
      origin: .zero, direction: simd_float3(0, -1, 0), allowing: .estimatedPlane, alignment: .any)
    let _: [ARRaycastResult] = session.raycast(query)
    let _: ARTrackedRaycast? = session.trackedRaycast(query) { results in _ = results.first }
  }

  static func collaborate(_ session: ARSession, _ data: ARSession.CollaborationData) {
    session.update(with: data)
    switch data.priority {
    case .critical, .optional: break
    @unknown default: break
    }
  }

  // MARK: - ARSessionDelegate

  final class Delegate: NSObject, ARSessionDelegate, ARSessionProviding {
    let session = ARSession()
    func session(_ session: ARSession, didUpdate frame: ARFrame) {}
    func session(_ session: ARSession, didAdd anchors: [ARAnchor]) {}
    func session(_ session: ARSession, didUpdate anchors: [ARAnchor]) {}
    func session(_ session: ARSession, didRemove anchors: [ARAnchor]) {}

    // MARK: - ARSessionObserver

    var observer: any ARSessionObserver { self }
    func session(_ session: ARSession, didFailWithError error: any Error) {}
    func session(_ session: ARSession, cameraDidChangeTrackingState camera: ARCamera) {}
    func sessionWasInterrupted(_ session: ARSession) {}
    func sessionInterruptionEnded(_ session: ARSession) {}
    func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { false }
    func session(
      _ session: ARSession, didOutputCollaborationData data: ARSession.CollaborationData
    ) {}
  }

  // MARK: - ARFrame

  static func frame(_ frame: ARFrame) {
    let _: TimeInterval = frame.timestamp
    let _: ARCamera = frame.camera
    let _: ARLightEstimate? = frame.lightEstimate
    let _: [ARAnchor] = frame.anchors
    let _: ARPointCloud? = frame.rawFeaturePoints
    let status: ARFrame.WorldMappingStatus = frame.worldMappingStatus
    switch status {
    case .notAvailable, .limited, .extending, .mapped: break
    @unknown default: break
    }
    let _: ARRaycastQuery = frame.raycastQuery(
      from: CGPoint(x: 0.5, y: 0.5), allowing: .existingPlaneInfinite, alignment: .horizontal)
    _ = frame.copy()
  }

  // MARK: - ARCamera

  static func camera(_ camera: ARCamera) {
    let _: simd_float4x4 = camera.transform
    let _: simd_float3 = camera.eulerAngles
    let state: ARCamera.TrackingState = camera.trackingState
    switch state {
    case .notAvailable, .normal: break
    case .limited(let reason):
      switch reason {
      case .initializing, .excessiveMotion, .insufficientFeatures, .relocalizing: break
      @unknown default: break
      }
    }
    let _: simd_float3x3 = camera.intrinsics
    let size: CGSize = camera.imageResolution
    let _: simd_float4x4 = camera.projectionMatrix
    let orientation: UIInterfaceOrientation = .portrait
    let _: simd_float4x4 = camera.projectionMatrix(
      for: orientation, viewportSize: size, zNear: 0.01, zFar: 100)
    let _: simd_float4x4 = camera.viewMatrix(for: orientation)
    let point: CGPoint = camera.projectPoint(.zero, orientation: orientation, viewportSize: size)
    let _: simd_float3? = camera.unprojectPoint(
      point, ontoPlane: matrix_identity_float4x4, orientation: orientation, viewportSize: size)
  }

  // MARK: - UIInterfaceOrientation

  static func orientation(_ orientation: UIInterfaceOrientation) {
    switch orientation {
    case .unknown, .portrait, .portraitUpsideDown, .landscapeRight, .landscapeLeft: break
    @unknown default: break
    }
    _ = (orientation.isPortrait, orientation.isLandscape)
  }

  // MARK: - ARConfiguration

  static func configuration(_ configuration: ARConfiguration) {
    let _: Bool = ARConfiguration.isSupported
    configuration.worldAlignment = .gravity
    let _: [ARConfiguration.WorldAlignment] = [.gravity, .gravityAndHeading, .camera]
    configuration.isLightEstimationEnabled = true
    configuration.providesAudioData = false
    configuration.frameSemantics = [
      .personSegmentation, .personSegmentationWithDepth, .bodyDetection, .sceneDepth,
      .smoothedSceneDepth,
    ]
    let _: ARConfiguration.FrameSemantics = configuration.frameSemantics
    _ = ARConfiguration.supportsFrameSemantics(.sceneDepth)
    let formats: [ARConfiguration.VideoFormat] = ARConfiguration.supportedVideoFormats
    if let format = formats.first {
      configuration.videoFormat = format
      let _: CGSize = format.imageResolution
      let _: Int = format.framesPerSecond
      let _: Bool = format.isRecommendedForHighResolutionFrameCapturing
    }
    let _: ARConfiguration.SceneReconstruction = [.mesh, .meshWithClassification]
  }

  // MARK: - ARWorldTrackingConfiguration

  static func world(_ configuration: ARWorldTrackingConfiguration) {
    _ = ARWorldTrackingConfiguration()
    configuration.isCollaborationEnabled = false
    configuration.userFaceTrackingEnabled = false
    configuration.initialWorldMap = nil
    configuration.planeDetection = [.horizontal, .vertical]
    configuration.environmentTexturing = .automatic
    configuration.wantsHDREnvironmentTextures = false
    configuration.sceneReconstruction = .mesh
    configuration.isAutoFocusEnabled = true
    configuration.maximumNumberOfTrackedImages = 0
    _ = ARWorldTrackingConfiguration.supportsUserFaceTracking
    _ = ARWorldTrackingConfiguration.supportsSceneReconstruction(.mesh)
    _ = (AROrientationTrackingConfiguration(), ARPositionalTrackingConfiguration())
  }

  // MARK: - ARAnchor

  /// A subclass as apps write it.
  final class Note: ARAnchor, @unchecked Sendable {
    let text: String

    init(_ text: String, at transform: simd_float4x4) {
      self.text = text
      super.init(name: "note", transform: transform)
    }

    required init(anchor: ARAnchor) {
      text = (anchor as? Note)?.text ?? ""
      super.init(anchor: anchor)
    }

    required init?(coder: NSCoder) {
      text = coder.decodeObject(of: NSString.self, forKey: "text").map { "\($0)" } ?? ""
      super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
      super.encode(with: coder)
      coder.encode(text as NSString, forKey: "text")
    }

    override class var supportsSecureCoding: Bool { true }
  }

  static func anchor(_ anchor: ARAnchor) {
    let _: UUID = anchor.identifier
    let _: String? = anchor.name
    let _: UUID? = anchor.sessionIdentifier
    let _: simd_float4x4 = anchor.transform
    _ = (ARAnchor(transform: anchor.transform), ARAnchor(name: "a", transform: anchor.transform))
    _ = (ARAnchor(anchor: anchor), anchor.copy(), (anchor as? any ARTrackable)?.isTracked)
    _ = anchor is ARParticipantAnchor
  }

  // MARK: - ARPlaneAnchor

  static func plane(_ plane: ARPlaneAnchor) {
    switch plane.alignment {
    case .horizontal, .vertical: break
    @unknown default: break
    }
    let _: simd_float3 = plane.center + plane.extent
    let _: Float = plane.planeExtent.width + plane.planeExtent.height
    let _: Float = plane.planeExtent.rotationOnYAxis
    let geometry: ARPlaneGeometry = plane.geometry
    let _: [simd_float3] = geometry.vertices + geometry.boundaryVertices
    let _: [simd_float2] = geometry.textureCoordinates
    let _: [Int16] = geometry.triangleIndices
    let _: Bool = ARPlaneAnchor.isClassificationSupported
    switch plane.classification {
    case .wall, .floor, .ceiling, .table, .seat, .door, .window: break
    case .none(let status):
      switch status {
      case .notAvailable, .undetermined, .unknown: break
      @unknown default: break
      }
    @unknown default: break
    }
  }

  // MARK: - ARWorldMap

  static func map(_ map: ARWorldMap) {
    let _: [ARAnchor] = map.anchors
    let _: simd_float3 = map.center + map.extent
    let points: ARPointCloud = map.rawFeaturePoints
    let _: ([simd_float3], [UInt64]) = (points.points, points.identifiers)
    _ = ARWorldMap.supportsSecureCoding
  }

  // MARK: - ARRaycastQuery

  static func ray(_ query: ARRaycastQuery, _ result: ARRaycastResult, _ cast: ARTrackedRaycast) {
    let _: simd_float3 = query.origin + query.direction
    let _: ARRaycastQuery.Target = query.target
    let _: [ARRaycastQuery.Target] = [
      .existingPlaneGeometry, .existingPlaneInfinite, .estimatedPlane,
    ]
    let _: ARRaycastQuery.TargetAlignment = query.targetAlignment
    let _: [ARRaycastQuery.TargetAlignment] = [.horizontal, .vertical, .any]

    // MARK: - ARRaycastResult

    let _: [ARRaycastResult] = [result]
    let _: simd_float4x4 = result.worldTransform
    _ = (result.target, result.targetAlignment, result.anchor)

    // MARK: - ARTrackedRaycast

    let _: [ARTrackedRaycast] = [cast]
    cast.stopTracking()
  }

  // MARK: - ARLightEstimate

  static func light(_ light: ARLightEstimate) {
    let _: Double = light.ambientIntensity + light.ambientColorTemperature
  }

  // MARK: - ARError

  static func error(_ error: any Error) {
    let _: String = ARErrorDomain
    guard let code: ARError.Code = (error as? ARError)?.code else { return }
    switch code {
    case .unsupportedConfiguration, .sensorUnavailable, .sensorFailed, .cameraUnauthorized: break
    case .microphoneUnauthorized, .locationUnauthorized, .worldTrackingFailed: break
    case .highResolutionFrameCaptureInProgress, .highResolutionFrameCaptureFailed: break
    case .geoTrackingNotAvailableAtLocation, .geoTrackingFailed, .invalidReferenceImage: break
    case .invalidReferenceObject, .invalidWorldMap, .invalidConfiguration: break
    case .invalidCollaborationData, .insufficientFeatures, .objectMergeFailed: break
    case .fileIOFailed, .requestFailed: break
    @unknown default: break
    }
    if case ARError.worldTrackingFailed = error { return }
  }
}
