// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// The kinds of pictures of a run.
public enum PictureKind: String, Sendable, CaseIterable {
  /// The positions of device and peers, from above and from the side.
  case map
  /// The distance, and its error where the truth is known.
  case distance
  /// The horizontal angle, and its error where the truth is known.
  case angle
  /// The normalised innovations squared, and their expected band.
  case nis
  /// Status and reasons.
  case timeline
  /// The paths of the device: odometry, corrected, smoothed, true.
  case path

  /// Whether it is drawn of peers.
  public var isOfPeers: Bool { self != .path }
}

/// A still picture of some peers in one run, or of the device's paths, as SVG.
///
/// It is for use without a browser; ``ReportPage`` shows more.
public struct Picture: Sendable {
  static let width = 1000.0
  static let height = 560.0

  /// A peer that is drawn, and its colour.
  struct Subject {
    let track: ReportTrack
    let colour: String
    /// The moments with an empty row in each gap.
    let curves: ReportTable<MomentColumn>
  }

  let recording: ReportRecording
  let run: ReportRun
  let subjects: [Subject]
  let paths: PicturePaths?
  private let kind: PictureKind

  /// Makes a picture of one peer.
  ///
  /// - Parameters:
  ///   - report: The report that holds the run.
  ///   - run: The run's index in the report.
  ///   - track: The peer's index in the run.
  ///   - kind: The kind of picture.
  public init(of report: Report, run: Int, track: Int, kind: PictureKind) {
    self.init(of: report, run: run, tracks: [track], kind: kind)
  }

  /// Makes a picture of several peers, each in a colour of its own.
  ///
  /// - Parameters:
  ///   - report: The report that holds the run.
  ///   - run: The run's index in the report.
  ///   - tracks: The peers' indices in the run.
  ///   - kind: The kind of picture.
  ///   - paths: The paths of the device, for ``PictureKind/path``.
  public init(
    of report: Report, run: Int, tracks: [Int], kind: PictureKind, paths: PicturePaths? = nil
  ) {
    self.run = report.runs[run]
    subjects = tracks.map { index in
      let track = report.runs[run].tracks[index]
      return Subject(
        track: track, colour: Ink.peer(index), curves: track.moments.brokenAtGaps())
    }
    recording = report.recordings[report.runs[run].recording]
    self.paths = paths
    self.kind = kind
  }

  /// The picture's title.
  public var title: String {
    let run = "\(recording.name), \(run.name)"
    guard kind.isOfPeers else { return "\(run): path" }
    let names = subjects.map(\.track.peer)
    return "\(run): "
      + (names.count > Self.mostNames ? "\(names.count) peers" : names.joined(separator: ", "))
  }

  /// The largest number of names in a title.
  private static let mostNames = 5

  /// The picture.
  public var svg: OutputText {
    var svg = SVGText(width: Self.width, height: Self.height, title: title)
    svg.element("rect", ["width": "100%", "height": "100%", "fill": Ink.paper])
    svg.element(
      "text",
      ["x": "72", "y": "28", "fill": Ink.text, "font-size": "16", "font-weight": "bold"],
      content: title)
    switch kind {
    case .map: drawMap(in: &svg)
    case .distance: draw(.distance, in: &svg)
    case .angle: draw(.angle, in: &svg)
    case .nis: drawInnovations(in: &svg)
    case .timeline: drawTimeline(in: &svg)
    case .path: drawPaths(in: &svg)
    }
    svg.end()
    return svg.text
  }

  /// The axis of time, which all pictures but the map share.
  var timeAxis: ChartAxis { ChartAxis("time (s)", 0...max(recording.duration, 1e-3)) }

  /// The names of the peers, where there are several; else nothing, since the title has the name.
  var legendOfPeers: [Chart.Entry] {
    guard subjects.count > 1 else { return [] }
    return subjects.map { Chart.Entry(mark: .line, colour: $0.colour, text: $0.track.peer) }
  }

  /// The colour of what is explained for all peers.
  var sharedColour: String { subjects.count == 1 ? subjects[0].colour : Ink.soft }

  /// A frame from margin to margin.
  static func frame(top: Double, height: Double, left: Double = 72) -> Chart.Frame {
    Chart.Frame(left: left, top: top, width: width - left - 24, height: height)
  }
}
