// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import FoundationEssentials
import NearbyEvaluation
import NearbyRecordings
public import NearbyReport

/// `nearby plot`: a result as a still picture.
struct PlotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plot",
    abstract: "Draw one peer of a result as a still picture, SVG or PNG.",
    discussion: """
      RESULT is a folder that "nearby run" wrote. Kinds: map (from above and from the side), \
      distance and angle (with their errors where the recording holds the truth), nis (the \
      normalised innovations squared) and timeline (status and reasons).

      PNG is made from the SVG by rsvg-convert, from the Debian package librsvg2-bin.

      EXAMPLES
        nearby plot out/plaza2 --output map.svg
        nearby plot out/plaza2 -o nis.png --kind nis --peer beacon-1
      """)

  @Argument(
    help: ArgumentHelp("The folder that a run wrote.", valueName: "result"),
    completion: .directory)
  var result: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The picture to write; it ends in .svg or .png.", valueName: "file"),
    completion: .file(extensions: ["svg", "png"]))
  var output: String

  @Option(help: "What to show.")
  var kind: PictureKind = .map

  @Option(help: ArgumentHelp("Which peer; by default the first.", valueName: "name"))
  var peer: String?

  @Option(
    help: ArgumentHelp("The recording of the result.", valueName: "dir"), completion: .directory)
  var recording: String?

  @Flag(help: "Show the smoothed rows: map, distance and angle.")
  var smoothed = false

  private enum Format: String { case svg, png }

  private var format: Format? {
    Format(rawValue: URL(fileURLWithPath: output).pathExtension.lowercased())
  }

  func validate() throws {
    if format == nil {
      throw ValidationError("--output \(output): name a file that ends in .svg or .png")
    }
    if smoothed, kind == .nis || kind == .timeline {
      throw ValidationError(
        "--kind \(kind.rawValue): what was smoothed has none; leave out --smoothed")
    }
  }

  func run() throws {
    let report = try Report.gather(results: [result], recording: recording)
    let source: ResultEvaluation.Source = smoothed ? .smoothed : .estimates
    guard let run = report.runs.firstIndex(where: { $0.source == source }) else {
      throw CommandFailure(
        .badData, "\(result): nothing was smoothed; run \"nearby run\" with --smooth")
    }
    let svg = Picture(
      of: report, run: run, track: try track(in: report.runs[run]), kind: kind
    ).svg
    var file = try AtomicFile(path: output)
    switch format {
    case .png: try Rasterizer.writePNG(of: svg, to: &file)
    case .svg, nil: try file.write(svg)
    }
    try file.commit()
  }

  private func track(in run: ReportRun) throws -> Int {
    if let peer {
      guard let track = run.tracks.firstIndex(where: { $0.peer == peer }) else {
        let known = run.tracks.map(\.peer).joined(separator: ", ")
        throw CommandFailure(
          .usage, "--peer \(peer): the result has no such peer; it has \(known)")
      }
      return track
    }
    guard !run.tracks.isEmpty else {
      throw CommandFailure(.badData, "\(result): the result has no rows to draw")
    }
    return 0
  }
}

extension PictureKind: ExpressibleByArgument {}
