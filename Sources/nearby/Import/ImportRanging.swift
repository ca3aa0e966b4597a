// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import csv`: a table of ranging of any logger.
  struct Csv: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A table of ranging of any logger, with a trajectory.",
      discussion: """
        TABLE has a header and a row for each sample. --map says which column holds what, --unit \
        in which unit; columns with our own names need no map. \
        Keys: \(FieldMap.rangingKeys.joined(separator: ", ")). Azimuths are positive to the right, \
        elevations up, height differences where the peer is above the device; for the opposite \
        sign use a unit with a minus, as in --unit azimuth=-deg. Times are seconds, or epoch times in \
        ms, us or ns, which their size tells, ISO 8601 or times of day; --unit timestamp=ms states \
        another unit. A column that names its unit, as "Distance (mm)" or dist_cm, needs no --unit; \
        decimal commas and units behind numbers are understood. Lines of JSON are read by the paths \
        of their values, as in --map distance=raz[0].

        Poses come from a TUM file, or with --trajectory-format csv from any table. Several tables \
        are sorted by time. A table with a column for each peer is read with --peer-column, and a \
        log of lines of several kinds, or of several samples each, with --layout.

        EXAMPLES
          nearby import csv uwb.csv --trajectory poses.txt --output walk \\
            --map timestamp=time_ms --map distance=dist_cm --map peer=mac \\
            --map azimuth=aoa --unit timestamp=ms --unit distance=cm \\
            --unit azimuth=deg
          nearby import csv uwb.csv --trajectory poses.txt --output walk \\
            --peer-column A0=d0 --peer-column A1=d1 --where tag=7
          nearby import csv lec.log --layout lec.json --trajectory poses.txt -o walk
        """)

    @Argument(
      help: "The table, or several of one form that are sorted by time.", completion: .file())
    var table: [String]

    @OptionGroup var columns: RangingTableOptions
    @OptionGroup var clock: RangingClockOptions
    @OptionGroup(title: "Poses") var trajectory: TrajectoryOptions
    @OptionGroup(title: "Truth") var truth: TruthOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = truth.importer(of: try trajectory.input())
      let format = try columns.format()
      let inputs = table.map { path in
        var input = RangingInput(path: path, format: format)
        clock.apply(to: &input)
        return input
      }
      importer.ranging = inputs.first
      importer.moreRanging = Array(inputs.dropFirst())
      importer.options = recording.options(assuming: trajectory.assumptions)
      try recording.run([.csv, trajectory.expected]) {
        try importer.importRecording(to: recording.output)
      }
    }
  }

  /// `nearby import uci`: ranging notifications of the FiRa command interface.
  struct Uci: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A capture of FiRa UWB commands, with a trajectory.",
      discussion: """
        CAPTURE of UCI, the command interface, holds SESSION_INFO_NTF packets of two-way ranging: \
        pcapng of link type 293, the packets' bytes, or text with one packet per line in hexadecimal \
        digits, after the time in seconds if it is known. A capture without times counts the \
        session's ranging intervals from zero. --ranging-offset brings the times onto the clock of \
        the poses.

        Peers are named by their addresses, AA:BB. Distances of 0xFFFF and angles with a figure of \
        merit of zero count as not measured; exchanges that failed give no sample.

        EXAMPLE
          nearby import uci uwb.pcapng --trajectory poses.txt --output walk \\
            --ranging-offset -1731600000
        """)

    @Argument(help: "The capture.", completion: .file())
    var capture: String

    @Option(
      help: ArgumentHelp(
        "What the capture is: pcapng, raw or hex; found out when left out.", valueName: "what"))
    var container: UciCapture.Container?

    @OptionGroup var clock: RangingClockOptions
    @OptionGroup(title: "Poses") var trajectory: TrajectoryOptions
    @OptionGroup(title: "Truth") var truth: TruthOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = truth.importer(of: try trajectory.input())
      var input = RangingInput(path: capture, format: .uci(UciCapture(container: container)))
      clock.apply(to: &input)
      importer.ranging = input
      importer.options = recording.options(assuming: trajectory.assumptions)
      try recording.run([.uci, trajectory.expected]) {
        try importer.importRecording(to: recording.output)
      }
    }
  }
}

extension UciCapture.Container: ExpressibleByArgument {}
