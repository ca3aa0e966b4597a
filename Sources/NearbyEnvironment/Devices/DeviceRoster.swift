// SPDX-License-Identifier: Apache-2.0

/// The sessions of a device and those who follow its trajectory: the books that every device keeps.
///
/// A value; its owner guards it.
struct DeviceRoster {
  typealias Receiver = @Sendable (DeviceEvent) -> Void

  /// Something to be told, after all locks are released.
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
    var isExtended = false
    /// Its place in the order in which sessions joined.
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
    sessions[token]?.isExtended = isExtended
  }

  mutating func rest(_ token: SessionToken) { sessions[token]?.peer = nil }

  mutating func leave(_ token: SessionToken) { sessions[token] = nil }

  func active(besides token: SessionToken) -> (all: Int, extended: Int) {
    let others = sessions.filter { $0.key != token && $0.value.peer != nil }.values
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

  /// An event for all who follow the trajectory.
  func toFollowers(_ event: DeviceEvent) -> [Message] {
    followers.map { Message(receiver: $0.receive, event: event) }
  }

  /// An event for all sessions.
  func toSessions(_ event: DeviceEvent) -> [Message] {
    ordered.map { Message(receiver: $0.session.receive, event: event) }
  }

  /// An event for the sessions that measure a peer.
  func toSessions(with peer: SessionToken, _ event: DeviceEvent) -> [Message] {
    ordered.filter { $0.session.peer == peer }.map {
      Message(receiver: $0.session.receive, event: event)
    }
  }
}

/// A device that keeps its books in a ``DeviceRoster`` and needs to do no more than that.
protocol RosterDevice: NearbyDevice {
  /// Gives the roster out, guarded.
  func withRoster<Value>(_ body: (inout DeviceRoster) -> Value) -> Value
}

extension RosterDevice {
  /// Takes in a session, before it runs.
  public func join(_ token: SessionToken, receive: @escaping @Sendable (DeviceEvent) -> Void) {
    withRoster { $0.join(token, receive: receive) }
  }

  /// Begins to hand out the measurements of a peer.
  public func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {
    withRoster { $0.range(token, with: peer, isExtended: isExtended) }
  }

  /// Stops handing out.
  public func rest(_ token: SessionToken) { withRoster { $0.rest(token) } }

  /// Lets a session go for ever.
  public func leave(_ token: SessionToken, tellsPeer: Bool) { withRoster { $0.leave(token) } }

  /// How many other sessions measure.
  public func activeSessions(besides token: SessionToken) -> (all: Int, extended: Int) {
    withRoster { $0.active(besides: token) }
  }

  /// Begins to report the trajectory.
  public func follow(_ receive: @escaping @Sendable (DeviceEvent) -> Void) -> TrajectoryFollower {
    withRoster { $0.follow(receive) }
  }

  /// Stops reporting the trajectory.
  public func unfollow(_ follower: TrajectoryFollower) { withRoster { $0.unfollow(follower) } }
}
