// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry

/// One of the paths of the device that a recording and its result hold.
public struct DevicePath: Hashable, Sendable {
  /// Where a path comes from.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The recording's odometry.
    case raw
    /// The odometry as peers correct it: ``MapTrajectoryWriter/correctedFileName``.
    case corrected
    /// The path as the whole recording has it: ``MapTrajectoryWriter/smoothedFileName``.
    case smoothed
    /// The true path, turned and shifted onto the corrected one, or onto the odometry where there is none.
    case truth = "true"
  }

  /// Where it comes from.
  public var kind: Kind
  /// Its poses, in the recording's own frames.
  public var poses: [PoseRow]

  /// Makes a path.
  public init(kind: Kind, poses: [PoseRow]) { (self.kind, self.poses) = (kind, poses) }

  /// Reads all paths that there are, in the order of ``Kind``.
  ///
  /// - Parameters:
  ///   - result: The folder that a run wrote.
  ///   - recording: The recording of the result.
  ///   - longestPoseGap: True poses further apart than this, seconds, are not interpolated for the alignment.
  /// - Returns: The paths; the odometry is always among them.
  /// - Throws: The first fault of a trajectory.
  public static func read(
    result: String, of recording: RecordingReader, longestPoseGap: Double
  ) throws(RecordingError) -> [DevicePath] {
    var paths = [DevicePath(kind: .raw, poses: try poses(recording.trajectory()))]
    for (kind, name) in [
      (Kind.corrected, MapTrajectoryWriter.correctedFileName),
      (.smoothed, MapTrajectoryWriter.smoothedFileName),
    ] {
      let path = result.hasSuffix("/") ? result + name : "\(result)/\(name)"
      guard FileBytes.size(path: path) != nil else { continue }
      paths.append(
        DevicePath(kind: kind, poses: try poses(TrajectoryReader(path: path, file: path))))
    }
    guard let reader = try recording.truthTrajectory() else { return paths }
    let truth = try poses(reader)
    let reference = paths.first { $0.kind == .corrected } ?? paths[0]
    let frames = recording.manifest.frames
    guard
      let aligned = aligned(
        truth, onto: reference.poses, frames: frames, longestPoseGap: longestPoseGap)
    else { return paths }
    return paths + [DevicePath(kind: .truth, poses: aligned)]
  }

  /// At most `count` of the poses, at equal steps, the last among them.
  package func thinned(to count: Int) -> [PoseRow] {
    guard poses.count > count, count > 1 else { return poses }
    return (0..<count).map { poses[$0 * (poses.count - 1) / (count - 1)] }
  }

  private static func poses(
    _ reader: consuming TrajectoryReader
  ) throws(RecordingError) -> [PoseRow] {
    var reader = reader
    var poses: [PoseRow] = []
    while let row = try reader.next() { poses.append(row) }
    return poses
  }

  /// The true poses in the world of another path; `nil` when the two have no time in common.
  private static func aligned(
    _ truth: [PoseRow], onto path: [PoseRow], frames: FrameConvention, longestPoseGap: Double
  ) -> [PoseRow]? {
    let turn = frames.engineWorldFromWorld
    var alignment = PathAlignment()
    var next = 0
    for row in path {
      while next < truth.count, truth[next].timestamp < row.timestamp { next += 1 }
      guard next < truth.count else { break }
      var place = truth[next].worldFromDevice.translation
      if truth[next].timestamp > row.timestamp {
        guard next > 0 else { continue }
        let before = truth[next - 1]
        let gap = truth[next].timestamp.seconds(since: before.timestamp)
        guard gap <= longestPoseGap else { continue }
        let share = row.timestamp.seconds(since: before.timestamp) / gap
        place =
          before.worldFromDevice.interpolated(
            to: truth[next].worldFromDevice, fraction: share
          ).translation
      }
      alignment.add(turn.act(place), turn.act(row.worldFromDevice.translation))
    }
    guard let transform = alignment.transform else { return nil }
    let inWorld = RigidTransform(
      rotation: turn.inverse * transform.rotation * turn,
      translation: turn.inverse.act(transform.translation))
    return truth.map { row in
      PoseRow(timestamp: row.timestamp, worldFromDevice: inWorld * row.worldFromDevice)
    }
  }
}
