// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyGeometry

/// A message from one process to the others about one of its devices, sent once per exchange of the
/// radios.
///
/// A beacon is complete and does not refer to earlier ones. A lost beacon costs one measurement,
/// and a duplicated or late one is recognised by its number. It holds the device's true pose; every
/// process computes the radios' measurements from the seed.
///
/// It is encoded as one line of JSON, in one datagram.
struct WorldBeacon: Codable, Hashable, Sendable {
  /// A session that measures.
  struct Session: Codable, Hashable, Sendable {
    var token: SessionToken
    var peer: SessionToken
    var isExtended: Bool
  }

  static let version = 1
  /// The longest line of a beacon, bytes.
  static let largestLine = 1 << 16
  /// The largest number of sessions, and of ended sessions, of a beacon.
  ///
  /// This many always fit into a line.
  static let mostSessions = 256

  var version = Self.version
  /// The number of the device.
  var device: UInt64
  /// The number of the exchange: the monotonic clock in periods of the radio.
  var exchange: Int64
  /// The device's position, metres, then its attitude as a quaternion, x y z w.
  var pose: [Double]
  /// The device's sessions that measure.
  var sessions: [Session]
  /// Sessions that ended recently.
  var ended: [SessionToken]

  /// Makes a beacon with at most the first sessions and the newest ended sessions that fit.
  init(
    device: UInt64, exchange: Int64, pose: RigidTransform, sessions: [Session],
    ended: [SessionToken]
  ) {
    self.device = device
    self.exchange = exchange
    let (t, r) = (pose.translation, pose.rotation)
    self.pose = [t.x, t.y, t.z, r.x, r.y, r.z, r.w]
    self.sessions = Array(sessions.prefix(Self.mostSessions))
    self.ended = Array(ended.suffix(Self.mostSessions))
  }

  /// The device's pose; `nil` when the numbers are not a pose.
  var worldFromDevice: RigidTransform? {
    guard pose.count == 7, pose.allSatisfy({ $0.isFinite && abs($0) < 1e7 }),
      let rotation = Rotation(normalizing: pose[3], pose[4], pose[5], pose[6])
    else { return nil }
    return RigidTransform(
      rotation: rotation, translation: Vector3(pose[0], pose[1], pose[2]))
  }

  /// The beacon as a line.
  var line: [UInt8] {
    // The numbers are finite by construction, so encoding cannot fail.
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(self)).map { Array($0) + [10] } ?? []
  }

  /// Reads a line; `nil` when it is no beacon of this version.
  init?(line: [UInt8]) {
    guard line.count <= Self.largestLine,
      let beacon = try? JSONDecoder().decode(WorldBeacon.self, from: Data(line)),
      beacon.version == Self.version, beacon.worldFromDevice != nil,
      beacon.sessions.count <= Self.mostSessions, beacon.ended.count <= Self.mostSessions
    else { return nil }
    self = beacon
  }
}

/// The transport of beacons to the other processes, which may lose them.
protocol WorldLink: AnyObject, Sendable {
  /// Sends a line to all others, without waiting.
  func send(_ line: [UInt8])
}
