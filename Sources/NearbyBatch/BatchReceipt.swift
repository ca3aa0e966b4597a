// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyEvaluation
internal import NearbyFusion
internal import NearbyRecordings

/// The inputs and files of a result: `receipt.json`, by which a batch recognises finished results.
struct BatchReceipt: Hashable, Codable {
  /// The file's name in its folder.
  static let fileName = "receipt.json"

  /// The engine's version.
  var version: String
  /// The engine's build, ``EngineBuild``.
  var build: String
  /// The options that change results.
  var options: Options
  /// The settings in force.
  var settings: ContentDigest
  /// The recording's files by their names.
  var recording: [String: ContentDigest]
  /// The result's files by their names.
  var results: [String: ContentDigest]

  struct Options: Hashable, Codable {
    var smooths: Bool
    /// `nil` for the default.
    var calibration: CalibrationMode?
    var evaluates: Bool

    /// The files that each result holds.
    var neededNames: [String] {
      [EstimateWriter.fileName, RunSummary.fileName, ConfigurationFile.fileName]
        + (smooths ? [SmoothedWriter.fileName] : [])
        + (evaluates ? [ResultEvaluation.fileName] : [])
    }
  }

  /// The files that a result may hold: what a run writes, and the evaluation.
  static let resultNames = ResultFiles.names + [ResultEvaluation.fileName]

  /// The folders of results, which may be replaced.
  static let folderKind = AtomicFolder.Kind(marker: fileName) { path in
    path == fileName || resultNames.contains(path)
  }

  /// The receipt for a recording before its results are made.
  init(_ run: RecordingRun, evaluates: Bool) throws(RecordingError) {
    version = NearbyVersion.current
    build = EngineBuild.identity
    options = Options(
      smooths: run.smooths, calibration: run.calibration == .use ? nil : run.calibration,
      evaluates: evaluates)
    settings = ContentDigest(ConfigurationFile.json(of: run.configuration).utf8)
    recording = try Self.digests(of: RecordingReader.fileNames, in: run.recording.folder)
    results = [:]
  }

  /// Whether a folder holds exactly the results of this receipt.
  func isFulfilled(by folder: String) -> Bool {
    // Names from a receipt are never opened, since the receipt is an untrusted file.
    guard
      let found = try? JSONFile.decode(
        BatchReceipt.self, path: "\(folder)/\(Self.fileName)", remedy: ""),
      let results = try? Self.digests(of: Self.resultNames, in: folder),
      Set(options.neededNames).isSubset(of: results.keys)
    else { return false }
    var wanted = self
    wanted.results = results
    return found == wanted
  }

  /// Adds the results in a folder, and writes the receipt to it.
  mutating func close(over folder: String) throws {
    results = try Self.digests(of: Self.resultNames, in: folder)
    var file = try AtomicFile(path: "\(folder)/\(Self.fileName)")
    try file.write(CanonicalJSON.text(of: self))
    try file.commit()
  }

  /// The digests of the existing files.
  private static func digests(
    of names: some Sequence<String>, in folder: String
  ) throws(RecordingError) -> [String: ContentDigest] {
    var digests: [String: ContentDigest] = [:]
    for name in names where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
      digests[name] = try ContentDigest(ofFile: "\(folder)/\(name)")
    }
    return digests
  }
}
