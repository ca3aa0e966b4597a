// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

extension ExportCommand {
  /// `nearby export jsonl`: a recording as JSON lines.
  struct Jsonl: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A recording as JSON lines, in the order of a run.",
      discussion: """
        Numbers keep every bit, so that 'nearby run -' gives the same results for the lines as \
        'nearby run' for the recording.

        EXAMPLE
          nearby export jsonl walk --output walk.jsonl
          nearby run - < walk.jsonl
        """)

    @Argument(help: "The recording's folder.", completion: .directory)
    var recording: String

    @OptionGroup var file: ExportOutputOptions

    func run() throws {
      do {
        try file.print(
          try LinesExporter(RecordingReader(folder: recording)).export(to: file.output))
      } catch let error as RecordingError {
        throw error.located(in: recording)
      }
    }
  }
}
