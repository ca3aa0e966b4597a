// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Writes a recording row by row; the folder appears whole with ``finish()``, or not at all.
///
/// Rows of different files may be interleaved: a pose, two samples, a pose. The rows of one file
/// must be in the order that the format requires. Memory holds one buffer for each file.
///
/// ```swift
/// var writer = try RecordingWriter(path: "living-room", manifest: manifest)
/// try writer.append(PoseRow(timestamp: time, worldFromDevice: pose))
/// try writer.append(RangingRow(timestamp: time, peer: "peer", distance: 3.2))
/// try writer.finish()
/// ```
public struct RecordingWriter: ~Copyable {
  /// How a recording is written.
  public struct Options: Hashable, Sendable {
    /// The optional columns of `ranging.csv`.
    public var columns: Set<OptionalColumn> = []
    /// Decimals of positions and distances, metres, 0 to 15.
    public var lengthDecimals = 6
    /// Decimals of angles in radians and of quaternion components, 0 to 15.
    public var angleDecimals = 9
    /// Whether a recording that is already there is replaced.
    ///
    /// A folder that is not empty and is no recording is never replaced. Other files in the folder of a
    /// recording stay.
    public var replacesRecording = false
    /// Whether a recording without samples is allowed.
    ///
    /// `ranging.csv` then holds only its header, so that radios can be simulated.
    public var allowsNoRanging = false

    /// Makes the default choices.
    public init() {}
  }

  private let options: Options
  private let folder: AtomicFolder
  /// The columns of `ranging.csv`, with the decimals of each.
  private let columns: [(column: RangingColumn, decimals: Int)]
  /// The optional columns that `ranging.csv` lacks.
  private let missingColumns: [RangingColumn]
  private var trajectory: RowFile
  private var ranging: RowFile
  private var differences: RowFile
  private var tracking: RowFile
  private var trueTrajectory: RowFile
  private var truePeers: RowFile
  private var truePeerTimes: [String: Timestamp] = [:]

  /// Starts a recording.
  ///
  /// - Parameters:
  ///   - path: The folder to make; folders above it are made as needed.
  ///   - manifest: What goes into `recording.json`.
  ///   - options: How it is written.
  /// - Throws: ``RecordingError`` when the folder is in use or cannot be made, or when the manifest
  ///   is not valid.
  public init(
    path: String, manifest: RecordingManifest, options: Options = Options()
  ) throws(RecordingError) {
    // Only a manifest that can be read back is written.
    var warnings = RecordingWarnings()
    _ = try RecordingManifest(json: Array(manifest.json.utf8), warnings: &warnings)
    let kind = AtomicFolder.Kind(
      marker: RecordingManifest.fileName, isOwn: RecordingReader.isFile(ofFormat:))
    let folder = try AtomicFolder(path: path, replacing: options.replacesRecording ? kind : nil)
    let root = folder.temporaryPath
    var file = try AtomicFile(path: "\(root)/\(RecordingManifest.fileName)")
    try file.write(manifest.json)
    try file.commit()

    self.options = options
    self.folder = folder
    let written = Set(options.columns.map(\.rawValue)).union(RangingColumn.requiredNames)
    missingColumns = RangingColumn.all.filter { !written.contains($0.name) }
    columns = RangingColumn.all.filter { written.contains($0.name) }
      .map { ($0, options.decimals(of: $0)) }
    let poses = "# timestamp tx ty tz qx qy qz qw\n"
    let named = ["timestamp", "peer"] + columns.map(\.column.name)
    trajectory = RowFile(root, RecordingReader.trajectoryFile, header: poses)
    ranging = RowFile(
      root, RecordingReader.rangingFile,
      header: named.joined(separator: ",") + "\n")
    ranging.secondsBackAllowed = 1
    ranging.isWrittenEmpty = options.allowsNoRanging
    differences = RowFile(
      root, RecordingReader.differencesFile,
      header: "timestamp,anchor_a,anchor_b,difference,sigma\n")
    differences.secondsBackAllowed = 1
    tracking = RowFile(
      root, RecordingReader.trackingFile, header: "timestamp,state,reason,ambient_intensity\n")
    trueTrajectory = RowFile(root, RecordingReader.truthTrajectoryFile, header: poses)
    truePeers = RowFile(root, RecordingReader.truthPeersFile, header: "timestamp,peer,x,y,z\n")
    truePeers.isOrdered = false
  }

  /// Adds a pose to `trajectory.txt`.
  ///
  /// - Parameter row: The pose, not before the pose before it.
  /// - Throws: ``RecordingError`` when the row is not valid in this format, or cannot be written.
  public mutating func append(_ row: PoseRow) throws(RecordingError) {
    try trajectory.append(row, options)
  }

  /// Adds a row to `ranging.csv`.
  ///
  /// - Parameter row: The sample, at most a second before the latest. A value for which there is no
  ///   column is an error, not a loss.
  /// - Throws: ``RecordingError`` when the row is not valid in this format, or cannot be written.
  public mutating func append(_ row: RangingRow) throws(RecordingError) {
    try ranging.start(row.timestamp)
    try ranging.append(peer: row.peer)
    for (column, decimals) in columns { ranging.append(row.values[column], decimals: decimals) }
    for column in missingColumns where row.values[column] != nil {
      throw RecordingError(
        .missingColumn, "a sample has a value for \(column.name), which is not written",
        file: ranging.name, line: ranging.line,
        remedy: "name the column in the writer's options")
    }
    try ranging.end()
  }

  /// Adds a row to `tdoa.csv`.
  ///
  /// - Parameter row: The range difference, at most a second before the latest.
  /// - Throws: ``RecordingError`` when the row is not valid in this format, or cannot be written.
  public mutating func append(_ row: DifferenceRow) throws(RecordingError) {
    try differences.start(row.timestamp)
    try differences.append(peer: row.from)
    try differences.append(peer: row.to)
    for value in [row.metres, row.sigma ?? 1] where !value.isFinite {
      throw RecordingError(
        .notFinite, "a range difference is not finite", file: differences.name,
        line: differences.line, remedy: "leave out the row")
    }
    differences.append(row.metres, decimals: options.lengthDecimals)
    differences.append(row.sigma, decimals: options.lengthDecimals)
    try differences.end()
  }

  /// Writes `map.json`: where the anchors are.
  ///
  /// - Parameters:
  ///   - anchors: The map in the engine's axes.
  ///   - up: The axis of the file's world that points up.
  /// - Throws: ``RecordingError`` when it cannot be written.
  public mutating func write(anchors: PeerMap, up: WorldUp) throws(RecordingError) {
    var file = try AtomicFile(path: "\(folder.temporaryPath)/\(RecordingReader.mapFile)")
    try file.write(PeerMapFile(map: anchors).json(up: up))
    try file.commit()
  }

  /// Adds a row to `tracking.csv`.
  ///
  /// - Parameter row: The row, not before the row before it.
  /// - Throws: ``RecordingError`` when the row is not valid in this format, or cannot be written.
  public mutating func append(_ row: TrackingRow) throws(RecordingError) {
    try tracking.start(row.sample.timestamp)
    switch row.sample.quality {
    case .normal: tracking.text.append(",normal,")
    case .limited(.unspecified): tracking.text.append(",limited,")
    case .limited(let reason): tracking.text.append(",limited,\(reason.rawValue)")
    case .notAvailable: tracking.text.append(",notAvailable,")
    }
    tracking.append(row.sample.ambientIntensityLumens, decimals: 3)
    try tracking.end()
  }

  /// Adds a pose to `truth/trajectory.txt`.
  ///
  /// - Parameter row: The pose, not before the pose before it, in the true world.
  /// - Throws: ``RecordingError`` when the row is not valid in this format, or cannot be written.
  public mutating func appendTruth(_ row: PoseRow) throws(RecordingError) {
    try trueTrajectory.append(row, options)
  }

  /// Adds a row to `truth/peers.csv`.
  ///
  /// - Parameter row: The true position of a peer, in the world of the true poses, not before the row before it
  ///   of the same peer.
  /// - Throws: ``RecordingError`` when the row is not valid in this format, or cannot be written.
  public mutating func appendTruth(_ row: TruthPeerRow) throws(RecordingError) {
    if let latest = truePeerTimes[row.peer], row.timestamp < latest {
      throw truePeers.timeWentBack(from: latest, to: row.timestamp)
    }
    try truePeers.start(row.timestamp)
    try truePeers.append(peer: row.peer)
    try truePeers.append(
      row.positionInWorld, separator: ",", decimals: options.lengthDecimals)
    try truePeers.end()
    truePeerTimes[row.peer] = row.timestamp
  }

  /// Completes the recording and renames it to its path.
  ///
  /// It is an error if there is no pose or no sample, since such a recording could not be read.
  public consuming func finish() throws(RecordingError) {
    try close()
    try folder.commit()
  }

  /// Completes the recording, lets it be read once under its temporary path, and renames it.
  ///
  /// - Parameter revise: Reads the complete recording and returns what goes into `recording.json`;
  ///   when it throws, no recording appears.
  /// - Throws: The error of `revise`, or when the recording cannot be read or written.
  package consuming func finish(
    revising revise: (RecordingReader) throws(RecordingError) -> RecordingManifest
  ) throws(RecordingError) {
    try close()
    let path = folder.temporaryPath
    let manifest = try revise(RecordingReader(folder: path))
    var warnings = RecordingWarnings()
    _ = try RecordingManifest(json: Array(manifest.json.utf8), warnings: &warnings)
    var file = try AtomicFile(path: "\(path)/\(RecordingManifest.fileName)")
    try file.write(manifest.json)
    try file.commit()
    try folder.commit()
  }

  private mutating func close() throws(RecordingError) {
    for (name, rows) in [
      (trajectory.name, trajectory.rows), (ranging.name, ranging.rows),
    ]
    where rows == 0
      && !(name == ranging.name && (options.allowsNoRanging || differences.rows > 0))
    {
      throw RecordingError(
        .noSamples, "there is nothing to write", file: name,
        remedy: "a recording needs poses and ranging samples")
    }
    try trajectory.close()
    if differences.rows > 0 { ranging.isWrittenEmpty = true }
    try ranging.close()
    try differences.close()
    try tracking.close()
    try trueTrajectory.close()
    try truePeers.close()
  }
}

extension RecordingWriter.Options {
  fileprivate func decimals(of column: RangingColumn) -> Int {
    switch column.unit {
    case .metres: lengthDecimals
    case .radians: angleDecimals
    case .figureOfMerit: 9
    case .decibelMilliwatts: 3
    case .flag: 0
    }
  }
}
