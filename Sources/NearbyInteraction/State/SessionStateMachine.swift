// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry

/// The state machine of a session, which turns events into effects.
///
/// It is a pure value without threads and without a clock. Time comes from events, so that timeouts
/// occur in a replay when they would occur live.
///
/// ```
///            run                pause
///   idle ──────────► running ─────────► paused
///    │ run, asks      │  ▲ ▲  run         ▲
///    ▼                │  │ └─────────────┤ suspension ended
///   awaitingPermission┘  │               │
///                     │  └── removed ◄── silence, peer ended
///                     └────► suspended ──┘
///   every state ──► invalidated, and none leads out of that
/// ```
struct SessionStateMachine: Hashable, Sendable {
  /// The states of a session.
  enum State: Hashable, Sendable {
    /// It has not been run.
    case idle
    /// It was run, and the user is being asked for permission.
    case awaitingPermission
    /// It measures.
    case running
    /// It may be run again: after `pause`, or after a suspension.
    case paused
    /// The device does not let it measure, since the given time. `nil` stands for the first time of
    /// the clock.
    case suspended(since: Timestamp?)
    /// Its peer was removed; it may be run again.
    case removed
    /// It has ended: with an error, or by the app.
    case invalidated(NIError.Code?)
  }

  /// An event of a session.
  enum Event: Hashable, Sendable {
    /// The app runs it.
    case run(RunRequest)
    /// The app pauses it.
    case pause
    /// The app ends it.
    case invalidate
    /// The radio measured, or tried to.
    case measurement(at: Timestamp, isEmpty: Bool)
    /// Time has passed.
    case time(Timestamp)
    /// The peer ended its session.
    case peerEnded
    /// The operating system changes the state of the app.
    case lifecycle(DeviceLifecycle)
    /// The user answered.
    case authorization(isAllowed: Bool)
    /// The AR session now runs in a way that cannot be used.
    case trajectoryFault
    /// Something failed for good.
    case failure
  }

  /// An action that an event causes.
  enum Effect: Hashable, Sendable {
    /// Start measuring.
    case startRanging
    /// Stop measuring.
    case stopRanging
    /// Remove the session from the device, and notify the peer.
    case leave
    /// Fuse the measurement and tell the app.
    case fuse
    /// Leave the measurement with the accessory.
    case withhold
    /// Tell the app that the session runs.
    case didStartRunning
    /// Give the app the data for its accessory.
    case shareConfiguration
    /// Tell the app that the session is suspended.
    case wasSuspended
    /// Tell the app that the suspension has ended.
    case suspensionEnded
    /// Tell the app that the peer was removed.
    case didRemove(NINearbyObject.RemovalReason)
    /// Tell the app that the session has ended.
    case didInvalidate(NIError.Code)
  }

  let limits: SessionLimits
  private(set) var state = State.idle
  /// The newest time of an event.
  private(set) var now: Timestamp?
  /// The last call of `run`.
  private var request: RunRequest?
  /// The time at which it started; `nil` until the clock is set.
  private var runningSince: Timestamp?
  /// The time of the last measurement of the peer in this run.
  private var lastHeard: Timestamp?
  /// Whether the peer has ended its session and the app has not been told yet.
  private var hasUntoldEnd = false
  private var isSuspendedByHost = false
  private var isInBackground = false

  init(_ limits: SessionLimits) { self.limits = limits }

  /// Whether the session has ended.
  var isInvalidated: Bool {
    if case .invalidated = state { true } else { false }
  }

  /// Handles an event.
  ///
  /// - Parameter event: The event.
  /// - Returns: The effects in order; none when the event has no meaning in this state.
  mutating func handle(_ event: Event) -> [Effect] {
    if isInvalidated { return [] }
    switch event {
    case .run(let request): return run(request)
    case .pause: return pause()
    case .invalidate: return end(nil)
    case .measurement(let time, let isEmpty): return measured(at: time, isEmpty: isEmpty)
    case .time(let time): return pass(to: time)
    case .peerEnded:
      switch state {
      case .running, .paused: return remove(.peerEnded)
      case .suspended:
        // The app gets no callbacks while it is suspended.
        hasUntoldEnd = true
        return []
      case .idle, .awaitingPermission, .removed, .invalidated: return []
      }
    case .lifecycle(let change): return live(change)
    case .authorization(let isAllowed): return answered(isAllowed)
    case .trajectoryFault:
      return state == .running && request?.usesCamera == true ? end(.invalidARConfiguration) : []
    case .failure: return end(.sessionFailed)
    }
  }

  // MARK: The app's calls

  /// The three outcomes of `run`: it starts, it is suspended at once, or it is invalidated at once.
  private mutating func run(_ request: RunRequest) -> [Effect] {
    if let time = request.time { advance(to: time) }
    let isKnownPeer = self.request?.peer == request.peer
    self.request = request
    if let refusal = request.refusal(limits) { return end(refusal) }
    if request.peerHasEnded {
      // The token of a session that had ended before this one met it.
      guard isKnownPeer else { return end(.invalidConfiguration) }
      hasUntoldEnd = true
    } else if !isKnownPeer {
      hasUntoldEnd = false
    }
    if request.authorization == .undetermined {
      let wasRunning = state == .running
      state = .awaitingPermission
      return wasRunning ? [.stopRanging] : []
    }
    return start()
  }

  private mutating func start() -> [Effect] {
    let wasRunning = state == .running
    if isHeldBack {
      state = .suspended(since: now)
      return wasRunning ? [.stopRanging, .wasSuspended] : [.wasSuspended]
    }
    state = .running
    runningSince = now
    lastHeard = nil
    let started: [Effect] = [.startRanging, .didStartRunning]
    if hasUntoldEnd { return started + remove(.peerEnded) }
    return request?.isAccessory == true ? started + [.shareConfiguration] : started
  }

  private mutating func pause() -> [Effect] {
    switch state {
    case .running:
      state = .paused
      return [.stopRanging]
    case .awaitingPermission:
      state = .paused
      return []
    case .idle, .paused, .suspended, .removed, .invalidated: return []
    }
  }

  private mutating func end(_ code: NIError.Code?) -> [Effect] {
    state = .invalidated(code)
    return code.map { [.leave, .didInvalidate($0)] } ?? [.leave]
  }

  // MARK: Measurements and time

  private mutating func measured(at time: Timestamp, isEmpty: Bool) -> [Effect] {
    guard state == .running else { return [] }
    advance(to: time)
    if !isEmpty { lastHeard = max(lastHeard ?? time, time) }
    return isInBackground ? [.withhold] : [.fuse]
  }

  private mutating func pass(to time: Timestamp) -> [Effect] {
    advance(to: time)
    guard let now else { return [] }
    switch state {
    case .running:
      guard let runningSince, let request else { return [] }
      if now.seconds(since: runningSince) > limits.usage { return end(.resourceUsageTimeout) }
      // Anchors that are not heard are out of reach, and no peer that could be removed.
      guard !request.isListening else { return [] }
      let patience =
        lastHeard != nil
        ? limits.silence : request.isAccessory ? limits.accessoryStart : limits.firstContact
      let isSilent = now.seconds(since: lastHeard ?? runningSince) > patience
      return isSilent ? remove(.timeout) : []
    case .suspended(let since):
      return now.seconds(since: since ?? now) > limits.suspension ? end(.sessionFailed) : []
    case .paused where hasUntoldEnd: return remove(.peerEnded)
    case .idle, .awaitingPermission, .paused, .removed, .invalidated: return []
    }
  }

  private mutating func remove(_ reason: NINearbyObject.RemovalReason) -> [Effect] {
    let wasRunning = state == .running
    state = .removed
    hasUntoldEnd = false
    return wasRunning ? [.stopRanging, .didRemove(reason)] : [.didRemove(reason)]
  }

  /// Time never runs backwards, whatever the order in which events arrive.
  private mutating func advance(to time: Timestamp) {
    let isFirst = now == nil
    now = max(now ?? time, time)
    guard isFirst else { return }
    // Intervals that began before the clock was set count from here.
    if state == .running { runningSince = now }
    if state == .suspended(since: nil) { state = .suspended(since: now) }
  }

  // MARK: The device

  /// Whether the device does not let the session measure now.
  private var isHeldBack: Bool {
    isSuspendedByHost || isInBackground && request?.runsInBackground != true
  }

  private mutating func live(_ change: DeviceLifecycle) -> [Effect] {
    switch change {
    case .suspended: isSuspendedByHost = true
    case .suspensionEnded: isSuspendedByHost = false
    case .enteredBackground: isInBackground = true
    case .enteredForeground: isInBackground = false
    }
    switch state {
    case .running where isHeldBack:
      state = .suspended(since: now)
      return [.stopRanging, .wasSuspended]
    case .suspended where !isHeldBack:
      state = .paused
      return [.suspensionEnded]
    case .idle, .awaitingPermission, .running, .paused, .suspended, .removed, .invalidated:
      return []
    }
  }

  private mutating func answered(_ isAllowed: Bool) -> [Effect] {
    switch state {
    case .idle, .invalidated: return []
    case .awaitingPermission: return isAllowed ? start() : end(.userDidNotAllow)
    case .running, .paused, .suspended, .removed: return isAllowed ? [] : end(.userDidNotAllow)
    }
  }
}
