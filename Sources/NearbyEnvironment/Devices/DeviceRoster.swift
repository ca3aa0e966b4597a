// SPDX-License-Identifier: Apache-2.0

/// The sessions of a device and the followers of its trajectory.
///
/// It is a plain value, which its owner protects with a lock.
struct DeviceRoster {
  typealias Receiver = @Sendable (DeviceEvent) -> Void

  /// An event for a receiver, to be delivered after all locks are released.
  struct Message {
    var receiver: Receiver
    var event: DeviceEvent

    func deliver() { receiver(event) }
  }

  /// A session of the device.
  struct Session {
    var receive: Receiver
    /// The session at the other end; `nil` while it does not measure.
    var peer: SessionToken?
    /// The session at the other end of the newest run, whose end it hears of while it rests, too.
    var awaited: SessionToken?
    var isExtended = false
    /// Whether it listens to anchors.
    var isListening = false
    /// Its number in the order in which sessions joined.
    var number: Int
  }

  private(set) var sessions: [SessionToken: Session] = [:]
  private var followers: [(follower: TrajectoryFollower, receive: Receiver)] = []
  private var nextNumber = 0

  var isEmpty: Bool { sessions.isEmpty && followers.isEmpty }

  /// The sessions in the order in which they joined, which makes runs repeatable.
  var ordered: [(token: SessionToken, session: Session)] {
    sessions.sorted { $0.value.number < $1.value.number }.map { ($0.key, $0.value) }
  }

  mutating func join(_ token: SessionToken, receive: @escaping Receiver) {
    sessions[token] = Session(receive: receive, number: nextNumber)
    nextNumber += 1
  }

  mutating func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {
    sessions[token]?.peer = peer
    sessions[token]?.awaited = peer
    sessions[token]?.isExtended = isExtended
  }

  mutating func listen(_ token: SessionToken) { sessions[token]?.isListening = true }

  mutating func rest(_ token: SessionToken) {
    sessions[token]?.peer = nil
    sessions[token]?.isListening = false
  }

  mutating func leave(_ token: SessionToken) { sessions[token] = nil }

  func active(besides token: SessionToken) -> (all: Int, extended: Int) {
    let others = sessions.filter {
      $0.key != token && ($0.value.peer != nil || $0.value.isListening)
    }.values
    return (others.count, others.count { $0.isExtended })
  }

  mutating func follow(_ receive: @escaping Receiver) -> TrajectoryFollower {
    let follower = TrajectoryFollower(number: nextNumber)
    nextNumber += 1
    followers.append((follower, receive))
    return follower
  }

  mutating func unfollow(_ follower: TrajectoryFollower) {
    followers.removeAll { $0.follower == follower }
  }

  /// An event for all followers of the trajectory.
  func toFollowers(_ event: DeviceEvent) -> [Message] {
    followers.map { Message(receiver: $0.receive, event: event) }
  }

  /// An event for all sessions.
  func toSessions(_ event: DeviceEvent) -> [Message] {
    ordered.map { Message(receiver: $0.session.receive, event: event) }
  }

  /// The end of a peer's session, for the sessions that measure it or have measured it last.
  func toSessions(endOf peer: SessionToken) -> [Message] {
    ordered.filter { $0.session.awaited == peer }.map {
      Message(receiver: $0.session.receive, event: .peerEnded)
    }
  }

  /// An event for the sessions that measure a peer.
  func toSessions(with peer: SessionToken, _ event: DeviceEvent) -> [Message] {
    ordered.filter { $0.session.peer == peer }.map {
      Message(receiver: $0.session.receive, event: event)
    }
  }
}

/// A device whose methods only update a ``DeviceRoster``.
protocol RosterDevice: NearbyDevice {
  /// Calls a function with the roster while it is locked.
  func withRoster<Value>(_ body: (inout DeviceRoster) -> Value) -> Value
}

extension RosterDevice {
  /// Registers a session, before it runs.
  public func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void) {
    withRoster { $0.join(token, receive: receive) }
  }

  /// Starts delivering the measurements of a peer.
  public func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {
    withRoster { $0.range(token, with: peer, isExtended: isExtended) }
  }

  /// Stops delivering measurements.
  public func rest(_ token: SessionToken) { withRoster { $0.rest(token) } }

  /// Removes a session.
  public func leave(_ token: SessionToken, tellsPeer: Bool) { withRoster { $0.leave(token) } }

  /// How many other sessions measure.
  public func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int) {
    withRoster { $0.active(besides: token) }
  }

  /// Starts reporting the trajectory.
  public func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower {
    withRoster { $0.follow(receive) }
  }

  /// Stops reporting the trajectory.
  public func unfollow(_ follower: TrajectoryFollower) { withRoster { $0.unfollow(follower) } }
}
