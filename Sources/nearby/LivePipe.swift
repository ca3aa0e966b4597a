// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
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
    var faults = 0
    while true {
      do {
        guard let line = try lines.next() else { break }
        try live.add(line, at: lines.line) { try StandardOutput.write($0) }
      } catch let error as RecordingError {
        guard error.file == Self.name, RecordingLineReader.canGoOn(after: error) else {
          throw error
        }
        Diagnostics.error(error.description)
        faults += 1
      }
    }
    if !isQuiet {
      for key in lines.unknownKeys.sorted() {
        Diagnostics.warning("\(Self.name): \(key) is ignored")
      }
    }
    if faults > 0 {
      throw CommandFailure(
        .badData, "\(faults) line\(faults == 1 ? " was" : "s were") faulty and left out")
    }
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
      if run?.add(row) == .rejectedNotLater {
        throw RecordingError(
          .timeWentBack, "the pose is not after the pose before it", file: LivePipe.name,
          line: number, remedy: "send poses in the order of time")
      }
    case .range(let row):
      guard let (report, estimate) = run?.add(row) else { return }
      text.removeAll()
      text.appendEstimate(row, report, estimate, frames: manifest.frames)
      try text.checkIsFinite(for: "standard output")
      try write(text.bytes)
    }
  }

  private func begin() throws -> LiveRun {
    var configuration = manifest.fusionConfiguration()
    if let path = pipe.configurationPath {
      configuration = try ConfigurationFile.read(path: path, over: configuration)
    }
    return try LiveRun(
      manifest: manifest, configuration: configuration, selection: pipe.selection)
  }
}
