// SPDX-License-Identifier: Apache-2.0
import Glibc
public import NearbyFusion

/// A recording on disk, opened for reading.
///
/// Opening reads `recording.json` and checks that the required files exist. The rest is streamed by
/// ``events()`` or by the readers of the single files; each call starts from the beginning.
public struct RecordingReader: Hashable, Sendable {
  /// The folder's path.
  public let folder: String
  /// The contents of `recording.json`.
  public let manifest: RecordingManifest
  /// The warnings about `recording.json`.
  public let warnings: RecordingWarnings
  /// By how much the times of the ranging are ahead of those of the poses, seconds: ``events()`` has rows in
  /// the order of when they were measured.
  public var clockOffset = 0.0
  /// The files that were read already; `nil` when each reader reads its file from the disk.
  private var keptFiles: KeptFiles?

  /// Opens a recording.
  ///
  /// - Parameter folder: The path of the folder, or of the `recording.json` in it.
  /// - Throws: When the folder or a required file is missing, or the first fault in `recording.json`.
  public init(folder: String) throws(RecordingError) {
    var path = folder
    if let suffix = ["/\(RecordingManifest.fileName)", RecordingManifest.fileName].first(where: {
      folder.hasSuffix($0)
    }), Self.kind(of: folder) == .file {
      path = String(folder.dropLast(suffix.utf8.count))
      if path.isEmpty { path = suffix.hasPrefix("/") ? "/" : "." }
    }
    switch Self.kind(of: path) {
    case .folder: break
    case .file:
      throw RecordingError(
        .missingFolder, "is a file, not a recording", file: folder,
        remedy: "give the folder that holds \(RecordingManifest.fileName)")
    case nil:
      throw RecordingError(
        .missingFolder, "there is no such folder", file: folder, remedy: "check the path")
    }
    self.folder = path
    for name in [RecordingManifest.fileName, Self.trajectoryFile, Self.rangingFile]
    where Self.kind(of: "\(path)/\(name)") != .file {
      throw RecordingError(
        .missingFile, "\(name) is missing", file: path,
        remedy:
          "a recording needs \(RecordingManifest.fileName), \(Self.trajectoryFile) and \(Self.rangingFile)"
      )
    }
    var warnings = RecordingWarnings()
    manifest = try RecordingManifest(
      json: Self.contents(of: "\(path)/\(RecordingManifest.fileName)"), warnings: &warnings)
    self.warnings = warnings
  }

  /// The same recording, of which each file is read from the disk once, as long as it is small.
  ///
  /// For work that goes through the files several times. Files beyond 16 MB are streamed each time.
  package var keepingFiles: RecordingReader {
    var recording = self
    recording.keptFiles = KeptFiles()
    return recording
  }

  /// Whether the recording holds true poses and true positions.
  public var hasTruth: Bool { has(Self.truthTrajectoryFile) && has(Self.truthPeersFile) }

  /// The same recording, its samples in the order in which an engine with some settings can use them.
  ///
  /// - Parameter configuration: The settings, with the offset of the radio's clock.
  /// - Returns: A reader with that ``clockOffset``.
  public func ordered(by configuration: FusionConfiguration) -> RecordingReader {
    var recording = self
    recording.clockOffset = configuration.ranging.clockOffset
    return recording
  }

  /// Opens the recording as one stream of events.
  ///
  /// - Returns: The stream, before its first event.
  /// - Throws: When a file cannot be opened or its header is wrong.
  public func events() throws(RecordingError) -> RecordingEventStream {
    RecordingEventStream(
      self, trajectory: try trajectory(), ranging: try ranging(), tracking: try tracking())
  }

  /// Opens the recording as one stream of events, of poses alone when it has no samples.
  package func eventsOfAnyMotion() throws(RecordingError) -> RecordingEventStream {
    var ranging = try ranging()
    ranging.allowsNoRows = true
    return RecordingEventStream(
      self, trajectory: try trajectory(), ranging: ranging, tracking: try tracking())
  }

  /// Opens the device's odometry.
  ///
  /// - Returns: The reader, before the first pose.
  /// - Throws: When the file cannot be opened.
  public func trajectory() throws(RecordingError) -> TrajectoryReader {
    try TrajectoryReader(file(Self.trajectoryFile))
  }

  /// Opens the ranging.
  ///
  /// - Returns: The reader, before the first row.
  /// - Throws: When the file cannot be opened or its header is wrong.
  public func ranging() throws(RecordingError) -> RangingReader {
    var reader = try RangingReader(file(Self.rangingFile), peers: manifest.peers.map(\.id))
    // A device that only listens measures no ranges.
    reader.allowsNoRows = hasDifferences
    return reader
  }

  /// Whether there are range differences.
  public var hasDifferences: Bool { has(Self.differencesFile) }

  /// Opens the range differences.
  ///
  /// - Parameter anchors: The names of the anchors whose places are known; any other is a warning. `nil` for
  ///   any.
  /// - Returns: The reader, before the first row; `nil` when the recording has no such file.
  /// - Throws: When the file cannot be opened or its header is wrong.
  public func differences(
    anchors: [String]? = nil
  ) throws(RecordingError) -> DifferenceReader? {
    guard hasDifferences else { return nil }
    return try DifferenceReader(file(Self.differencesFile), anchors: anchors)
  }

  /// Reads the map of the anchors that lies beside the range differences.
  ///
  /// - Parameter configuration: What is known of ranges where the file does not say.
  /// - Returns: The map; `nil` when the recording has no such file.
  /// - Throws: The first fault of the file.
  public func anchorMap(
    _ configuration: FusionConfiguration
  ) throws(RecordingError) -> PeerMap? {
    guard has(Self.mapFile) else { return nil }
    return try PeerMapFile(
      json: FileBytes.read(path: path(Self.mapFile), as: Self.mapFile), file: Self.mapFile,
      configuration
    ).map
  }

  /// Opens the tracking quality.
  ///
  /// - Returns: The reader, before the first row; `nil` when the recording has no such file.
  /// - Throws: When the file cannot be opened or its header is wrong.
  public func tracking() throws(RecordingError) -> TrackingReader? {
    guard has(Self.trackingFile) else { return nil }
    return try TrackingReader(file(Self.trackingFile))
  }

  /// Opens the device's true poses, which are in a world of their own.
  ///
  /// - Returns: The reader, before the first pose; `nil` when the recording has no such file.
  /// - Throws: When the file cannot be opened.
  public func truthTrajectory() throws(RecordingError) -> TrajectoryReader? {
    guard has(Self.truthTrajectoryFile) else { return nil }
    return try TrajectoryReader(file(Self.truthTrajectoryFile))
  }

  /// Opens the peers' true positions, which are in the world of the true poses.
  ///
  /// - Returns: The reader, before the first row; `nil` when the recording has no such file.
  /// - Throws: When the file cannot be opened or its header is wrong.
  public func truthPeers() throws(RecordingError) -> TruthPeersReader? {
    guard has(Self.truthPeersFile) else { return nil }
    return try TruthPeersReader(file(Self.truthPeersFile))
  }
}

extension RecordingReader {
  /// The names of all files that a recording may have, in its folder.
  public static let fileNames = [
    RecordingManifest.fileName, trajectoryFile, rangingFile, differencesFile, mapFile,
    trackingFile, truthTrajectoryFile, truthPeersFile,
  ]

  /// Whether a path in a recording's folder is that of a file of the format.
  ///
  /// - Parameter path: The path below the folder.
  /// - Returns: Whether the format has such a file.
  static func isFile(ofFormat path: String) -> Bool {
    if fileNames.contains(path) { return true }
    let parts = path.split(separator: "/")
    return parts.count == 3 && parts[0] == "peers" && parts[2] == trajectoryFile
  }

  static let trajectoryFile = "trajectory.txt"
  static let rangingFile = "ranging.csv"
  package static let differencesFile = "tdoa.csv"
  package static let mapFile = "map.json"
  package static let trackingFile = "tracking.csv"
  static let truthTrajectoryFile = "truth/trajectory.txt"
  static let truthPeersFile = "truth/peers.csv"

  private enum Kind { case file, folder }

  private static func kind(of path: String) -> Kind? {
    if let place = MemoryPlace(path) {
      return place.bytes != nil ? .file : place.isFolder ? .folder : nil
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
  }

  package func has(_ name: String) -> Bool { Self.kind(of: path(name)) == .file }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func file(_ name: String) -> TextFile {
    let file = TextFile(path: path(name), name: name)
    return keptFiles?.kept(file) ?? file
  }

  private static func contents(of path: String) throws(RecordingError) -> [UInt8] {
    try FileBytes.read(path: path, as: RecordingManifest.fileName)
  }
}
