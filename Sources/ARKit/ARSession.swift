// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import NearbyEnvironment
internal import NearbyFusion
internal import NearbyGeometry
public import simd

/// A session that reports the device's trajectory, as frames from the odometry of its device.
///
/// It is safe to use from any thread. The delegate is called on ``delegateQueue``.
open class ARSession: NSObject, @unchecked Sendable {
  // Unchecked: every stored property but the constants is read and written under `lock` only, which is
  // never held while foreign code runs.

  /// Options for the state of an earlier run.
  public struct RunOptions: OptionSet, Sendable {
    /// One bit for each option.
    public let rawValue: UInt

    /// Makes a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Start a new world.
    ///
    /// The odometry of an environment keeps its world; an origin that
    /// ``ARSession/setWorldOrigin(relativeTransform:)`` has moved returns to the odometry's.
    public static let resetTracking = RunOptions(rawValue: 1 << 0)
    /// Remove the anchors.
    public static let removeExistingAnchors = RunOptions(rawValue: 1 << 1)
    /// Stop tracked raycasts: no effect, since sessions here never track raycasts.
    public static let stopTrackedRaycasts = RunOptions(rawValue: 1 << 2)
    /// Restart scene reconstruction: no effect, since scenes are not reconstructed here.
    public static let resetSceneReconstruction = RunOptions(rawValue: 1 << 3)
  }

  /// An event for the users of the session's poses.
  package enum Event: Sendable {
    /// A pose or a tracking quality.
    case trajectory(DeviceEvent)
    /// The session runs with a new configuration, which may be usable or not.
    case reconfigured
  }

  /// The session's name among all sessions.
  public let identifier = UUID()
  /// The device whose odometry is reported.
  package let device: any NearbyDevice

  private let lock = NSLock()
  private weak var delegateUnderLock: (any ARSessionDelegate)?
  private var queueUnderLock: DispatchQueue?
  private var configurationUnderLock: ARConfiguration?
  private var frameUnderLock: ARFrame?
  private var anchors: [ARAnchor] = []
  /// Takes the odometry's world to that of the frames.
  private var frameFromOdometry = matrix_identity_float4x4
  private var observers: [(id: Int, receive: @Sendable (Event) -> Void)] = []
  private var nextObserver = 0
  private var follower: TrajectoryFollower?
  private var tracking = TrackingSample(
    timestamp: Timestamp(nanoseconds: 0), quality: .normal)
  private var isDeliveringFrame = false

  /// Makes a session on the current environment's default device.
  public override init() {
    device = NearbyEnvironments.current.defaultDevice()
    super.init()
  }

  /// Makes a session on a device.
  ///
  /// - Parameter device: The device whose odometry is reported.
  public init(on device: any NearbyDevice) {
    self.device = device
    super.init()
  }

  deinit { if let follower { device.unfollow(follower) } }

  /// The receiver of the session's callbacks, held weakly.
  public var delegate: (any ARSessionDelegate)? {
    get { lock.withLock { delegateUnderLock } }
    set { lock.withLock { delegateUnderLock = newValue } }
  }

  /// The queue on which the delegate is called; `nil` for the main queue.
  public var delegateQueue: DispatchQueue? {
    get { lock.withLock { queueUnderLock } }
    set { lock.withLock { queueUnderLock = newValue } }
  }

  /// A copy of the current or last configuration.
  public var configuration: ARConfiguration? {
    lock.withLock { configurationUnderLock?.copy() as? ARConfiguration }
  }

  /// The newest frame.
  public var currentFrame: ARFrame? { lock.withLock { frameUnderLock } }

  /// Starts the session, or continues with another configuration.
  ///
  /// A device runs one AR session at a time: another one that runs on it is interrupted until it is run again.
  ///
  /// On a device without odometry the delegate gets `didFailWithError` with
  /// ``ARError/unsupportedConfiguration``.
  ///
  /// - Parameters:
  ///   - configuration: The configuration, which is copied.
  ///   - options: Options for the state of an earlier run.
  open func run(_ configuration: ARConfiguration, options: RunOptions = []) {
    guard configuration.canRun(on: device.capabilities) else {
      return deliver { $0.session($1, didFailWithError: ARError(.unsupportedConfiguration)) }
    }
    let observers = lock.withLock {
      configurationUnderLock = configuration.copy() as? ARConfiguration
      if options.contains(.removeExistingAnchors) { anchors = [] }
      if options.contains(.resetTracking) { frameFromOdometry = matrix_identity_float4x4 }
      if follower == nil { follower = device.follow { [weak self] in self?.receive($0) } }
      return self.observers
    }
    CameraOwners.give(to: self)?.interrupt()
    for observer in observers { observer.receive(.reconfigured) }
  }

  /// Stops the session until the next ``run(_:options:)``.
  open func pause() {
    CameraOwners.free(self)
    unfollow()
  }

  /// Stops the session because another one runs on its device.
  private func interrupt() {
    unfollow()
    deliver { $0.sessionWasInterrupted($1) }
  }

  private func unfollow() {
    lock.withLock {
      if let follower { device.unfollow(follower) }
      follower = nil
    }
  }

  /// Adds an anchor.
  ///
  /// - Parameter anchor: The anchor.
  open func add(anchor: ARAnchor) {
    lock.withLock {
      anchor.sessionIdentifier = identifier
      anchors.append(anchor)
    }
    deliver { $0.session($1, didAdd: [anchor]) }
  }

  /// Removes an anchor.
  ///
  /// - Parameter anchor: The anchor.
  open func remove(anchor: ARAnchor) {
    lock.withLock { anchors.removeAll { $0.identifier == anchor.identifier } }
    deliver { $0.session($1, didRemove: [anchor]) }
  }

  // MARK: The world

  /// Moves the origin and the axes of the world in which frames and anchors are given.
  ///
  /// The newest frame, the anchors, whose delegate gets `didUpdate`, and the world transforms of a
  /// Nearby Interaction session that shares this session are in the new world at once.
  ///
  /// - Parameter relativeTransform: The axes of the new world to those of the present one, metres. A
  ///   scale is ignored, and so is a transform that is not finite.
  open func setWorldOrigin(relativeTransform: simd_float4x4) {
    let turn = simd_float4x4(simd_quatf(relativeTransform.withoutScale).normalized)
    var newToOld = turn
    newToOld.columns.3 = relativeTransform.columns.3
    let oldToNew = newToOld.inverse
    guard (0..<4).allSatisfy({ simd_reduce_add(oldToNew[$0]).isFinite }) else { return }
    let old = lock.withLock {
      frameFromOdometry = oldToNew * frameFromOdometry
      if let frame = frameUnderLock {
        frameUnderLock = makeFrame(
          at: frame.timestamp,
          camera: ARCamera(
            transform: oldToNew * frame.camera.transform,
            trackingState: frame.camera.trackingState))
      }
      return anchors
    }
    guard !old.isEmpty else { return }
    // An app's subclass makes its own copies, so the lock is not held.
    let moved = old.map { anchor in
      let copy = type(of: anchor).init(anchor: anchor)
      copy.transform = oldToNew * anchor.transform
      return copy
    }
    lock.withLock {
      for anchor in moved {
        let index = anchors.firstIndex { $0.identifier == anchor.identifier }
        if let index { anchors[index] = anchor }
      }
    }
    deliver { $0.session($1, didUpdate: moved) }
  }

  /// A place of the odometry's world in that of the frames.
  ///
  /// - Parameter transform: A transform without a rotation.
  /// - Returns: The same place, without a rotation.
  package func inWorldOfFrames(_ transform: simd_float4x4) -> simd_float4x4 {
    var moved = matrix_identity_float4x4
    moved.columns.3 = lock.withLock { frameFromOdometry } * transform.columns.3
    return moved
  }

  /// Asks for the present world, to store it.
  ///
  /// No world is stored here, since there is no image.
  ///
  /// - Parameter completionHandler: Called on ``delegateQueue`` with
  ///   ``ARError/insufficientFeatures``, or with ``ARError/unsupportedConfiguration`` unless the
  ///   session tracks the world.
  open func getCurrentWorldMap(
    completionHandler: @escaping @Sendable (ARWorldMap?, (any Error)?) -> Void
  ) {
    let tracksWorld = configuration is ARWorldTrackingConfiguration
    let error = ARError(tracksWorld ? .insufficientFeatures : .unsupportedConfiguration)
    (delegateQueue ?? .main).async { completionHandler(nil, error) }
  }

  // MARK: Those who use the poses

  /// The reason why a Nearby Interaction session cannot use these poses, if there is one.
  ///
  /// A session that has not been run yet has no fault, since it may still be run properly.
  package var configurationFault: String? { configuration?.trajectoryFault }

  /// Asks the delegate on its queue whether to relocalise in the earlier world after an
  /// interruption.
  ///
  /// - Parameter answer: Called with the answer; `false` without a delegate or before the first
  ///   run. A caller on the delegate's queue gets it before this call returns. Others get it later,
  ///   on that queue, since waiting here would be a deadlock if the queue waits for the caller.
  package func askRelocalization(_ answer: @escaping @Sendable (Bool) -> Void) {
    guard configuration != nil, delegate != nil else { return answer(false) }
    let queue = delegateQueue ?? .main
    let ask = { @Sendable in
      answer(self.delegate?.sessionShouldAttemptRelocalization(self) ?? false)
    }
    if queue.isCurrent { ask() } else { queue.async(execute: ask) }
  }

  package func observe(_ receive: @escaping @Sendable (Event) -> Void) -> Int {
    lock.withLock {
      nextObserver += 1
      observers.append((nextObserver, receive))
      return nextObserver
    }
  }

  package func stopObserving(_ id: Int) {
    lock.withLock { observers.removeAll { $0.id == id } }
  }

  // MARK: Frames

  private func receive(_ event: DeviceEvent) {
    let observers = lock.withLock { follower == nil ? nil : self.observers }
    guard let observers else { return }
    for observer in observers { observer.receive(.trajectory(event)) }
    switch event {
    case .pose(let pose): take(pose)
    case .tracking(let sample): take(sample)
    case .lifecycle(.suspended), .lifecycle(.enteredBackground):
      deliver { $0.sessionWasInterrupted($1) }
    case .lifecycle(.suspensionEnded), .lifecycle(.enteredForeground):
      deliver { $0.sessionInterruptionEnded($1) }
    case .measurement, .anchors, .peerEnded, .time, .authorization: break
    }
  }

  private func take(_ pose: DevicePose) {
    let mustDeliver = lock.withLock {
      frameUnderLock = makeFrame(
        at: pose.timestamp.seconds,
        camera: ARCamera(
          transform: frameFromOdometry * ARCamera.transform(of: pose.worldFromDevice),
          trackingState: ARCamera.TrackingState(tracking.quality)))
      // A slow delegate gets only the newest frame when it is done, and not a queue of old ones.
      defer { isDeliveringFrame = isDeliveringFrame || delegateUnderLock != nil }
      return !isDeliveringFrame && delegateUnderLock != nil
    }
    guard mustDeliver else { return }
    deliver { delegate, session in
      let frame = session.lock.withLock {
        session.isDeliveringFrame = false
        return session.frameUnderLock
      }
      if let frame { delegate.session(session, didUpdate: frame) }
    }
  }

  /// Gives the newest frame the state of tracking that holds from now on, and tells the delegate of a change.
  private func take(_ sample: TrackingSample) {
    let changed = lock.withLock { () -> ARCamera? in
      tracking = sample
      guard let before = frameUnderLock else { return nil }
      let frame = makeFrame(
        at: before.timestamp,
        camera: ARCamera(
          transform: before.camera.transform,
          trackingState: ARCamera.TrackingState(tracking.quality)))
      frameUnderLock = frame
      return frame.camera.trackingState == before.camera.trackingState ? nil : frame.camera
    }
    guard let changed else { return }
    deliver { $0.session($1, cameraDidChangeTrackingState: changed) }
  }

  /// A frame with a camera and with what is known besides; called under the lock.
  private func makeFrame(at timestamp: TimeInterval, camera: ARCamera) -> ARFrame {
    let isLightKnown = configurationUnderLock?.isLightEstimationEnabled ?? false
    return ARFrame(
      timestamp: timestamp, camera: camera,
      lightEstimate: isLightKnown
        ? ARLightEstimate(ambientIntensity: tracking.ambientIntensityLumens ?? 1000) : nil,
      anchors: anchors)
  }

  /// Calls the delegate on its queue, if there is one by then.
  private func deliver(_ call: @escaping (any ARSessionDelegate, ARSession) -> Void) {
    let call = SendableCall(call: call)
    (delegateQueue ?? .main).async { [weak self] in
      guard let self else { return }
      if let delegate = self.delegate {
        call.call(delegate, self)
      } else {
        self.lock.withLock { self.isDeliveringFrame = false }
      }
    }
  }
}

extension simd_float4x4 {
  /// The rotation with columns of length one.
  fileprivate var withoutScale: simd_float3x3 {
    simd_float3x3(
      simd_normalize(simd_make_float3(columns.0)), simd_normalize(simd_make_float3(columns.1)),
      simd_normalize(simd_make_float3(columns.2)))
  }
}

extension DispatchQueue {
  /// Identifies a queue, since there may be several Swift objects for one queue.
  private final class Mark: Sendable {}

  private static let mark = DispatchSpecificKey<Mark>()

  /// Whether the caller runs on this queue, or on one that leads to it.
  ///
  /// If two threads call it for the first time at the same time, both may get `false`.
  fileprivate var isCurrent: Bool {
    if getSpecific(key: Self.mark) == nil { setSpecific(key: Self.mark, value: Mark()) }
    return DispatchQueue.getSpecific(key: Self.mark) === getSpecific(key: Self.mark)
  }
}

/// A function that is passed to a queue once and run there once.
private struct SendableCall: @unchecked Sendable {
  // Unchecked because its captured values (immutable anchors, frames) are only read.
  let call: (any ARSessionDelegate, ARSession) -> Void
}
