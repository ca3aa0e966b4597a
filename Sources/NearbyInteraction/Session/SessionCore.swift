// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry

/// The synchronisation of a session: one lock around a state machine and an estimator, and one
/// queue for callbacks.
///
/// Events may come from any thread. Under the lock, the machine handles them, and callbacks are put
/// on the delegate's queue, which keeps their order. No foreign code runs under the lock: devices
/// never call back from within their methods, and the queue calls the delegate.
final class SessionCore: @unchecked Sendable {
  // Unchecked: everything that changes is read and written under `lock` only.

  let token: SessionToken
  private let lock = NSLock()
  private var device: any NearbyDevice
  private var machine: SessionStateMachine
  private var estimator: SessionEstimator?
  private var configuration: NIConfiguration?
  /// A call of `run` that waits for the answer of the AR session's delegate.
  private var pendingRun: PendingRun?
  private var runCount = 0
  private var arSession: ARSession?
  private var source: PoseSource?
  private var optionsInForce = NearbySessionOptions()
  private var streams: [UUID: AsyncStream<NearbyUpdate>.Continuation] = [:]
  private var queue: DispatchQueue?
  private weak var delegate: (any NISessionDelegate)?
  private weak var session: NISession?
  /// Whether the app has ended the session.
  ///
  /// Callbacks that are still in the queue are then dropped.
  private var isSilent = false

  /// A call of `run` that has not taken effect yet.
  private struct PendingRun {
    var number: Int
    var configuration: NIConfiguration
  }

  /// The source of the poses while the session runs with camera assistance.
  private enum PoseSource {
    case device(TrajectoryFollower)
    case shared(ARSession, Int)
  }

  init(on device: any NearbyDevice) {
    self.device = device
    token = .random(on: device.capabilities)
    machine = SessionStateMachine(device.limits)
  }

  /// Joins the device; apart from the initialiser, since the receiver needs the finished object.
  func begin(for session: NISession) {
    lock.withLock {
      self.session = session
      join()
    }
  }

  deinit {
    // A dropped session does not notify its peer, which times out.
    stopPoses()
    device.leave(token, tellsPeer: false)
    for stream in streams.values { stream.finish() }
  }

  // MARK: The app's side

  var currentDelegate: (any NISessionDelegate)? {
    get { lock.withLock { delegate } }
    set { lock.withLock { delegate = newValue } }
  }

  var delegateQueue: DispatchQueue? {
    get { lock.withLock { queue } }
    set { lock.withLock { queue = newValue } }
  }

  var options: NearbySessionOptions {
    get { lock.withLock { optionsInForce } }
    set { lock.withLock { optionsInForce = newValue } }
  }

  var discoveryToken: NIDiscoveryToken? {
    lock.withLock { machine.isInvalidated ? nil : NIDiscoveryToken(token) }
  }

  var currentConfiguration: NIConfiguration? {
    lock.withLock { newestConfiguration?.copy() as? NIConfiguration }
  }

  func setARSession(_ arSession: ARSession) { lock.withLock { self.arSession = arSession } }

  func run(_ given: NIConfiguration) {
    guard let configuration = given.copy() as? NIConfiguration else { return }
    let (number, arSession) = lock.withLock {
      runCount += 1
      pendingRun = PendingRun(number: runCount, configuration: configuration)
      return (runCount, self.arSession)
    }
    guard let arSession else { return start(number, .own) }
    if arSession.configurationFault != nil { return start(number, .faulty) }
    // The AR session's delegate is foreign code, so it is asked without the lock and on its own
    // queue.
    arSession.askRelocalization { [weak self] attempts in
      self?.start(number, attempts ? .faulty : .shared)
    }
  }

  /// Completes a call of `run`, unless the session was paused, ended or run again since.
  private func start(_ number: Int, _ trajectory: RunRequest.Trajectory) {
    lock.withLock {
      guard let run = pendingRun, run.number == number else { return }
      pendingRun = nil
      if case .invalidated(let code) = machine.state { return refuse(code ?? .sessionFailed) }
      let configuration = run.configuration
      self.configuration = configuration
      if let arSession, arSession.device !== device { move(to: arSession.device) }
      let active = device.activeSessions(besides: token)
      let peer = configuration.peer.token
      if device.authorization == .undetermined { device.askForPermission() }
      handle(
        .run(
          RunRequest(
            time: device.isClockSet ? device.now : nil, isMeasurable: configuration.isMeasurable,
            namesItself: peer == token, peer: peer, peerHasEnded: device.hasEnded(peer),
            isAccessory: configuration.accessory != nil,
            isAccessoryConnected: !configuration.runsInBackground
              || device.isConnected(to: peer),
            isListening: configuration.isListening,
            runsInBackground: configuration.runsInBackground,
            usesCamera: configuration.isCameraAssistanceEnabled, trajectory: trajectory,
            measuresExtendedDistance: configuration.measuresExtendedDistance,
            capabilities: device.capabilities,
            peerCapabilities: peer.capabilities,
            authorization: device.authorization, activeSessions: active.all,
            activeExtendedSessions: active.extended)))
    }
  }

  func pause() {
    lock.withLock {
      configuration = newestConfiguration
      pendingRun = nil
      handle(.pause)
    }
  }

  func invalidate() {
    lock.withLock {
      isSilent = true
      handle(.invalidate)
    }
  }

  func updateMotionState(_ state: NIMotionActivityState, of peer: NIDiscoveryToken) {
    lock.withLock {
      guard newestConfiguration?.peer == peer else { return }
      optionsInForce.peerMotion = state.peerMotion
      if estimator?.peer == peer { estimator?.setMotion(state.peerMotion) }
    }
  }

  func worldTransform(for object: NINearbyObject) -> simd_float4x4? {
    lock.withLock {
      guard machine.state == .running, estimator?.peer == object.discoveryToken else { return nil }
      let transform = estimator?.worldTransform(at: machine.now)
      guard let transform, case .shared(let arSession, _) = source else { return transform }
      return arSession.inWorldOfFrames(transform)
    }
  }

  func updates() -> AsyncStream<NearbyUpdate> {
    let id = UUID()
    let (stream, continuation) = AsyncStream.makeStream(
      of: NearbyUpdate.self, bufferingPolicy: .bufferingNewest(256))
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      // The stream may be finished under the lock, so the handler must not take it on the same
      // thread.
      DispatchQueue.global().async {
        _ = self.lock.withLock { self.streams.removeValue(forKey: id) }
      }
    }
    lock.withLock {
      if machine.isInvalidated { continuation.finish() } else { streams[id] = continuation }
    }
    return stream
  }

  // MARK: The device's side

  private func join() {
    device.join(token) { [weak self] event in self?.receive(event) }
  }

  private func move(to other: any NearbyDevice) {
    stopPoses()
    device.leave(token, tellsPeer: false)
    device = other
    join()
  }

  private func receive(_ event: DeviceEvent) {
    lock.withLock {
      switch event {
      case .pose(let pose):
        guard let change = estimator?.add(pose), machine.state == .running else { return }
        tell(change)
      case .tracking(let sample):
        guard machine.state == .running, let change = estimator?.add(sample) else { return }
        tell(change)
      case .measurement(let measurement):
        handle(.measurement(at: measurement.timestamp, isEmpty: measurement.isEmpty), measurement)
      case .anchors(let messages, let time):
        // In the background they are withheld.
        if machine.handle(.measurement(at: time, isEmpty: false)) == [.fuse] {
          tell(.didUpdateDLTDOA(messages.map(NIDLTDOAMeasurement.init)))
        }
      case .peerEnded: handle(.peerEnded)
      case .time(let time): handle(.time(time))
      case .lifecycle(let change): handle(.lifecycle(change))
      case .authorization(let isAllowed): handle(.authorization(isAllowed: isAllowed))
      }
    }
  }

  private func receive(_ event: ARSession.Event, from arSession: ARSession) {
    switch event {
    case .trajectory(.lifecycle), .trajectory(.time): break  // They come from the device itself.
    case .trajectory(let event): receive(event)
    case .reconfigured:
      if arSession.configurationFault != nil { return endForTrajectoryFault(of: arSession) }
      arSession.askRelocalization { [weak self] attempts in
        if attempts { self?.endForTrajectoryFault(of: arSession) }
      }
    }
  }

  /// Ends the session if its poses come from an AR session that cannot be used any more.
  private func endForTrajectoryFault(of arSession: ARSession) {
    lock.withLock {
      if case .shared(arSession, _) = source { handle(.trajectoryFault) }
    }
  }

  // MARK: Under the lock

  /// The configuration of the last call of `run`, completed or not.
  private var newestConfiguration: NIConfiguration? { pendingRun?.configuration ?? configuration }

  private func handle(
    _ event: SessionStateMachine.Event, _ measurement: RadioMeasurement? = nil
  ) {
    for effect in machine.handle(event) { perform(effect, measurement) }
  }

  private func perform(_ effect: SessionStateMachine.Effect, _ measurement: RadioMeasurement?) {
    switch effect {
    case .startRanging: startRanging()
    case .stopRanging:
      stopPoses()
      device.rest(token)
    case .leave:
      pendingRun = nil
      stopPoses()
      device.leave(token, tellsPeer: true)
      for stream in streams.values where isSilent { stream.finish() }
    case .fuse:
      if let measurement, let change = estimator?.add(measurement) { tell(change) }
    case .withhold: break
    case .didStartRunning: tell(.didStartRunning)
    case .shareConfiguration:
      guard let estimator else { return }
      let data = ShareableConfigurationData(token: token)
      tell(.didGenerateShareableConfigurationData(Data(data.bytes), estimator.newest))
    case .wasSuspended: tell(.wasSuspended)
    case .suspensionEnded: tell(.suspensionEnded)
    case .didRemove(let reason):
      guard let peer = configuration?.peer else { return }
      tell(.didRemove(NINearbyObject(discoveryToken: peer), reason))
    case .didInvalidate(let code):
      // An app that does not use environments gets the reason for a missing one only here.
      let absence = (device as? AbsentEnvironment)?.failure
      tell(.didInvalidate(NIError(code, detail: absence)))
    }
  }

  private func startRanging() {
    guard let configuration else { return }
    guard !configuration.isListening else {
      estimator = nil
      return device.listen(token)
    }
    let usesCamera = configuration.isCameraAssistanceEnabled
    // The same peer with the same settings keeps its state from before the pause.
    if estimator?.peer != configuration.peer || estimator?.usesCamera != usesCamera
      || estimator?.options != optionsInForce
    {
      do throws(FusionConfigurationError) {
        estimator = try SessionEstimator(
          peer: configuration.peer, isAccessory: configuration.accessory != nil,
          usesCamera: usesCamera, options: optionsInForce, device: device)
      } catch {
        estimator = nil
        return handle(.failure)
      }
    }
    estimator?.begin()
    if usesCamera { startPoses() } else { stopPoses() }
    device.range(
      token, with: configuration.peer.token,
      isExtended: configuration.measuresExtendedDistance)
  }

  private func startPoses() {
    stopPoses()
    if let arSession {
      source = .shared(
        arSession,
        arSession.observe { [weak self, weak arSession] event in
          if let arSession { self?.receive(event, from: arSession) }
        })
    } else {
      source = .device(device.follow { [weak self] event in self?.receivePose(event) })
    }
  }

  private func receivePose(_ event: DeviceEvent) {
    // Lifecycle and time come to the session itself as well.
    switch event {
    case .pose, .tracking: receive(event)
    case .measurement, .anchors, .peerEnded, .time, .lifecycle, .authorization: break
    }
  }

  private func stopPoses() {
    switch source {
    case .device(let follower): device.unfollow(follower)
    case .shared(let arSession, let id): arSession.stopObserving(id)
    case nil: break
    }
    source = nil
  }

  private func tell(_ change: SessionEstimator.Change) {
    if let object = change.object { tell(.didUpdate(object)) }
    if let status = change.sessionConvergence {
      tell(.didUpdateConvergence(NIAlgorithmConvergence(status), nil))
    }
    if let status = change.convergence {
      tell(.didUpdateConvergence(NIAlgorithmConvergence(status), estimator?.newest))
    }
    if change.hasLostConvergence { yield(.lostConvergence) }
  }

  private func tell(_ callback: SessionCallback) {
    yield(NearbyUpdate(callback))
    if case .didInvalidate = callback { for stream in streams.values { stream.finish() } }
    // The reference is weak: a released session makes no callbacks, and its queue must not keep it
    // alive.
    (queue ?? .main).async { [weak self] in self?.deliver(callback) }
  }

  /// Answers `run` on a session that has ended, whose streams have ended, too.
  private func refuse(_ code: NIError.Code) {
    let error = NIError(code, detail: "the session was invalidated; make a new one")
    (queue ?? .main).async { [weak self] in
      guard let self else { return }
      let (delegate, session) = self.lock.withLock { (self.delegate, self.session) }
      if let delegate, let session { delegate.session(session, didInvalidateWith: error) }
    }
  }

  private func yield(_ update: NearbyUpdate) {
    for stream in streams.values { stream.yield(update) }
  }

  // MARK: On the delegate's queue

  private func deliver(_ callback: SessionCallback) {
    let (delegate, session) = lock.withLock { (isSilent ? nil : self.delegate, self.session) }
    if let delegate, let session { callback.call(delegate, session) }
  }
}
