// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

/// `nearby info`: the contents of a recording and its faults.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show what is in a recording: peers, rates, gaps, faults.",
    discussion: """
      Reads every file of the recording once, the truth included, and stops at the first line that \
      breaks the format. Samples that keep to the format but cannot be right, such as negative \
      distances, are only counted; the engine leaves them out one by one.

      At the end it says what to look at before the recording is run: whether poses and samples \
      are on one clock, the distances metres, the noise as stated, the motion enough, and so on. \
      Notes are facts; warnings are suspicious; an error leaves nothing to fuse. With --strict \
      either of the latter makes the exit status 65.

      EXAMPLES
        nearby info Datasets/plaza2
        nearby info living-room --json
      """)

  @Argument(
    help: ArgumentHelp("The recording's folder.", valueName: "recording"), completion: .directory)
  var recordingPath: String

  @Flag(help: "Print JSON instead of text.")
  var json = false

  @Flag(help: "Exit with status 65 if there is a warning or an error.")
  var strict = false

  func run() throws {
    do {
      let info = try RecordingReader(folder: recordingPath).info()
      if json {
        try StandardOutput.write(info.json())
      } else {
        try StandardOutput.print(info.text(), terminator: "")
      }
      if strict, let fault = info.findings.firstFault(isStrict: true) {
        throw CommandFailure(.badData, "\(recordingPath): \(fault.description)")
      }
    } catch let error as RecordingError {
      throw error.located(in: recordingPath).hinting(expected: [])
    }
  }
}
