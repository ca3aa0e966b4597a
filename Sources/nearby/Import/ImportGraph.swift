// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import pyfg`: a factor graph.
  struct Pyfg: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A factor graph in the PyFG format.",
      discussion: """
        The steps from each pose to the next are added up to the odometry; vertices are the truth. \
        Landmarks are stationary peers L0, L1; other robots are moving peers A, B. The covariances \
        of the steps give the drift, ranges bring their variances; an EDGE_SE3_XYZ is a distance with azimuth and elevation. Priors, loop \
        closures and what other robots measured are left out, and counted.

        The format does not say in which frames it is: without --up and --axes the world is z up, \
        the device forward, left, up.

        EXAMPLES
          nearby import pyfg plaza1.pyfg --output plaza1
          nearby import pyfg fleet.pyfg --robot B --output b
        """)

    @Argument(help: "The graph.", completion: .file(extensions: ["pyfg"]))
    var graph: String

    @Option(
      help: ArgumentHelp("The robot; that of the first pose when left out.", valueName: "letter"))
    var robot: String?

    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = PyfgImporter(path: graph)
      importer.robot = robot
      importer.frames = frames.frames(up: .z, axes: .ros)
      importer.options = recording.options(kind: .odometry)
      try recording.run([.pyfg]) { try importer.importRecording(to: recording.output) }
    }
  }
}
