// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import jsonl`: JSON lines, as `nearby export jsonl` writes them.
  struct Jsonl: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "JSON lines: poses, ranges, tracking, a manifest.",
      discussion: """
        The keys are the columns of a recording's files, beside a type:

          {"type":"manifest","manifest":{"format":"nearby-recording","version":1,"name":"walk"}}
          {"type":"pose","timestamp":1.5,"tx":0,"ty":0,"tz":0,"qx":0,"qy":0,"qz":0,"qw":1}
          {"type":"range","timestamp":1.6,"peer":"keys","distance":3.25,"azimuth":0.1}
          {"type":"tracking","timestamp":1.7,"state":"limited","reason":"excessiveMotion"}

        The manifest is what recording.json holds; it is optional and comes first. The types \
        truePose and truePeer hold what is in truth/. 'nearby export jsonl' writes such a file, \
        'nearby run -' reads it as it comes.

        EXAMPLE
          nearby import jsonl log.jsonl --output walk
        """)

    @Argument(help: "The file.", completion: .file())
    var file: String

    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = LinesImporter(path: file)
      importer.frames = frames.frames(up: .y, axes: .arkit)
      importer.options = recording.options()
      try recording.run([.jsonl]) { try importer.importRecording(to: recording.output) }
    }
  }
}
