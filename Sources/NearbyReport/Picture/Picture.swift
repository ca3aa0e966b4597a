// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// The kinds of pictures of one peer in one run.
public enum PictureKind: String, Sendable, CaseIterable {
  /// The positions of device and peer, from above and from the side.
  case map
  /// The distance, and its error where the truth is known.
  case distance
  /// The horizontal angle, and its error where the truth is known.
  case angle
  /// The normalised innovations squared, and their expected band.
  case nis
  /// Status and reasons.
  case timeline
}

/// A still picture of one peer in one run, as SVG.
///
/// It is for use without a browser; ``ReportPage`` shows more.
public struct Picture: Sendable {
  static let width = 1000.0
  static let height = 560.0

  let recording: ReportRecording
  let run: ReportRun
  let track: ReportTrack
  /// The moments with an empty row in each gap.
  let curves: ReportTable<MomentColumn>
  private let kind: PictureKind

  /// Makes a picture.
  ///
  /// - Parameters:
  ///   - report: The report that holds the run.
  ///   - run: The run's index in the report.
  ///   - track: The peer's index in the run.
  ///   - kind: The kind of picture.
  public init(of report: Report, run: Int, track: Int, kind: PictureKind) {
    self.run = report.runs[run]
    self.track = report.runs[run].tracks[track]
    curves = self.track.moments.brokenAtGaps()
    recording = report.recordings[report.runs[run].recording]
    self.kind = kind
  }

  /// The picture's title.
  public var title: String { "\(recording.name), \(run.name): \(track.peer)" }

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
    }
    svg.end()
    return svg.text
  }

  /// The axis of time, which all pictures but the map share.
  var timeAxis: ChartAxis { ChartAxis("time (s)", 0...max(recording.duration, 1e-3)) }

  /// A frame from margin to margin.
  static func frame(top: Double, height: Double, left: Double = 72) -> Chart.Frame {
    Chart.Frame(left: left, top: top, width: width - left - 24, height: height)
  }
}
