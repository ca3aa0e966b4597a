// SPDX-License-Identifier: Apache-2.0

extension Picture {
  /// One of the two views of the map.
  private struct View {
    var title: String
    /// Whether the view is from above, with y on the vertical axis, or from the side, with z on it.
    var isAbove: Bool
    var frame: Chart.Frame
  }

  /// Draws the paths and, for the last moment with an estimate, its ellipses.
  func drawMap(in svg: inout SVGText) {
    let above = Chart.Frame(left: 72, top: 84, width: 520, height: 420)
    let side = Chart.Frame(left: 680, top: 84, width: 296, height: 420)
    draw(View(title: "from above", isAbove: true, frame: above), in: &svg)
    draw(View(title: "from the side", isAbove: false, frame: side), in: &svg)
  }

  private func draw(_ view: View, in svg: inout SVGText) {
    let (m, device) = (track.moments, recording.device)
    let ahead = view.isAbove ? m[.y] : m[.z]
    let trueAhead = view.isAbove ? m[.trueY] : m[.trueZ]
    let deviceAhead = view.isAbove ? device[.y] : device[.z]
    let last = m[.x].lastIndex { $0.isFinite }
    let isSettled = { (row: Int) in m[.status][row].isNaN || m[.status][row] == 2 }
    // Only settled estimates set the bounds, since wide early estimates would shrink everything
    // else.
    let bounding = m[.x].indices.filter { isSettled($0) || $0 == last }
    let axes = Self.equalAxes(
      device[.x] + m[.trueX] + bounding.map { m[.x][$0] },
      deviceAhead + trueAhead + bounding.map { ahead[$0] }, in: view.frame,
      titles: (recording.axes[0] + " (m)", recording.axes[view.isAbove ? 1 : 2] + " (m)"))
    let chart = Chart(view.isAbove ? "above" : "side", frame: view.frame, x: axes.x, y: axes.y)
    var legend = [Chart.Entry(mark: .line, colour: Ink.soft, text: "device")]
    legend.append(Chart.Entry(mark: .points, colour: Ink.estimate, text: "estimates"))
    let hasTruth = trueAhead.contains { $0.isFinite }
    if hasTruth { legend.append(Chart.Entry(mark: .star, colour: Ink.text, text: "truth")) }
    if !view.isAbove { legend = [] }

    chart.draw(in: &svg, title: view.title, legend: legend) { svg in
      chart.line(device[.x], deviceAhead, colour: Ink.soft, width: 1.2, in: &svg)
      for settled in [false, true] {
        let rows = m[.x].indices.filter { isSettled($0) == settled }
        chart.points(
          rows.map { m[.x][$0] }, rows.map { ahead[$0] }, colour: Ink.estimate,
          opacity: settled ? 0.6 : 0.2, in: &svg)
      }
      chart.line(m[.trueX], trueAhead, colour: Ink.text, width: 1, dashes: "2 3", in: &svg)
      if let last {
        let ellipse = CovarianceEllipse(of: m, row: last, isAbove: view.isAbove)
        for (sigmas, opacity, dashes) in [(3.4, 0.05, "2 3"), (1, 0.2, "none")] {
          chart.ellipse(
            ellipse, sigmas: sigmas, atX: m[.x][last], y: ahead[last], colour: Ink.estimate,
            opacity: opacity, dashes: dashes, in: &svg)
        }
        chart.points(
          [m[.x][last]], [ahead[last]], colour: Ink.estimate, radius: 4, opacity: 1, in: &svg)
        chart.note(track.peer, atX: m[.x][last], y: ahead[last], in: &svg)
      }
      if let known = trueAhead.lastIndex(where: { $0.isFinite }) {
        chart.star(atX: m[.trueX][known], y: trueAhead[known], in: &svg)
      }
      if let x = device[.x].last, let y = deviceAhead.last {
        chart.points([x], [y], colour: Ink.text, radius: 4, opacity: 1, in: &svg)
      }
    }
  }

  /// Axes that hold all points and have the same scale.
  private static func equalAxes(
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
