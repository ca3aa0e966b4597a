// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// Interpolates the truth of a recording at times that never go back.
///
/// The device's poses are streamed. The peers' positions, which are few, are kept in memory.
struct TruthTrack: ~Copyable {
  /// The longest gap between two true poses or positions that is interpolated, seconds.
  static let longestGap = 2.0

  private struct Position {
    var timestamp: Timestamp
    var inWorld: Vector3
  }

  private let frames: FrameConvention
  private var trajectory: TrajectoryReader
  private var window = PoseWindow()
  private var positions: [String: [Position]] = [:]

  /// Opens the truth of a recording; `nil` when it holds none.
  static func open(_ recording: RecordingReader) throws(RecordingError) -> TruthTrack? {
    guard let trajectory = try recording.truthTrajectory(), let peers = try recording.truthPeers()
    else { return nil }
    return try TruthTrack(
      trajectory: trajectory, peers: peers, frames: recording.manifest.frames)
  }

  private init(
    trajectory: consuming TrajectoryReader, peers: consuming TruthPeersReader,
    frames: FrameConvention
  ) throws(RecordingError) {
    self.frames = frames
    self.trajectory = trajectory
    while let row = try peers.next() {
      positions[row.peer, default: []].append(
        Position(timestamp: row.timestamp, inWorld: row.positionInEngineWorld(from: frames)))
    }
  }

  /// Whether the peer's position is known at any time.
  func knows(_ peer: String) -> Bool { positions[peer] != nil }

  /// The device's true pose; `nil` outside the truth's time span and in its gaps.
  mutating func pose(at time: Timestamp) throws(RecordingError) -> RigidTransform? {
    while window.last.map({ $0.timestamp < time }) ?? true, let row = try trajectory.next() {
      window.add(row.devicePose(from: frames))
    }
    return window.pose(at: time, longestGap: Self.longestGap)
  }

  /// The peer's true position; `nil` outside the truth's time span and in its gaps.
  ///
  /// A single row is valid for all times.
  func position(of peer: String, at time: Timestamp) -> Vector3? {
    guard let rows = positions[peer], let first = rows.first else { return nil }
    if rows.count == 1 { return first.inWorld }
    // Bisection for the first row that is not before the time.
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].timestamp < time { low = middle + 1 } else { high = middle }
    }
    guard low < rows.count else { return nil }
    let next = rows[low]
    if next.timestamp == time { return next.inWorld }
    guard low > 0 else { return nil }
    let previous = rows[low - 1]
    let gap = next.timestamp.seconds(since: previous.timestamp)
    guard gap <= Self.longestGap else { return nil }
    let fraction = time.seconds(since: previous.timestamp) / gap
    return previous.inWorld + fraction * (next.inWorld - previous.inWorld)
  }
}

/// The last two poses of a trajectory.
struct PoseWindow {
  private var previous: DevicePose?
  private(set) var last: DevicePose?

  /// Moves on to the next pose.
  mutating func add(_ pose: DevicePose) {
    previous = last
    last = pose
  }

  /// The pose at a time between the two, or at one of them; `nil` elsewhere and in a long gap.
  func pose(at time: Timestamp, longestGap: Double) -> RigidTransform? {
    guard let last else { return nil }
    if last.timestamp == time { return last.worldFromDevice }
    guard let previous, previous.timestamp <= time, time < last.timestamp else { return nil }
    let gap = last.timestamp.seconds(since: previous.timestamp)
    guard gap <= longestGap else { return nil }
    return previous.worldFromDevice.interpolated(
      to: last.worldFromDevice, fraction: time.seconds(since: previous.timestamp) / gap)
  }
}
