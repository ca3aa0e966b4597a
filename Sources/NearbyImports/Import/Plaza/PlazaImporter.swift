// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyGeometry
public import NearbyRecordings

/// Imports the two "Plaza" runs of Djugash, Hamner and Roth (2009): a robotic lawn mower outdoors that
/// ranges to four radio beacons.
///
/// The runs come with GTSAM, as `Plaza1_.mat` and `Plaza2_.mat` with five tables each:
///
/// | table | columns | here |
/// | --- | --- | --- |
/// | `GT` | time, x, y, heading | the true path, from GPS |
/// | `DR` | time, distance, change of heading | the odometry |
/// | `DRp` | time, x, y, heading | the odometry's path as its authors added it up |
/// | `TD` | time, antenna, beacon, range | the ranges |
/// | `TL` | beacon, x, y | where the beacons stood |
///
/// `Plaza1_DR.txt`, `Plaza1_TD.txt` and their like repeat `DR` and `TD` digit for digit and are not
/// read. No range is left out or corrected; only their order is changed where time goes back.
public struct PlazaImporter: Hashable, Sendable {
  /// One of the runs.
  public enum Run: String, Hashable, Sendable, Codable, CaseIterable {
    /// The first run: 1861 m in 1933 s.
    case plaza1
    /// The second run: 1354 m in 410 s.
    case plaza2

    /// The name of its file.
    public var fileName: String { self == .plaza1 ? "Plaza1_.mat" : "Plaza2_.mat" }
  }

  /// The table from which the odometry is made.
  public enum Odometry: String, Hashable, Sendable, Codable, CaseIterable {
    /// `DR`, integrated, as in most published uses of the data. Plaza1's changes of heading equal
    /// those of its true heading, digit for digit, and hardly drift.
    case increments
    /// `DRp`, the dead reckoning that its authors integrated, with the direction of the path as
    /// heading. In Plaza1 it turns away by 28 degrees and up to 41 m; in Plaza2 it is the sum of
    /// the increments within 7 cm.
    case path
  }

  /// The run; when `nil`, the one whose file is in the folder.
  public var run: Run?
  /// The table from which the odometry is made.
  public var odometry = Odometry.increments
  /// How odometry and truth are thinned; `nil` keeps every pose.
  public var thinning: TrajectoryThinning? = TrajectoryThinning()
  /// Whether a recording that is already there is replaced.
  public var replacesRecording = false

  /// Makes an importer that finds its run, integrates the increments and thins the result.
  public init() {}

  /// Reads a run and writes it as a recording.
  ///
  /// - Parameters:
  ///   - folder: The folder that holds `Plaza1_.mat` or `Plaza2_.mat`.
  ///   - output: The folder to make.
  /// - Returns: The report of the import.
  /// - Throws: `RecordingError` when a file is missing or damaged, or the output cannot be written.
  public func importRecording(
    from folder: String, to output: String
  ) throws(RecordingError) -> PlazaReport {
    let run = if let run = self.run { run } else { try findRun(in: folder) }
    let plaza = try PlazaRun(read(run, in: folder), file: run.fileName)
    let reckoned =
      switch odometry {
      case .increments: plaza.summedIncrements
      case .path: plaza.reckonedPath
      }
    let truth = plaza.truePoses
    let poses = try rows(reckoned, plaza.times, file: run.fileName)
    let truePoses = try rows(truth, plaza.times, file: run.fileName)
    var report = PlazaReport(
      name: run.rawValue, durationSeconds: plaza.times.last ?? 0,
      pathLength: plaza.distances.reduce(0, +), samples: plaza.ranges.count,
      peers: plaza.peers.count, posesRead: plaza.times.count, posesWritten: poses.count,
      truePosesWritten: truePoses.count,
      drift: PlazaReport.Drift(odometry: reckoned, truth: truth, distances: plaza.distances),
      rangeErrors: PlazaReport.RangeErrors(plaza))
    report.findings = try write(
      plaza, poses, truePoses, manifest(report, plaza, file: run.fileName), to: output,
      file: run.fileName)
    return report
  }

  private func findRun(in folder: String) throws(RecordingError) -> Run {
    let found = Run.allCases.filter {
      FileManager.default.fileExists(atPath: "\(folder)/\($0.fileName)")
    }
    guard let run = found.first else {
      throw RecordingError(
        .missingFile, "it holds neither Plaza1_.mat nor Plaza2_.mat", file: folder,
        remedy: "give the folder gtsam/Data of the Python package gtsam, or examples/Data of GTSAM")
    }
    guard found.count == 1 else {
      throw RecordingError(
        .missingValue, "it holds both runs", file: folder,
        remedy: "name the one to import, plaza1 or plaza2")
    }
    return run
  }

  /// The largest accepted file, bytes; a file of a run has 1 MB.
  private static let largestRun = 256 << 20

  private func read(_ run: Run, in folder: String) throws(RecordingError) -> [UInt8] {
    let path = "\(folder)/\(run.fileName)"
    guard FileManager.default.fileExists(atPath: path) else {
      throw RecordingError(
        .missingFile, "there is no such file", file: path,
        remedy: "give the folder gtsam/Data of the Python package gtsam, or examples/Data of GTSAM")
    }
    return try FileBytes.read(path: path, limit: Self.largestRun)
  }

  private func rows(
    _ poses: [PlanarPose], _ times: [Double], file: String
  ) throws(RecordingError) -> [PoseRow] {
    var rows: [PoseRow] = []
    for (pose, time) in zip(poses, times) {
      rows.append(
        PoseRow(
          timestamp: try Self.timestamp(time, file: file),
          worldFromDevice: RigidTransform(
            rotation: Rotation(
              angleRadians: pose.heading.wrappedAngle, about: Vector3(0, 0, 1)),
            translation: Vector3(pose.position.x, pose.position.y, 0))))
    }
    return thinning?.thinned(rows) ?? rows
  }

  /// The time to the microsecond, which is the resolution of the file's clock.
  private static func timestamp(_ time: Double, file: String) throws(RecordingError) -> Timestamp {
    guard let moment = Timestamp(seconds: (time * 1e6).rounded() / 1e6) else {
      throw RecordingError(
        .valueOutOfRange, "a time is \(time) s after the start", file: file,
        remedy: "check that it is the file it is named for")
    }
    return moment
  }

  private func write(
    _ plaza: PlazaRun, _ poses: [PoseRow], _ truePoses: [PoseRow], _ manifest: RecordingManifest,
    to output: String, file: String
  ) throws(RecordingError) -> [RecordingFinding] {
    var options = RecordingWriter.Options()
    // A tenth of a millimetre and a thousandth of a degree.
    options.lengthDecimals = 4
    options.angleDecimals = 5
    options.replacesRecording = replacesRecording
    do {
      let writer = try RecordingWriter(path: output, manifest: manifest, options: options)
      return try write(plaza, poses, truePoses, manifest, into: writer, file: file)
    } catch {
      throw error.ofRow(in: file)
    }
  }

  private func write(
    _ plaza: PlazaRun, _ poses: [PoseRow], _ truePoses: [PoseRow], _ manifest: RecordingManifest,
    into writer: consuming RecordingWriter, file: String
  ) throws(RecordingError) -> [RecordingFinding] {
    for row in poses { try writer.append(row) }
    for range in plaza.ranges {
      try writer.append(
        RangingRow(
          timestamp: try Self.timestamp(range.time, file: file),
          peer: PlazaRun.peerName(range.beacon), distance: range.distance))
    }
    for row in truePoses { try writer.appendTruth(row) }
    for beacon in plaza.beacons {
      try writer.appendTruth(
        TruthPeerRow(
          timestamp: Timestamp(nanoseconds: 0), peer: PlazaRun.peerName(beacon.id),
          positionInWorld: Vector3(beacon.position.x, beacon.position.y, 0)))
    }
    var findings: [RecordingFinding] = []
    try writer.finish { reader throws(RecordingError) in
      findings = RecordingChecks.findings(try reader.survey())
      return manifest
    }
    return findings
  }

  private func manifest(
    _ report: PlazaReport, _ plaza: PlazaRun, file: String
  ) throws(RecordingError) -> RecordingManifest {
    let (position, yaw) = (report.drift.positionDensity, report.drift.yawDensityDegrees)
    guard position <= 10, yaw <= 180 else {
      throw RecordingError(
        .valueOutOfRange,
        "the odometry drifts by \(position) m and \(yaw) degrees in the square root of a metre",
        file: file, remedy: "check DR, DRp and GT for values that are no metres or radians")
    }
    var manifest = RecordingManifest(name: report.name)
    manifest.description = description(of: report)
    manifest.source =
      "\(report.name == Run.plaza1.rawValue ? Run.plaza1.fileName : Run.plaza2.fileName) as "
      + "distributed with GTSAM (examples/Data; gtsam/Data of the Python package gtsam)"
    manifest.license =
      "No licence text of its own; distributed with GTSAM (BSD). Cite Djugash, Hamner, Roth: "
      + "Navigating with ranging radios: Five data sets with ground truth (Journal of Field "
      + "Robotics, 2009)."
    manifest.worldUp = .z
    manifest.device.axes = .ros
    manifest.trajectory.kind = .odometry
    manifest.trajectory.positionDrift = report.drift.positionDensity.roundedUpToTwoDigits
    manifest.trajectory.yawDriftDegrees = report.drift.yawDensityDegrees.roundedUpToTwoDigits
    manifest.trajectory.isPlanar = true
    // Covers the white noise and the scale error that remains when an engine estimates a scale.
    manifest.ranging.rangeSigma = 1
    manifest.peers = plaza.peers.map { RecordingPeer(id: $0) }
    return manifest
  }

  private func description(of report: PlazaReport) -> String {
    var text = OutputText()
    text.append("A robotic lawn mower of Carnegie Mellon University, outdoors, ")
    text.append(report.pathLength, decimals: 0)
    text.append(" m in ")
    text.append(report.durationSeconds, decimals: 0)
    text.append(" s, \(report.peers) radio beacons at surveyed places. Ranges are raw: they are ")
    text.append(100 * report.rangeErrors.scaleError, decimals: 1)
    text.append(" % of the true distance too long, with ")
    text.append(report.rangeErrors.rootMeanSquareAfterScale, decimals: 2)
    text.append(
      " m of noise beside that; rangeSigma allows for what an estimated scale leaves. Odometry: ")
    switch odometry {
    case .increments: text.append("wheel distances and changes of heading, added up")
    case .path: text.append("the dead-reckoned path of the source, its direction as heading")
    }
    text.append(
      ". Truth: GPS positions; the heading is the course of the GPS path over 20 m, with the "
        + "recorded heading for the detail.")
    if let thinning {
      text.append(" Poses are left out that interpolation restores within ")
      text.append(thinning.maximumPositionError, decimals: 4)
      text.append(" m and ")
      text.append(thinning.maximumAngleErrorRadians.radiansAsDegrees, decimals: 4)
      text.append(" degrees.")
    }
    return String(decoding: text.bytes, as: UTF8.self)
  }
}

extension PlazaRun {
  /// The names of all beacons with a position or a range, in the order of their numbers.
  var peers: [String] {
    Set(beacons.map(\.id)).union(ranges.map(\.beacon)).sorted().map(Self.peerName)
  }

  /// The peer's name for a beacon's number.
  static func peerName(_ beacon: Int) -> String { "beacon-\(beacon)" }
}
