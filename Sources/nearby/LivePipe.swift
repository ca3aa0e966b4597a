// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyRecordings

/// `nearby run -`: JSON lines in, an estimate out for each sample as it comes.
///
/// A line with a fault is reported and passed over; the exit status says so in the end.
struct LivePipe {
  /// The name of standard input in messages.
  fileprivate static let name = "-"

  /// The names of the peers to be located; all when empty.
  var selection: Set<String> = []
  /// The path of the settings, if there are any.
  var configurationPath: String?
  /// Whether oddities that stop nothing go unmentioned.
  var isQuiet = false

  /// Reads to the end of the input.
  ///
  /// - Throws: What ends the run before; in the end, that there were faulty lines.
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

/// What the lines of a live pipe have come to so far.
///
/// Noncopyable: it holds the state of all peers, and a copy of that takes longer than a line.
struct LiveLines: ~Copyable {
  private let pipe: LivePipe
  private var manifest = RecordingManifest(name: "live")
  /// Made with the first line that is good: the manifest, if there is one, is the first of all.
  private var run: LiveRun?
  private var text = OutputText()

  /// Prepares for the first line.
  ///
  /// - Parameter pipe: Which peers, and with which settings.
  init(_ pipe: LivePipe) { self.pipe = pipe }

  /// Takes a line.
  ///
  /// - Parameters:
  ///   - line: What it says.
  ///   - number: Which line it is.
  ///   - write: Takes what is to be written after it, if anything.
  /// - Throws: What is wrong with the line or the settings, or with what it led to.
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
