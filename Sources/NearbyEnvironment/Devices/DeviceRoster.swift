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
