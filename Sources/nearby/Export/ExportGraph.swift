// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

extension ExportCommand {
  /// `nearby export pyfg`: a recording as a factor graph.
  struct Pyfg: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A recording as a factor graph in the PyFG format.",
      discussion: """
        The graph has a pose of the antenna at the time of each sample, z up, forward, left, up; \
        steps between them; and peers as landmarks L0, L1. A sample with both angles is an \
        EDGE_SE3_XYZ, any other distance an EDGE_RANGE. Vertices hold the truth, or the odometry \
        where there is none.

        EXAMPLE
          nearby export pyfg Datasets/plaza2 --output plaza2.pyfg
        """)

    @Argument(help: "The recording's folder.", completion: .directory)
    var recording: String

    @OptionGroup var file: ExportOutputOptions

    func run() throws {
      do {
        let report = try PyfgExporter(RecordingReader(folder: recording)).export(to: file.output)
        try file.print(report)
      } catch let error as RecordingError {
        throw error.located(in: recording)
      }
    }
  }
}
