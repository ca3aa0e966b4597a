// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// Follows the file of a corrected path beside the poses of its recording.
///
/// What was estimated lies in the odometry's world, which drifts. With the device's corrected pose `C` and its pose
/// `T` by the odometry, `C T⁻¹` takes it to the map, in which peers at rest stay where they are.
struct CorrectedPath: ~Copyable {
  /// From the odometry's world to the map as of the newest pose, in the engine's frames.
  private(set) var mapFromWorld = RigidTransform.identity
  /// The path.
  private(set) var path = ReportTable<PathColumn>()

  private var reader: TrajectoryReader?
  private var next: PoseRow?
  private let frames: FrameConvention

  /// Opens the file of a result; without one the map is the odometry's world.
  init(
    _ result: ResultFolder, _ source: ResultEvaluation.Source, _ frames: FrameConvention
  ) throws(RecordingError) {
    self.frames = frames
    let name =
      source == .smoothed
      ? MapTrajectoryWriter.smoothedFileName : MapTrajectoryWriter.correctedFileName
    guard let file = result.trajectory(named: name) else { return }
    var reader = try TrajectoryReader(path: file, file: file)
    next = try reader.next()
    self.reader = consume reader
  }

  /// Takes note of a pose of the odometry.
  ///
  /// - Parameters:
  ///   - pose: The pose.
  ///   - time: Its time, seconds since the recording's first event.
  /// - Throws: The first fault of the file.
  mutating func note(_ pose: DevicePose, at time: Double) throws(RecordingError) {
    while let row = next, row.timestamp < pose.timestamp { next = try reader?.next() }
    guard let row = next, row.timestamp == pose.timestamp else { return }
    let corrected = frames.engineWorldFromEngineDevice(row.worldFromDevice)
    mapFromWorld = corrected * pose.worldFromDevice.inverse
    path.append(at: time, corrected.translation)
  }
}

extension ReportTable<PathColumn> {
  /// Appends a place in the engine's frame.
  mutating func append(at time: Double, _ place: Vector3) {
    let onMap = MapFrame.vector(fromEngine: place)
    var row = Row()
    row[.time] = time
    (row[.x], row[.y], row[.z]) = (onMap.x, onMap.y, onMap.z)
    append(row)
  }

  /// The rows that are kept of a path.
  static var mostRows: Int { 2000 }

  /// The path thinned for a page.
  var thinned: ReportTable {
    thinned(to: Self.mostRows, keepingExtremesOf: [.x, .y, .z])
  }

  /// The true path of a recording, laid upon the device's path of a result; empty without truth.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - result: The folder that a run wrote.
  ///   - gap: True poses further apart than this, seconds, are not interpolated.
  ///   - start: The time of the recording's first event.
  /// - Throws: The first fault of a trajectory.
  init(
    truthOf recording: RecordingReader, besideResult result: String, longestPoseGap gap: Double,
    since start: Timestamp
  ) throws(RecordingError) {
    self.init()
    guard recording.hasTruth else { return }
    let toEngine = recording.manifest.frames.engineWorldFromWorld
    let paths = try DevicePath.read(result: result, of: recording, longestPoseGap: gap)
    for pose in paths.first(where: { $0.kind == .truth })?.poses ?? [] {
      append(
        at: pose.timestamp.seconds(since: start),
        toEngine.act(pose.worldFromDevice.translation))
    }
  }
}
