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
    abstract: "Draw a result as a still picture: SVG, PNG or PDF.",
    discussion: """
      RESULT is a folder that "nearby run" wrote. Kinds: map (from above and from the side), \
      distance and angle (with their errors where the recording holds the truth), nis (the \
      normalised innovations squared), timeline (status and reasons), and path (the device's \
      paths: odometry, corrected by peers, smoothed, true, and their distance to the true one).

      A map shows all peers, other kinds the first; --peer chooses. Each peer has a colour, the \
      same in all pictures of a run. The true path is turned about gravity and shifted onto the \
      corrected one.

      PNG and PDF are made from the SVG by rsvg-convert, from the Debian package librsvg2-bin.

      EXAMPLES
        nearby plot out/plaza2 --output map.svg
        nearby plot out/plaza2 -o path.pdf --kind path
        nearby plot out/plaza2 -o nis.png --kind nis --peer beacon-1
        nearby plot out/plaza2 -o both.svg --kind distance --peer beacon-1 --peer beacon-5
        nearby plot out/plaza2 -o figures --all pdf
      """)

  @Argument(
    help: ArgumentHelp("The folder that a run wrote.", valueName: "result"),
    completion: .directory)
  var result: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The picture to write; it ends in .svg, .png or .pdf. With --all the folder.",
      valueName: "file"),
    completion: .file(extensions: ["svg", "png", "pdf"]))
  var output: String

  @Option(help: "What to show.")
  var kind: PictureKind = .map

  @Option(
    name: .customLong("peer"),
    help: ArgumentHelp(
      "Draw this peer; may be given several times. By default a map shows all, other kinds the first.",
      valueName: "name"))
  var peers: [String] = []

  @Option(
    help: ArgumentHelp("The recording of the result.", valueName: "dir"), completion: .directory)
  var recording: String?

  @Flag(help: "Show the smoothed rows: map, distance and angle.")
  var smoothed = false

  @Option(
    help: ArgumentHelp(
      "Write all pictures, of all kinds and peers, as svg, png or pdf.", valueName: "format"))
  var all: Format?

  /// The formats of pictures.
  enum Format: String, CaseIterable, ExpressibleByArgument { case svg, png, pdf }

  private var format: Format? {
    all ?? Format(rawValue: URL(fileURLWithPath: output).pathExtension.lowercased())
  }

  func validate() throws {
    if all != nil, !peers.isEmpty {
      throw ValidationError("--all draws all peers; leave out --peer")
    }
    if format == nil {
      throw ValidationError("--output \(output): name a file that ends in .svg, .png or .pdf")
    }
    if smoothed, kind == .nis || kind == .timeline {
      throw ValidationError(
        "--kind \(kind.rawValue): what was smoothed has none; leave out --smoothed")
    }
    guard kind == .path else { return }
    if smoothed {
      throw ValidationError("--kind path shows the smoothed path by itself; leave out --smoothed")
    }
    if !peers.isEmpty { throw ValidationError("--kind path shows no peers; leave out --peer") }
  }

  func run() throws {
    let report = try Report.gather(results: [result], recording: recording)
    let source: ResultEvaluation.Source = smoothed ? .smoothed : .estimates
    guard let run = report.runs.firstIndex(where: { $0.source == source }) else {
      throw CommandFailure(
        .badData, "\(result): nothing was smoothed; run \"nearby run\" with --smooth")
    }
    guard all == nil else { return try writeAll(of: report, run: run) }
    let svg = Picture(
      of: report, run: run, tracks: try tracks(in: report.runs[run]), kind: kind,
      paths: kind == .path ? try PicturePaths(result: result, recording: recording) : nil
    ).svg
    try write(svg, to: output)
  }

  /// Writes a map, the paths, and each other kind for each peer.
  private func writeAll(of report: Report, run: Int) throws {
    let folder = try OutputFolder(path: output)
    let tracks = report.runs[run].tracks
    let paths = try PicturePaths(result: result, recording: recording)
    let ending = (format ?? .svg).rawValue
    for kind in PictureKind.allCases {
      if smoothed, kind == .nis || kind == .timeline || kind == .path { continue }
      let groups =
        kind == .map
        ? [Array(tracks.indices)] : kind.isOfPeers ? tracks.indices.map { [$0] } : [[]]
      for group in groups where !(kind.isOfPeers && group.isEmpty) {
        let peer = kind == .map ? nil : group.first.map { tracks[$0].peer }
        let name = [peer.map(Self.fileName), kind.rawValue].compactMap(\.self)
        let svg = Picture(of: report, run: run, tracks: group, kind: kind, paths: paths).svg
        try write(svg, to: folder.path(of: "\(name.joined(separator: "-")).\(ending)"))
      }
    }
    folder.keep()
  }

  /// A peer's name as part of that of a file.
  private static func fileName(_ peer: String) -> String {
    String(peer.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
  }

  private func write(_ svg: OutputText, to path: String) throws {
    var file = try AtomicFile(path: path)
    switch format {
    case .png: try Rasterizer.write(svg, as: .png, to: &file)
    case .pdf: try Rasterizer.write(svg, as: .pdf, to: &file)
    case .svg, nil: try file.write(svg)
    }
    try file.commit()
  }

  private func tracks(in run: ReportRun) throws -> [Int] {
    guard kind.isOfPeers else { return [] }
    var tracks: [Int] = []
    for peer in peers {
      guard let track = run.tracks.firstIndex(where: { $0.peer == peer }) else {
        let known = run.tracks.map(\.peer).joined(separator: ", ")
        throw CommandFailure(
          .usage, "--peer \(peer): the result has no such peer; it has \(known)")
      }
      if !tracks.contains(track) { tracks.append(track) }
    }
    guard !run.tracks.isEmpty else {
      throw CommandFailure(.badData, "\(result): the result has no rows to draw")
    }
    guard tracks.isEmpty else { return tracks }
    return kind == .map ? Array(run.tracks.indices) : [0]
  }
}

extension PictureKind: ExpressibleByArgument {}
