// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyFusion
import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import tdoa`: a table of range differences, with a trajectory.
  struct Tdoa: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A table of range differences (TDoA), with a trajectory.",
      discussion: """
        TABLE has a header and a row for each difference of the distances to two anchors, the second \
        minus the first, in metres. Its columns have our own names, timestamp, anchor_a, anchor_b, \
        difference and sigma, those of UTIL's flights, t_tdoa, tdoa_idA, tdoa_idB and tdoa_meas, or those \
        of the Crazyflie's log, timestamp, anchorA, anchorB and distanceDiff. Others are left out, as are \
        rows without a difference. Times are those of the poses.

        --anchors names a map as 'nearby run --map' reads it, with the places of the anchors; it becomes \
        map.json of the recording, and 'nearby run' locates the device among them.

        EXAMPLE
          nearby import tdoa log.csv --trajectory poses.txt --anchors hall.json -o flight
          nearby run flight -o out
        """)

    @Argument(help: "The table.", completion: .file())
    var table: String

    @Option(
      help: ArgumentHelp("A map with the anchors' places.", valueName: "file"),
      completion: .file(extensions: ["json"]))
    var anchors: String?

    @Option(
      help: ArgumentHelp("The accuracy of differences, one sigma.", valueName: "metres"))
    var tdoaSigma: Double?

    @Option(help: "How the anchors' clocks err: kept together, or free.")
    var clocks = Clocks.synchronized

    @OptionGroup(title: "Poses") var trajectory: TrajectoryOptions
    @OptionGroup(title: "Truth") var truth: TruthOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    /// The models of clocks by name.
    enum Clocks: String, ExpressibleByArgument, CaseIterable {
      case synchronized, free
    }

    func validate() throws {
      if let tdoaSigma, !(1e-4...1e3).contains(tdoaSigma) {
        throw ValidationError("--tdoa-sigma must be 0.0001 to 1000")
      }
    }

    func run() throws {
      var importer = truth.importer(of: try trajectory.input())
      var input = DifferenceInput(path: table, anchors: anchors)
      input.model.sigma = tdoaSigma
      input.model.clocks = clocks == .free ? .free : .synchronized
      importer.differences = input
      importer.options = recording.options(assuming: trajectory.assumptions)
      try recording.run([.csv, trajectory.expected]) {
        try importer.importRecording(to: recording.output)
      }
    }
  }
}
