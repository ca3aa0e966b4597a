// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// Writes what a run found as an MCAP file with Foxglove's schemas, for viewers.
///
/// Positions are in the recording's own world, the frame `world`; its parent `map` is the same world with z
/// up, as viewers draw it, and its child `device` has the device's axes. Times are those of the recording; where it
/// has negative ones, which MCAP does not have, all are later by whole seconds.
/// The truth of a peer is relative to the device, `T_odometry T_true⁻¹ p_true`; the true path is turned about
/// gravity and shifted onto the corrected one. Of each path at most ``longestPath`` poses are written.
///
/// | topic | schema | when |
/// | --- | --- | --- |
/// | `/tf_static` | `foxglove.FrameTransform` | once: `map` to `world` |
/// | `/tf` | `foxglove.FrameTransform` | each pose: `world` to `device` |
/// | `/device/pose` | `foxglove.PoseInFrame` | each pose |
/// | `/path/raw`, `corrected`, `smoothed`, `true` | `foxglove.PosesInFrame` | once |
/// | `/peers/NAME/pose` | `foxglove.PoseInFrame` | each estimate of a located peer |
/// | `/peers/NAME/true` | `foxglove.PoseInFrame` | each estimate with a known truth |
/// | `/peers/NAME/scene` | `foxglove.SceneUpdate` | each estimate with a place: ellipsoids of 1 and 3.4 sigma |
/// | `/peers/NAME/modes` | `foxglove.SceneUpdate` | each estimate with several modes: one ellipsoid each |
/// | `/peers/NAME/numbers` | `nearby.PeerNumbers` | each estimate |
/// | `/events` | `foxglove.Log` | when a peer converges, and when that is lost |
public struct McapExporter: Sendable {
  /// The largest number of poses of a path.
  public static let longestPath = 2000

  private let result: String
  private let recording: RecordingReader
  private let configuration: FusionConfiguration

  /// Opens a result and its recording.
  ///
  /// - Parameters:
  ///   - result: The folder that a run wrote.
  ///   - recordingFolder: The recording; the one that the summary names when `nil`.
  /// - Throws: The first fault of the summary, of the settings or of `recording.json`.
  public init(result: String, recording recordingFolder: String? = nil) throws(RecordingError) {
    func path(_ name: String) -> String {
      result.hasSuffix("/") ? result + name : "\(result)/\(name)"
    }
    self.result = result
    var folder = recordingFolder
    if folder == nil {
      folder = try RunSummary.recordingFolder(inSummary: path(RunSummary.fileName))
    }
    guard let folder else {
      throw RecordingError(
        .missingValue, "the summary does not say which recording the result is of",
        file: path(RunSummary.fileName), remedy: "name the recording's folder with --recording DIR")
    }
    configuration = try ConfigurationFile.read(
      path: path(ConfigurationFile.fileName), over: FusionConfiguration())
    recording = try RecordingReader(folder: folder).keepingFiles.ordered(by: configuration)
  }

  /// Writes the file; it appears whole or not at all.
  ///
  /// Memory does not grow with the result, only with the device's path.
  ///
  /// - Parameter path: Where.
  /// - Returns: How many messages were written, and what was left out.
  /// - Throws: The first fault of the result or of the recording, or when the file cannot be written.
  public func export(to path: String) throws(RecordingError) -> ExportReport {
    var log = try McapLog.open(path: path, frames: recording.manifest.frames)
    var report = ExportReport()
    let gap = configuration.odometry.maximumPoseGap
    let paths = try DevicePath.read(result: result, of: recording, longestPoseGap: gap)
    let seconds = try shift(paths)
    if seconds > 0 {
      report.notes.append(
        "all times are \(seconds) s later than in the recording: MCAP has no negative ones")
    }
    try log.writeStart(paths, longest: Self.longestPath, laterBy: seconds, &report)
    try writeSteps(to: &log, laterBy: seconds, &report)
    report.lines = log.messageCount
    try log.commit()
    return report
  }

  /// The whole seconds by which all times are later, so that none is negative: zero for most recordings.
  private func shift(_ paths: [DevicePath]) throws(RecordingError) -> Int {
    var ranging = try recording.ranging()
    let starts = [paths.first?.poses.first?.timestamp, try ranging.next()?.timestamp]
    let first = starts.compactMap(\.self).min()?.seconds ?? 0
    // Rows of a recording may be out of order by up to a second.
    return first < 0 ? Int((1 - first).rounded(.up)) : 0
  }

  /// Writes poses and estimates in the order of the recording's events.
  private func writeSteps(
    to log: inout McapLog, laterBy seconds: Int, _ report: inout ExportReport
  ) throws(RecordingError) {
    var truth = try TruthSampler(recording, longestPoseGap: configuration.odometry.maximumPoseGap)
    let comparison = TruthComparison(isPlanar: configuration.odometry.isPlanar)
    var tracks = PeerTracks(
      frames: recording.manifest.frames, isPlanar: configuration.odometry.isPlanar)
    var modes = try ModeGroups(result: result)
    let file = result.hasSuffix("/") ? "\(result)estimates.csv" : "\(result)/estimates.csv"
    var rows = try EstimateReader(path: file, kind: .estimates)
    var row = try rows.next()
    var events = try recording.events()
    while let event = try events.next() {
      switch event {
      case .tracking: continue
      case .pose(let pose):
        truth.note(pose)
        try log.write(pose, at: pose.timestamp.later(by: seconds))
      case .ranging(let sample):
        guard var current = row, current.timestamp == sample.timestamp, current.peer == sample.peer
        else {
          report.leftOut["samples without an estimate", default: 0] += 1
          continue
        }
        row = try rows.next()
        let place = try truth.sample(at: sample)
        let group = try modes.rows(of: current)
        current.timestamp = current.timestamp.later(by: seconds)
        try tracks.write(current, sample, place, group, comparison, to: &log)
      }
    }
    if let row { throw rows.unexpectedRow(row, recording: recording.folder) }
  }
}

/// The rows of `modes.csv`, by sample.
private struct ModeGroups: ~Copyable {
  private var reader: ModeTableReader?
  private var next: ModeRow?

  init(result: String) throws(RecordingError) {
    guard var reader = try ModeTableReader(result: result) else {
      reader = nil
      return
    }
    next = try reader.next()
    self.reader = consume reader
  }

  /// The modes after a sample; none when the file does not have it.
  mutating func rows(of row: EstimateRow) throws(RecordingError) -> [ModeRow] {
    var group: [ModeRow] = []
    while let mode = next, mode.timestamp == row.timestamp, mode.peer == row.peer {
      group.append(mode)
      next = try reader?.next()
    }
    return group
  }
}

/// The messages of the device and the topics of the peers.
struct McapLog: ~Copyable {
  static let world = "world"
  static let device = "device"
  static let map = "map"

  private var writer: McapWriter
  private let path: String
  private let frames: FrameConvention
  private let schemas: [String: UInt16]
  private let transforms: UInt16
  private let poses: UInt16
  private let events: UInt16
  private var topics: Set<String> = []

  /// Starts a file with the schemas and the topics that every result has.
  static func open(path: String, frames: FrameConvention) throws(RecordingError) -> McapLog {
    var writer = try McapWriter.open(path: path, library: "nearby \(NearbyVersion.current)")
    var schemas: [String: UInt16] = [:]
    for schema in [
      FoxgloveSchema.frameTransform, .poseInFrame, .posesInFrame, .sceneUpdate, .log, .peerNumbers,
    ] {
      schemas[schema.name] = try writer.addSchema(name: schema.name, text: schema.text)
    }
    let transforms = try writer.addChannel(
      topic: "/tf", schema: schemas[FoxgloveSchema.frameTransform.name] ?? 0)
    let poses = try writer.addChannel(
      topic: "/device/pose", schema: schemas[FoxgloveSchema.poseInFrame.name] ?? 0)
    let events = try writer.addChannel(
      topic: "/events", schema: schemas[FoxgloveSchema.log.name] ?? 0)
    return McapLog(
      writer: writer, path: path, frames: frames, schemas: schemas, transforms: transforms,
      poses: poses, events: events)
  }

  private init(
    writer: consuming McapWriter, path: String, frames: FrameConvention,
    schemas: [String: UInt16], transforms: UInt16, poses: UInt16, events: UInt16
  ) {
    self.writer = writer
    self.path = path
    self.frames = frames
    self.schemas = schemas
    self.transforms = transforms
    self.poses = poses
    self.events = events
  }

  var messageCount: Int { writer.messageCount }

  consuming func commit() throws(RecordingError) { try writer.commit() }

  mutating func addChannel(
    _ topic: String, _ schema: FoxgloveSchema, peer: String? = nil
  ) throws(RecordingError) -> UInt16 {
    let number = schemas[schema.name] ?? 0
    guard let peer else { return try writer.addChannel(topic: topic, schema: number) }
    return try writer.addChannel(topic: topic, schema: number, metadata: ["peer": peer])
  }

  /// The topic below which a peer's messages are: its name, with `_` for what queries of topics would
  /// take for more than a name, and a number where that is not unique.
  mutating func topic(ofPeer name: String) -> String {
    let plain = name.map { character in
      character.isASCII && (character.isLetter || character.isNumber) || "_-.:".contains(character)
        ? character : "_"
    }
    var topic = "/peers/" + String(plain)
    var number = 2
    while !topics.insert(topic).inserted {
      topic = "/peers/\(String(plain))_\(number)"
      number += 1
    }
    return topic
  }

  /// Writes a message; a negative time, which the format does not have, is an error.
  mutating func write(
    _ message: FoxgloveMessage, to channel: UInt16, at time: Timestamp
  ) throws(RecordingError) {
    guard let nanoseconds = UInt64(exactly: time.nanoseconds) else {
      throw RecordingError(
        .valueOutOfRange, "a message would have the time \(time.seconds) s", file: path,
        remedy: "MCAP has no negative times; shift those of the recording and run it again")
    }
    try writer.add(message.finished, to: channel, at: nanoseconds)
  }

  mutating func writeEvent(
    _ said: String, of peer: String, isWarning: Bool, at time: Timestamp
  ) throws(RecordingError) {
    try write(.log(said, of: peer, isWarning: isWarning, at: time), to: events, at: time)
  }

  /// Writes the transform of the world, and the paths, at the time of the first pose.
  mutating func writeStart(
    _ paths: [DevicePath], longest: Int, laterBy seconds: Int, _ report: inout ExportReport
  ) throws(RecordingError) {
    guard let start = paths.first?.poses.first?.timestamp.later(by: seconds) else { return }
    let upright: Rotation =
      switch frames.up {
      case .y:
        Rotation(xAxis: Vector3(1, 0, 0), yAxis: Vector3(0, 0, 1), zAxis: Vector3(0, -1, 0))
      case .z: .identity
      }
    let still = try addChannel("/tf_static", .frameTransform)
    try write(
      .transform(
        RigidTransform(rotation: upright, translation: .zero), from: Self.map, to: Self.world,
        at: start), to: still, at: start)
    for path in paths {
      let poses = path.thinned(to: longest).map(\.worldFromDevice)
      if poses.count < path.poses.count {
        report.leftOut["poses of the path \"\(path.kind.rawValue)\"", default: 0] +=
          path.poses.count - poses.count
      }
      let channel = try addChannel("/path/\(path.kind.rawValue)", .posesInFrame)
      try write(.poses(poses, in: Self.world, at: start), to: channel, at: start)
    }
  }

  /// Writes a pose of the odometry.
  mutating func write(_ pose: DevicePose, at time: Timestamp) throws(RecordingError) {
    let placed = frames.worldFromDevice(fromEngine: pose.worldFromDevice)
    try write(
      .transform(placed, from: Self.world, to: Self.device, at: time), to: transforms, at: time)
    try write(.pose(placed, in: Self.world, at: time), to: poses, at: time)
  }
}

extension Timestamp {
  fileprivate func later(by seconds: Int) -> Timestamp {
    Timestamp(nanoseconds: nanoseconds &+ Int64(seconds) * 1_000_000_000)
  }
}
