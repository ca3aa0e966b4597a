// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// A foreign file of poses.
public struct TrajectoryInput: Hashable, Sendable {
  /// How poses are written.
  public enum Format: Hashable, Sendable {
    /// `timestamp tx ty tz qx qy qz qw`, separated by blanks.
    case tum
    /// The CSV of the EuRoC data sets, 8 or 17 columns, nanoseconds, quaternion w first.
    case euroc
    /// Twelve numbers a line; the times are in a file of their own.
    case kitti(times: String)
    /// `odometry.csv` of Stray Scanner.
    case stray
    /// Any table with a header.
    case table(MappedTable)
  }

  /// The file's path.
  public var path: String
  /// How poses are written.
  public var format: Format
  /// The frames of the poses.
  public var frames: ImportFrames

  /// Makes a description of a file.
  public init(path: String, format: Format, frames: ImportFrames) {
    self.path = path
    self.format = format
    self.frames = frames
  }
}

/// A foreign file of ranging.
public struct RangingInput: Hashable, Sendable {
  /// How samples are written.
  public enum Format: Hashable, Sendable {
    /// The `ranging.csv` of a recording.
    case recording
    /// A table or a log of lines of several kinds, as a layout describes it.
    case layout(TableLayout)
    /// Any table; `peer` is the name of the one peer of a table that names none.
    case table(MappedTable, peer: String?)
    /// Notifications of the FiRa command interface.
    case uci(UciCapture)
  }

  /// The file's path.
  public var path: String
  /// How samples are written.
  public var format: Format
  /// The offset that converts its times to the clock of the poses.
  public var offset = Duration.zero
  /// Whether the offset is found from the ranges instead, by where they fit the path best.
  public var alignsClock = false

  /// Makes a description of a file.
  public init(path: String, format: Format) {
    self.path = path
    self.format = format
  }
}

/// Makes a recording from a file of poses and optional files of ranging and true poses, each in its
/// own format.
///
/// ```swift
/// var importer = RecordingImporter(
///   trajectory: TrajectoryInput(
///     path: "data.csv", format: .euroc, frames: ImportFrames(up: .z, axes: .euroc)))
/// let report = try importer.importRecording(to: "flight")
/// ```
///
/// Files are streamed: memory does not grow with them.
public struct RecordingImporter: Sendable {
  /// The poses.
  public var trajectory: TrajectoryInput
  /// The ranging, if there is any.
  public var ranging: RangingInput?
  /// More files of ranging; with the first they are held in memory and sorted by time.
  public var moreRanging: [RangingInput] = []
  /// The range differences, if there are any.
  public var differences: DifferenceInput?
  /// The true poses, if they are known, in the device axes of the poses.
  public var truth: TrajectoryInput?
  /// A table of the peers' true positions, `timestamp,peer,x,y,z`, in the world of the true poses.
  public var truePeers: String?
  /// How the recording is written.
  public var options = ImportOptions()
  /// How the clocks were found to differ.
  private var clock: ClockAlignment?

  /// Makes an importer of poses alone.
  public init(trajectory: TrajectoryInput) { self.trajectory = trajectory }

  /// Reads the files and writes the recording.
  ///
  /// - Parameter output: The folder to make.
  /// - Returns: The report of the import.
  /// - Throws: The first fault, with its place in the file that was read.
  public func importRecording(to output: String) throws(RecordingError) -> ImportReport {
    guard let ranging else { return try importRecording(to: output, NoRanging()) }
    if ranging.alignsClock { return try aligned().importRecording(to: output) }
    guard moreRanging.isEmpty else {
      let all = try MergedRanging([ranging] + moreRanging)
      return try importRecording(to: output, all)
    }
    switch ranging.format {
    case .recording:
      return try importRecording(to: output, RangingReader(path: ranging.path, file: ranging.path))
    case .table(let table, let peer):
      return try importRecording(
        to: output, MappedRangingReader(path: ranging.path, table, peer: peer))
    case .layout(let layout):
      return try importRecording(to: output, LayoutReader(path: ranging.path, layout))
    case .uci(let capture):
      return try importRecording(to: output, UciRangingReader(path: ranging.path, capture))
    }
  }

  /// The same importer with the offset at which the ranges fit the path best.
  private func aligned() throws(RecordingError) -> RecordingImporter {
    var importer = self
    importer.ranging?.alignsClock = false
    importer.ranging?.offset = .zero
    for index in moreRanging.indices { importer.moreRanging[index].offset = .zero }
    guard let ranging = importer.ranging else { return importer }
    var aligner = ClockAligner()
    let frames = trajectory.frames
    try forEachPose(of: trajectory) { row in
      var row = row
      row.worldFromDevice = frames.recordedPose(row.worldFromDevice)
      let pose = row.devicePose(from: frames.recorded)
      aligner.add(pose.timestamp, pose.worldFromDevice.translation)
    }
    var samples = try MergedRanging([ranging] + importer.moreRanging)
    var peers: [String: Int] = [:]
    while let row = try samples.next() {
      guard let metres = row.distance, !options.movingPeers.contains(row.peer) else { continue }
      let peer = peers[row.peer] ?? peers.count
      peers[row.peer] = peer
      aligner.add(row.timestamp, range: metres, of: peer)
    }
    guard let clock = aligner.wideAlignment(), clock.isSure else {
      throw RecordingError(
        .nothingToFuse, "the ranges do not tell by how much the clocks differ", file: ranging.path,
        remedy: "state it with --ranging-offset SECONDS")
    }
    importer.clock = clock
    guard abs(clock.offset) > 2 * clock.sigma else { return importer }
    let offset = Duration.nanoseconds(Int64((clock.offset * 1e9).rounded()))
    importer.ranging?.offset = offset
    for index in moreRanging.indices { importer.moreRanging[index].offset = offset }
    return importer
  }

  private func importRecording<Samples: RangingSource & ~Copyable>(
    to output: String, _ samples: consuming Samples
  ) throws(RecordingError) -> ImportReport {
    let inputs =
      [trajectory.path, ranging?.path, differences?.path].compactMap(\.self)
      + moreRanging.map(\.path)
    var manifest = options.manifest(
      output: output, frames: trajectory.frames.recorded,
      source: "imported from \(inputs.map(Self.fileName).joined(separator: " and "))")
    if let differences { manifest.differences = differences.model }
    var sink = try ImportSink(
      output: output, manifest: manifest, options: options, columns: samples.columns)
    try append(trajectory, to: &sink, isTruth: false)
    if let truth { try append(truth, to: &sink, isTruth: true) }
    if let differences { try append(differences, to: &sink) }
    if let truePeers { try appendTruePeers(truePeers, to: &sink) }
    try sink.append(
      contentsOf: samples, offset: moreRanging.isEmpty ? ranging?.offset ?? .zero : .zero,
      file: ranging?.path ?? "")
    if let clock {
      sink.note(
        ranging?.offset == .zero
          ? "the clocks agree to ± \(ShortNumber.number(clock.sigma)) s: no time is shifted"
          : "\(clock.text): its times are shifted")
    }
    return try sink.finish(file: trajectory.path, ranging: ranging?.path)
  }

  private func append(
    _ input: TrajectoryInput, to sink: inout ImportSink, isTruth: Bool
  ) throws(RecordingError) {
    let findings = try forEachPose(of: input) { row throws(RecordingError) in
      var row = row
      row.worldFromDevice = input.frames.recordedPose(row.worldFromDevice)
      if isTruth {
        try sink.appendTruth(row, file: input.path)
      } else {
        try sink.append(row, file: input.path)
      }
    }
    sink.note(findings)
  }

  /// Adds range differences, and the places of their anchors.
  private func append(
    _ input: DifferenceInput, to sink: inout ImportSink
  ) throws(RecordingError) {
    var reader = try DifferenceTableReader(path: input.path)
    while let row = try reader.next() { try sink.append(row, file: input.path) }
    guard sink.report.differences > 0 else {
      throw RecordingError(
        .nothingToFuse, "holds no range differences", file: input.path,
        remedy: "check the columns")
    }
    if reader.leftOut > 0 { sink.leaveOut("rows without a range difference", reader.leftOut) }
    guard let path = input.anchors else { return }
    let map = try PeerMapFile(path: path, FusionConfiguration()).map
    try sink.write(anchors: map)
  }

  /// Adds the true positions of the peers, in the axes in which the recording is written.
  private func appendTruePeers(
    _ path: String, to sink: inout ImportSink
  ) throws(RecordingError) {
    var reader = try TruthPeersReader(path: path, file: path)
    let frames = (truth ?? trajectory).frames
    while let row = try reader.next() {
      var row = row
      row.positionInWorld =
        frames.recordedPose(
          RigidTransform(rotation: .identity, translation: row.positionInWorld)
        ).translation
      try sink.appendTruth(row, file: path)
    }
  }

  /// Reads the poses of a file in the file's frames.
  ///
  /// - Returns: What the reader has chosen and repaired.
  @discardableResult
  private func forEachPose(
    of input: TrajectoryInput, _ body: (PoseRow) throws(RecordingError) -> Void
  ) throws(RecordingError) -> [RecordingFinding] {
    switch input.format {
    case .tum: try forEachPose(TrajectoryReader(path: input.path, file: input.path), body)
    case .euroc: try forEachPose(EurocReader(path: input.path), body)
    case .kitti(let times): try forEachPose(KittiReader(poses: input.path, times: times), body)
    case .stray: try forEachPose(StrayReader(path: input.path), body)
    case .table(let table):
      try forEachPose(
        MappedPoseReader(
          path: input.path, table,
          up: input.frames.up.isAlongZ ? Vector3(0, 0, 1) : Vector3(0, 1, 0)), body)
    }
  }

  private func forEachPose<Poses: PoseSource & ~Copyable>(
    _ poses: consuming Poses, _ body: (PoseRow) throws(RecordingError) -> Void
  ) throws(RecordingError) -> [RecordingFinding] {
    while let row = try poses.next() { try body(row) }
    return poses.findings
  }

  /// The last component of a path.
  ///
  /// The folders above it are private to the user of the importer.
  private static func fileName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}
