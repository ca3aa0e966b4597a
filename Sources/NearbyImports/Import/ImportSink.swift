// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Checks, thins, counts and writes the rows of an import.
///
/// It holds only a second of poses and the list of peers.
struct ImportSink: ~Copyable {
  /// The report so far.
  private(set) var report: ImportReport
  /// The drift that the input itself tells of its odometry.
  var drift: (position: Double, yawDegrees: Double)?

  private let manifest: RecordingManifest
  private let options: ImportOptions
  /// Whether samples have an accuracy of their own.
  private let hasSigmas: Bool
  private var writer: RecordingWriter
  private var poses: ThinningStream?
  private var truePoses: ThinningStream?
  private var latestPose: PoseRow?
  private var firstPoseTime: Timestamp?
  private var latestTruePose: Timestamp?
  /// The input of the true poses.
  private var trueFile = ""
  private var latestSample: Timestamp?
  private var latestTracking: Timestamp?
  private var knownPeers: Set<String> = []
  /// What the readers have chosen and repaired.
  private var repairs: [RecordingFinding] = []
  /// The newest samples of each peer: those that come again are left out.
  private var newestSamples: [String: [RangingRow]] = [:]
  /// The number of a peer's newest samples with which the next one is compared.
  private static let comparedSamples = 8

  init(
    output: String, manifest: RecordingManifest, options: ImportOptions,
    columns: Set<RecordingWriter.OptionalColumn>
  ) throws(RecordingError) {
    var writing = RecordingWriter.Options()
    writing.columns = columns
    // A nanometre, and all significant digits of a quaternion: an import should lose nothing.
    writing.lengthDecimals = 9
    writing.angleDecimals = 12
    writing.replacesRecording = options.replacesRecording
    writing.allowsNoRanging = true
    self.manifest = manifest
    self.options = options
    hasSigmas = columns.contains(.distanceSigma)
    report = ImportReport(name: manifest.name, frames: manifest.frames)
    writer = try RecordingWriter(path: output, manifest: manifest, options: writing)
    poses = options.thinning.map(ThinningStream.init)
    truePoses = poses
    for peer in manifest.peers { note(peer: peer.id) }
  }

  // MARK: - Poses

  /// Adds a pose in the recording's frames; a pose with the timestamp of the previous one is left
  /// out.
  mutating func append(_ row: PoseRow, file: String) throws(RecordingError) {
    if let latestPose {
      guard try isLater(row.timestamp, than: latestPose.timestamp, file, row.line) else { return }
      let step = row.worldFromDevice.translation - latestPose.worldFromDevice.translation
      report.pathLength += step.length
    }
    report.posesRead += 1
    let first = firstPoseTime ?? row.timestamp
    firstPoseTime = first
    report.durationSeconds = row.timestamp.seconds(since: first)
    latestPose = row
    if poses == nil {
      try write(row, file)
    } else if let kept = poses?.add(row) {
      try write(kept, file)
    }
  }

  /// Adds a true pose in the axes of the recording; a pose with the timestamp of the previous one
  /// is left out.
  mutating func appendTruth(_ row: PoseRow, file: String) throws(RecordingError) {
    if let latestTruePose {
      guard try isLater(row.timestamp, than: latestTruePose, file, row.line) else { return }
    }
    latestTruePose = row.timestamp
    trueFile = file
    if truePoses == nil {
      try writeTruth(row)
    } else if let kept = truePoses?.add(row) {
      try writeTruth(kept)
    }
  }

  private mutating func isLater(
    _ time: Timestamp, than latest: Timestamp, _ file: String, _ line: Int
  ) throws(RecordingError) -> Bool {
    if time > latest { return true }
    guard time == latest else {
      throw RecordingError(
        .timeWentBack,
        "time goes back by \(latest.seconds(since: time)) s to \(time.seconds)", file: file,
        line: line > 0 ? line : nil,
        remedy: "sort the poses by time, or cut the file where its clock was reset")
    }
    leaveOut("poses with the stamp of the pose before")
    return false
  }

  private mutating func write(_ row: PoseRow, _ file: String) throws(RecordingError) {
    report.posesWritten += 1
    do { try writer.append(row) } catch { throw error.ofRow(in: file, line: row.line) }
  }

  private mutating func writeTruth(_ row: PoseRow) throws(RecordingError) {
    report.truePosesWritten += 1
    do { try writer.appendTruth(row) } catch { throw error.ofRow(in: trueFile, line: row.line) }
  }

  // MARK: - Everything else

  /// Adds a sample.
  mutating func append(_ row: RangingRow, file: String) throws(RecordingError) {
    let newest = max(latestSample ?? row.timestamp, row.timestamp)
    let lateness = newest.seconds(since: row.timestamp)
    guard lateness <= RangingReader.reorderingWindow else {
      throw RecordingError(
        .timeWentBack, "time goes back by \(lateness) s to \(row.timestamp.seconds)", file: file,
        line: row.line > 0 ? row.line : nil,
        remedy: "samples may be out of order by up to a second; sort them by time")
    }
    latestSample = newest
    guard !row.peer.isEmpty, !row.peer.utf8.contains(where: { $0 < .blank }) else {
      throw RecordingError(
        row.peer.isEmpty ? .emptyPeer : .malformedField,
        "the peer's name \(row.peer.isEmpty ? "is empty" : "holds a control character")",
        file: file, line: row.line > 0 ? row.line : nil, remedy: "give every peer a name")
    }
    note(peer: row.peer)
    guard !repeats(row) else {
      leaveOut("samples that repeat another one")
      return
    }
    report.samples += 1
    do { try writer.append(row) } catch { throw error.ofRow(in: file, line: row.line) }
  }

  /// Whether a sample is the same as a newer one of its peer, as when a gateway sends a packet again.
  private mutating func repeats(_ row: RangingRow) -> Bool {
    var newest = newestSamples.removeValue(forKey: row.peer) ?? []
    defer { newestSamples[row.peer] = newest }
    if newest.contains(where: { $0.timestamp == row.timestamp && $0.values == row.values }) {
      return true
    }
    if newest.count == Self.comparedSamples { newest.removeFirst() }
    newest.append(row)
    return false
  }

  /// Adds all samples of a source, shifted in time by an offset.
  mutating func append<Source: RangingSource & ~Copyable>(
    contentsOf source: consuming Source, offset: Duration, file: String
  ) throws(RecordingError) {
    let nanoseconds = offset.nanoseconds
    while var row = try source.next() {
      row.timestamp.nanoseconds += nanoseconds
      try append(row, file: file)
    }
    for (what, count) in source.leftOut { leaveOut(what, count) }
    repairs += source.findings
  }

  /// Adds a report of the odometry's quality.
  mutating func append(_ row: TrackingRow, file: String) throws(RecordingError) {
    if let latestTracking, row.sample.timestamp < latestTracking {
      throw RecordingError(
        .timeWentBack, "time goes back to \(row.sample.timestamp.seconds)", file: file,
        line: row.line > 0 ? row.line : nil, remedy: "sort the rows by time")
    }
    latestTracking = row.sample.timestamp
    do { try writer.append(row) } catch { throw error.ofRow(in: file, line: row.line) }
  }

  /// Adds a range difference.
  mutating func append(_ row: DifferenceRow, file: String) throws(RecordingError) {
    report.differences += 1
    for name in [row.from, row.to] where !report.anchors.contains(name) {
      report.anchors.append(name)
    }
    do { try writer.append(row) } catch { throw error.ofRow(in: file, line: row.line) }
  }

  /// Writes the map of the anchors.
  mutating func write(anchors: PeerMap) throws(RecordingError) {
    try writer.write(anchors: anchors, up: manifest.worldUp)
  }

  /// Adds a true position of a peer, in the world of the true poses.
  mutating func appendTruth(_ row: TruthPeerRow, file: String) throws(RecordingError) {
    do { try writer.appendTruth(row) } catch { throw error.ofRow(in: file, line: row.line) }
  }

  /// Takes note of what was chosen and repaired.
  mutating func note(_ findings: [RecordingFinding]) { repairs += findings }

  /// Takes note of how the clocks were found to differ.
  mutating func note(_ clock: String) {
    repairs.append(RecordingFinding(.note, .clockOffset, clock))
  }

  /// Counts data that is left out of the recording.
  mutating func leaveOut(_ what: String, _ count: Int = 1) {
    report.leftOut[what, default: 0] += count
  }

  /// Completes the recording, checks it, and renames it to its path.
  ///
  /// - Parameters:
  ///   - file: The input, for the error of a file without poses.
  ///   - ranging: The input of the ranging; `nil` when none was asked for, so that its lack is no
  ///     fault.
  /// - Returns: The report of the import.
  /// - Throws: When there is no pose or nothing to fuse, or the recording cannot be written.
  consuming func finish(file: String, ranging: String?) throws(RecordingError) -> ImportReport {
    guard report.posesRead > 0 else {
      throw RecordingError(
        .noSamples, "holds no poses", file: file, remedy: "a recording needs at least one pose")
    }
    if let ranging, report.samples == 0 {
      throw RecordingError(
        .nothingToFuse, "holds no samples", file: ranging,
        remedy: "check what is read of it; a motion alone is imported without ranging")
    }
    if let kept = poses?.finish() { try write(kept, file) }
    if let kept = truePoses?.finish() { try writeTruth(kept) }
    let (manifest, options, hasSigmas, drift) = (manifest, options, hasSigmas, drift)
    let repairs = repairs
    var report = report
    try writer.finish { reader throws(RecordingError) in
      var choices = ImportChoices(
        survey: try Self.survey(reader, of: file), options, hasSigmas: hasSigmas, drift: drift)
      choices.manifest.name = manifest.name
      let findings = (choices.findings + repairs).worstFirst
      if !options.isForced, let fault = findings.firstFault(isStrict: options.isStrict) {
        throw RecordingError(
          .nothingToFuse, fault.message, file: ranging ?? file,
          remedy: fault.remedy ?? "check the files")
      }
      report.findings = findings
      report.frames = choices.manifest.frames
      return choices.manifest
    }
    return report
  }

  /// Surveys the complete recording, whose files the user has not seen yet.
  private static func survey(
    _ reader: RecordingReader, of file: String
  ) throws(RecordingError) -> RecordingSurvey {
    do { return try reader.survey() } catch { throw error.ofRow(in: file) }
  }

  private mutating func note(peer: String) {
    if knownPeers.insert(peer).inserted { report.peers.append(peer) }
  }
}

extension Duration {
  /// The duration in whole nanoseconds, clamped to the range of `Int64`.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let longest: Int64 = 4_600_000_000
    guard abs(seconds) < longest else { return seconds.signum() * longest * 1_000_000_000 }
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
