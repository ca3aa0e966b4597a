// SPDX-License-Identifier: Apache-2.0

extension Picture {
  /// One of the two views of the map.
  private struct View {
    var title: String
    /// Whether the view is from above, with y on the vertical axis, or from the side, with z on it.
    var isAbove: Bool
    var frame: Chart.Frame

    var ahead: MomentColumn { isAbove ? .y : .z }
    var trueAhead: MomentColumn { isAbove ? .trueY : .trueZ }
  }

  /// Draws the device's path and, for the last moment of each peer with an estimate, its ellipses.
  func drawMap(in svg: inout SVGText) {
    let above = Chart.Frame(left: 72, top: 84, width: 520, height: 420)
    let side = Chart.Frame(left: 680, top: 84, width: 296, height: 420)
    draw(View(title: "from above", isAbove: true, frame: above), in: &svg)
    draw(View(title: "from the side", isAbove: false, frame: side), in: &svg)
  }

  private func draw(_ view: View, in svg: inout SVGText) {
    // Estimates are beside the corrected path, where there is one.
    let (device, corrected) = (recording.device, run.correctedPath)
    let isCorrected = corrected.count > 0
    let deviceX = isCorrected ? corrected[.x] : device[.x]
    let deviceAhead =
      view.isAbove
      ? (isCorrected ? corrected[.y] : device[.y]) : (isCorrected ? corrected[.z] : device[.z])
    var (xs, ys) = (deviceX, deviceAhead)
    for subject in subjects {
      let m = subject.track.moments
      let last = m[.x].lastIndex { $0.isFinite }
      // Only settled estimates set the bounds, since wide early estimates would shrink everything
      // else.
      let bounding = m[.x].indices.filter { Self.isSettled(m, $0) || $0 == last }
      xs += m[.trueX] + bounding.map { m[.x][$0] }
      ys += m[view.trueAhead] + bounding.map { m[view.ahead][$0] }
    }
    let axes = Self.equalAxes(
      xs, ys, in: view.frame,
      titles: (recording.axes[0] + " (m)", recording.axes[view.isAbove ? 1 : 2] + " (m)"))
    let chart = Chart(view.isAbove ? "above" : "side", frame: view.frame, x: axes.x, y: axes.y)
    let hasTruth = subjects.contains {
      $0.track.moments[view.trueAhead].contains(where: \.isFinite)
    }
    var legend = [Chart.Entry(mark: .line, colour: Ink.soft, text: "device")]
    // With several peers the names on the map tell the colours.
    legend.append(
      Chart.Entry(
        mark: .points, colour: subjects.count == 1 ? subjects[0].colour : Ink.text,
        text: "estimates"))
    if hasTruth { legend.append(Chart.Entry(mark: .star, colour: Ink.text, text: "truth")) }

    chart.draw(in: &svg, title: view.title, legend: view.isAbove ? legend : []) { svg in
      chart.line(deviceX, deviceAhead, colour: Ink.soft, width: 1.2, in: &svg)
      // Names come last, so that nothing is drawn over them.
      for subject in subjects { draw(subject, view, chart, in: &svg) }
      for subject in subjects { note(subject, view, chart, in: &svg) }
    }
  }

  private static func isSettled(_ m: ReportTable<MomentColumn>, _ row: Int) -> Bool {
    m[.status][row].isNaN || m[.status][row] == 2
  }

  private func draw(
    _ subject: Subject, _ view: View, _ chart: Chart, in svg: inout SVGText
  ) {
    let m = subject.track.moments
    let (ahead, trueAhead) = (m[view.ahead], m[view.trueAhead])
    for settled in [false, true] {
      let rows = m[.x].indices.filter { Self.isSettled(m, $0) == settled }
      chart.points(
        rows.map { m[.x][$0] }, rows.map { ahead[$0] }, colour: subject.colour,
        opacity: settled ? 0.6 : 0.2, in: &svg)
    }
    chart.line(m[.trueX], trueAhead, colour: Ink.text, width: 1, dashes: "2 3", in: &svg)
    if let last = m[.x].lastIndex(where: { $0.isFinite }) {
      let ellipse = CovarianceEllipse(of: m, row: last, isAbove: view.isAbove)
      for (sigmas, opacity, dashes) in [(3.4, 0.05, "2 3"), (1, 0.2, "none")] {
        chart.ellipse(
          ellipse, sigmas: sigmas, atX: m[.x][last], y: ahead[last], colour: subject.colour,
          opacity: opacity, dashes: dashes, in: &svg)
      }
      chart.points(
        [m[.x][last]], [ahead[last]], colour: subject.colour, radius: 4, opacity: 1, in: &svg)
    }
    if let known = trueAhead.lastIndex(where: { $0.isFinite }) {
      chart.star(atX: m[.trueX][known], y: trueAhead[known], in: &svg)
    }
  }

  private func note(
    _ subject: Subject, _ view: View, _ chart: Chart, in svg: inout SVGText
  ) {
    let m = subject.track.moments
    guard let last = m[.x].lastIndex(where: { $0.isFinite }) else { return }
    chart.note(
      subject.track.peer, atX: m[.x][last], y: m[view.ahead][last],
      colour: subjects.count == 1 ? Ink.text : subject.colour, in: &svg)
  }

  /// Axes that hold all points and have the same scale.
  static func equalAxes(
    _ xs: [Double], _ ys: [Double], in frame: Chart.Frame, titles: (String, String)
  ) -> (x: ChartAxis, y: ChartAxis) {
    let (x, y) = (ChartAxis.range(of: xs, room: 0.08), ChartAxis.range(of: ys, room: 0.08))
    let perPixel = max(
      (x.upperBound - x.lowerBound) / frame.width, (y.upperBound - y.lowerBound) / frame.height,
      // The map shows at least four metres, also for a device at rest next to its peer.
      4 / frame.width)
    func widened(_ range: ClosedRange<Double>, _ pixels: Double) -> ClosedRange<Double> {
      let middle = (range.lowerBound + range.upperBound) / 2
      return middle - perPixel * pixels / 2...middle + perPixel * pixels / 2
    }
    return (
      ChartAxis(titles.0, widened(x, frame.width)), ChartAxis(titles.1, widened(y, frame.height))
    )
  }
}

extension CovarianceEllipse {
  /// The ellipse in a row of a table.
  init(of moments: ReportTable<MomentColumn>, row: Int, isAbove: Bool) {
    major = moments[isAbove ? .aboveMajor : .sideMajor][row]
    minor = moments[isAbove ? .aboveMinor : .sideMinor][row]
    angleRadians = moments[isAbove ? .aboveAngle : .sideAngle][row] * .pi / 180
  }
}
