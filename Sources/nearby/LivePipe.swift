// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// `nearby run -`: reads JSON lines and writes an estimate for each sample immediately.
///
/// A faulty line is reported and skipped, and makes the exit status 65.
struct LivePipe {
  /// The name of standard input in messages.
  fileprivate static let name = "-"

  /// The names of the peers to be located; all when empty.
  var selection: Set<String> = []
  /// The path of the settings, if there are any.
  var configurationPath: String?
  /// Whether warnings are suppressed.
  var isQuiet = false

  /// Reads to the end of the input.
  ///
  /// - Throws: An error that ends the run early; at the end, an error if there were faulty lines.
  func run() throws {
    var lines = try RecordingLineReader(standardInput: Self.name)
    var live = LiveLines(self)
    var faults = FaultyLines()
    while true {
      do {
        guard let line = try lines.next() else { break }
        try live.add(line, at: lines.line) { try StandardOutput.write($0) }
      } catch let error as RecordingError {
        guard error.file == Self.name, RecordingLineReader.canGoOn(after: error) else {
          throw error
        }
        faults.add(error)
      }
    }
    if !isQuiet {
      for key in lines.unknownKeys.sorted() {
        Diagnostics.warning("\(Self.name): \(key) is ignored")
      }
      if let words = live.lateness { Diagnostics.warning("\(Self.name): \(words)") }
    }
    if let failure = faults.failure { throw failure }
  }
}

/// The state of a live pipe.
///
/// Performance: noncopyable, since copying the state of all peers takes longer than processing a
/// line.
struct LiveLines: ~Copyable {
  private let pipe: LivePipe
  private var manifest = RecordingManifest(name: "live")
  /// Made with the first valid line, since a manifest must be the first line.
  private var run: LiveRun?
  private var text = OutputText()
  private var configuration = FusionConfiguration()
  private var (samples, lateSamples) = (0, 0)

  /// Prepares for the first line.
  ///
  /// - Parameter pipe: The selected peers and the settings.
  init(_ pipe: LivePipe) { self.pipe = pipe }

  /// Processes a line.
  ///
  /// - Parameters:
  ///   - line: The parsed line.
  ///   - number: The number of the line.
  ///   - write: Called with the output for the line, if there is any.
  /// - Throws: An error of the line or the settings, or of writing the output.
  mutating func add(
    _ line: RecordingLine, at number: Int, write: ([UInt8]) throws -> Void
  ) throws {
    if case .manifest(let found) = line { manifest = found }
    if run == nil { run = try begin() }
    switch line {
    case .manifest, .truePose, .truePeer: break
    case .tracking(let row): run?.add(row)
    case .pose(let row):
      switch run?.add(row) {
      case .rejectedNotLater:
        throw RecordingError(
          .timeWentBack, "the pose is not after the pose before it", file: LivePipe.name,
          line: number, remedy: "send poses in the order of time")
      case .acceptedInstead(let seconds):
        Diagnostics.warning(
          "\(LivePipe.name):\(number): an earlier pose is taken back; it was stamped \(seconds) s ahead"
        )
      default: break
      }
    case .range(let row):
      guard let (report, estimate) = run?.add(row) else { return }
      samples += 1
      if report.use == .rejected, let newest = run?.newestPose?.timestamp,
        newest.seconds(since: report.timestamp) > configuration.ranging.maximumLateness
      {
        lateSamples += 1
      }
      text.removeAll()
      text.appendEstimate(row, report, estimate, frames: manifest.frames)
      try text.checkIsFinite(for: "standard output")
      try write(text.bytes)
    }
  }

  /// What is to be said of samples that came too late to be used; `nil` when none did.
  var lateness: String? {
    guard lateSamples > 0 else { return nil }
    let limit = configuration.ranging.maximumLateness
    return """
      \(lateSamples) of \(samples) samples came more than \(limit) s after the poses of their times and were left \
      out\(2 * lateSamples > samples ? "; raise ranging.maximumLateness above the radio's delay" : "")
      """
  }

  private mutating func begin() throws -> LiveRun {
    configuration = manifest.fusionConfiguration()
    if let path = pipe.configurationPath {
      configuration = try ConfigurationFile.read(path: path, over: configuration)
    }
    return try LiveRun(
      manifest: manifest, configuration: configuration, selection: pipe.selection)
  }
}
