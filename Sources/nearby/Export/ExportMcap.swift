// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

extension ExportCommand {
  /// `nearby export mcap`: the result of a run for viewers.
  struct Mcap: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A result for Foxglove, PlotJuggler and other viewers of MCAP files.",
      discussion: """
        RESULT is a folder that "nearby run" wrote. The recording is the one that its summary.json \
        names, relative to the current folder; --recording names another one.

        The frame "world" is the recording's own world, in which all positions are; "map" is the \
        same with z up, and "device" follows the odometry. Times are the recording's. Topics:
          /tf, /tf_static          map, world and device
          /device/pose             the odometry's poses
          /path/raw                the path; also corrected, smoothed and true
          /peers/NAME/scene        ellipsoids of 1 and 3.4 sigma, and a label
          /peers/NAME/pose         the peer while it is located
          /peers/NAME/true         where it is in truth
          /peers/NAME/numbers      distance, angle, sigmas, NIS, hypotheses, errors
          /peers/NAME/modes        an ellipsoid for each mode of modes.csv
          /events                  convergence won and lost, with the reasons

        In Foxglove open the file, add a 3D panel with the display frame "map", and make the \
        topics visible. In PlotJuggler drag curves of /peers/NAME/numbers. Rerun reads the file, \
        but does not draw messages of JSON; for Rerun there is "nearby.show" in Python.

        EXAMPLES
          nearby run Datasets/plaza2 --output out/plaza2
          nearby export mcap out/plaza2 --output plaza2.mcap
          nearby export mcap out/walk -o walk.mcap --recording ~/recordings/walk
        """)

    @Argument(
      help: ArgumentHelp("The folder that a run wrote.", valueName: "result"),
      completion: .directory)
    var result: String

    @Option(
      help: ArgumentHelp("The recording of the result.", valueName: "dir"), completion: .directory)
    var recording: String?

    @OptionGroup var file: ExportOutputOptions

    func run() throws {
      do {
        let exporter = try McapExporter(result: result, recording: recording)
        try file.print(try exporter.export(to: file.output), unit: "message")
      } catch let error as RecordingError {
        throw recording == nil ? error.mentioningRecording(of: [result, file.output]) : error
      }
    }
  }
}
