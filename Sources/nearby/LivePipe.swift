// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyRecordings

/// `nearby run -`: JSON lines in, an estimate out for each sample as it comes.
///
/// A line with a fault is reported and passed over; the exit status says so in the end.
struct LivePipe {
  /// The name of standard input in messages.
  private static let name = "-"

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
    var live: LiveRun?
    var manifest = RecordingManifest(name: "live")
    var faults = 0
    var text = OutputText()
    while true {
      do {
        guard let line = try lines.next() else { break }
        if case .manifest(let found) = line { manifest = found }
        var run = try live ?? self.live(manifest)
        try add(line, at: lines.line, to: &run, manifest, &text)
        live = run
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

  private func live(_ manifest: RecordingManifest) throws -> LiveRun {
    var configuration = manifest.fusionConfiguration()
    if let configurationPath {
      configuration = try ConfigurationFile.read(path: configurationPath, over: configuration)
    }
    return try LiveRun(manifest: manifest, configuration: configuration, selection: selection)
  }

  private func add(
    _ line: RecordingLine, at number: Int, to run: inout LiveRun, _ manifest: RecordingManifest,
    _ text: inout OutputText
  ) throws {
    switch line {
    case .manifest, .truePose, .truePeer: break
    case .tracking(let row): run.add(row)
    case .pose(let row):
      if run.add(row) == .rejectedNotLater {
        throw RecordingError(
          .timeWentBack, "the pose is not after the pose before it", file: Self.name, line: number,
          remedy: "send poses in the order of time")
      }
    case .range(let row):
      guard let (report, estimate) = run.add(row) else { return }
      text.removeAll()
      text.appendEstimate(row, report, estimate, frames: manifest.frames)
      try text.checkIsFinite(for: "standard output")
      try StandardOutput.write(text.bytes)
    }
  }
}
