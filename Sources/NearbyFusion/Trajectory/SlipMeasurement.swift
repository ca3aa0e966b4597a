// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How far the odometry has slipped, by the places of peers at rest before and after.
///
/// When the odometry turns by ψ about gravity and moves by s while the device is at d, each peer is at another
/// place of its world from then on:
///
/// `p' = d + R(ψ) (p - d + s)`
///
/// ψ is the least-squares rotation in the horizontal plane between both sets of places about their means; s
/// follows from the means.
struct SlipMeasurement: Hashable, Sendable, Codable {
  /// A turn and a displacement.
  struct Slip: Hashable, Sendable {
    /// The turn about gravity, radians, counterclockwise as seen from above.
    var turnRadians: Double
    /// The displacement in the world before the turn, metres.
    var displacement: Vector3
  }

  /// A peer and its place before the slip.
  struct Mark: Hashable, Sendable, Codable {
    var peer: Int
    var place: Vector3
  }

  /// Since when the odometry has slipped.
  let since: Timestamp
  /// The device when that was detected.
  private let device: TrajectoryPoint
  private let before: [Mark]

  /// Two peers at least must be so far apart in the root of the sum of squares about their mean, metres:
  /// nearer ones tell no turn.
  private static let leastSpread = 1.5
  /// The slip must have lasted for so long, and is given up after so long, seconds.
  private static let earliest = SlipMonitor.lasting + 1.5
  static let latest = 20.0

  /// Begins with the places before the slip; `nil` when they do not tell a turn.
  init?(since: Timestamp, detectedFrom device: TrajectoryPoint, before: [Mark]) {
    let mean = Self.mean(before.map(\.place))
    let spread = before.reduce(0) { sum, mark in
      sum + Self.horizontal(mark.place - mean, mark.place - mean)
    }
    guard before.count > 1, spread > Self.leastSpread * Self.leastSpread else { return nil }
    (self.since, self.device, self.before) = (since, device, before)
  }

  /// Whether all peers of a restored measurement exist.
  func isConsistent(peerCount: Int) -> Bool {
    before.count > 1 && before.allSatisfy { (0..<peerCount).contains($0.peer) }
  }

  /// Whether it is too late to measure it, or its world is lost.
  func isVoid(at later: TrajectoryPoint) -> Bool {
    later.world != device.world
      || later.timestamp.seconds(since: device.timestamp) > Self.latest
  }

  /// The slip, once all peers have been found again.
  ///
  /// - Parameters:
  ///   - time: The time.
  ///   - place: Where a peer is now; `nil` while that is not sure.
  /// - Returns: The slip; `nil` while some place is not sure.
  func slip(at time: Timestamp, _ place: (Int) -> Vector3?) -> Slip? {
    guard time.seconds(since: device.timestamp) > Self.earliest else { return nil }
    var after: [Vector3] = []
    for mark in before {
      guard let now = place(mark.peer) else { return nil }
      after.append(now)
    }
    let means = (Self.mean(before.map(\.place)), Self.mean(after))
    var (along, across) = (0.0, 0.0)
    for (mark, now) in zip(before, after) {
      let (from, to) = (mark.place - means.0, now - means.1)
      along += Self.horizontal(from, to)
      // From z to x is counterclockwise about y.
      across += from.z * to.x - from.x * to.z
    }
    let turn = atan2(across, along)
    let back = Rotation(angleRadians: -turn, about: Vector3(0, 1, 0))
    let origin = device.worldFromDevice.translation
    return Slip(
      turnRadians: turn, displacement: back.act(means.1 - origin) - (means.0 - origin))
  }

  private static func mean(_ places: [Vector3]) -> Vector3 {
    places.reduce(.zero, +) / Double(max(1, places.count))
  }

  private static func horizontal(_ a: Vector3, _ b: Vector3) -> Double { a.x * b.x + a.z * b.z }
}
