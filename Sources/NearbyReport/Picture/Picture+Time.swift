// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation

extension Picture {
  /// A published quantity.
  enum Quantity {
    case distance, angle

    fileprivate var columns: (value: MomentColumn, sigma: MomentColumn, truth: MomentColumn) {
      switch self {
      case .distance: (.distance, .distanceSigma, .trueDistance)
      case .angle: (.angle, .angleSigma, .trueAngle)
      }
    }

    fileprivate var name: String { self == .distance ? "distance" : "horizontal angle" }
    fileprivate var title: String { self == .distance ? "distance (m)" : "horizontal angle (°)" }
    fileprivate var errorTitle: String { self == .distance ? "error (m)" : "error (°)" }
    /// A larger step is a wrap of the angle.
    fileprivate var jump: Double { self == .distance ? .infinity : 180 }

    fileprivate func difference(_ a: Double, _ b: Double) -> Double {
      guard self == .angle, (a - b).isFinite else { return a - b }
      return (a - b).remainder(dividingBy: 360)
    }
  }

  /// Draws a quantity with its band and, below, its error.
  func draw(_ quantity: Quantity, in svg: inout SVGText) {
    let m = curves
    let (time, value, sigma) = (m[.time], m[quantity.columns.value], m[quantity.columns.sigma])
    let truth = m[quantity.columns.truth]
    let hasTruth = truth.contains { $0.isFinite }
    let measured = quantity == .distance ? m[.measuredDistance] : []
    let chart = Chart(
      "value", frame: Self.frame(top: 76, height: hasTruth ? 225 : 425), x: timeAxis,
      y: ChartAxis(quantity.title, ChartAxis.range(of: value + truth + measured)))
    var legend = [Chart.Entry(mark: .line, colour: Ink.estimate, text: "published")]
    legend.append(Chart.Entry(mark: .band, colour: Ink.estimate, text: "1 σ"))
    if !measured.isEmpty {
      legend.append(Chart.Entry(mark: .points, colour: Ink.soft, text: "measured"))
    }
    if hasTruth { legend.append(Chart.Entry(mark: .dashes, colour: Ink.text, text: "truth")) }
    chart.draw(in: &svg, title: quantity.name, legend: legend) { svg in
      if !measured.isEmpty {
        chart.points(time, measured, colour: Ink.soft, radius: 1.2, opacity: 0.5, in: &svg)
      }
      chart.band(
        time, from: Self.zip(value, sigma, -), to: Self.zip(value, sigma, +), colour: Ink.estimate,
        in: &svg)
      chart.line(
        time, truth, colour: Ink.text, width: 1.3, dashes: "6 4", breakingAt: quantity.jump,
        in: &svg)
      chart.line(time, value, colour: Ink.estimate, breakingAt: quantity.jump, in: &svg)
    }
    if hasTruth { drawError(of: quantity, in: &svg) }
  }

  private func drawError(of quantity: Quantity, in svg: inout SVGText) {
    let m = curves
    let error = Self.zip(
      m[quantity.columns.value], m[quantity.columns.truth], quantity.difference)
    let sigma = Self.zip(m[quantity.columns.sigma], error) { $1.isFinite ? $0 : .nan }
    func times(_ factor: Double) -> [Double] { sigma.map { factor * $0 } }
    let chart = Chart(
      "error", frame: Self.frame(top: 366, height: 135), x: timeAxis,
      y: ChartAxis(
        quantity.errorTitle, ChartAxis.range(of: error + times(3) + times(-3))))
    chart.draw(
      in: &svg, title: "published minus true",
      legend: [
        Chart.Entry(mark: .band, colour: Ink.estimate, text: "1 σ"),
        Chart.Entry(mark: .dots, colour: Ink.estimate, text: "3 σ"),
      ]
    ) { svg in
      chart.band(m[.time], from: times(-1), to: times(1), colour: Ink.estimate, in: &svg)
      for factor in [-3.0, 3] {
        chart.line(
          m[.time], times(factor), colour: Ink.estimate, width: 1, dashes: "1.5 3", in: &svg)
      }
      chart.line([0, recording.duration], [0, 0], colour: Ink.soft, width: 1, in: &svg)
      chart.line(m[.time], error, colour: Ink.estimate, in: &svg)
    }
  }

  /// Draws NIS on a logarithmic axis; smaller values are drawn at its lower end.
  func drawInnovations(in svg: inout SVGText) {
    let m = curves
    let foot = 0.01
    let values = m[.nis].map { $0.isNaN ? $0 : max($0, foot) }
    let top = max(20, m[.nis].filter(\.isFinite).max() ?? 0) * 1.5
    let chart = Chart(
      "nis", frame: Self.frame(top: 76, height: 425), x: timeAxis,
      y: ChartAxis("NIS / n", foot / 1.3...top, scale: .logarithmic))
    let components = track.facts.components
    let legend = [
      Chart.Entry(mark: .points, colour: Ink.estimate, text: "sample"),
      Chart.Entry(mark: .band, colour: Ink.soft, text: "95 % of samples, n = \(components)"),
      Chart.Entry(
        mark: .line, colour: Ink.estimate, text: "mean of \(MovingChiSquare.window), 95 %"),
    ]
    chart.draw(in: &svg, title: "normalised innovation squared", legend: legend) { svg in
      if components > 0 {
        let band = ChiSquare(degreesOfFreedom: components).meanBand(count: 1, probability: 0.95)
        let n = Double(components)
        chart.band(
          [0, recording.duration],
          from: [band.lowerBound / n, band.lowerBound / n].map { max($0, foot) },
          to: [band.upperBound / n, band.upperBound / n], colour: Ink.soft, opacity: 0.13, in: &svg)
      }
      chart.line([0, recording.duration], [1, 1], colour: Ink.soft, width: 1, in: &svg)
      chart.points(m[.time], values, colour: Ink.estimate, opacity: 0.45, in: &svg)
      // Rows without NIS are left out, because they would interrupt every curve.
      let rows = m[.nisMean].indices.filter { m[.nisMean][$0].isFinite }
      let time = rows.map { m[.time][$0] }
      chart.band(
        time, from: rows.map { m[.nisLow][$0] }, to: rows.map { m[.nisHigh][$0] },
        colour: Ink.estimate, opacity: 0.25, in: &svg)
      chart.line(time, rows.map { m[.nisMean][$0] }, colour: Ink.estimate, width: 2.2, in: &svg)
    }
  }

  /// Draws a lane for each status and for each reason that occurred.
  func drawTimeline(in svg: inout SVGText) {
    let timeline = track.timeline
    let status = timeline[.status]
    let reasons = timeline[.reasons].map { UInt8($0) }
    var lanes: [(label: String, opacity: Double, isOn: (Int) -> Bool)] = [
      ("converged", 1, { status[$0] == 2 }), ("not converged", 0.7, { status[$0] != 2 }),
    ]
    for (bit, name) in Report.reasonNames.enumerated()
    where reasons.contains(where: { $0 & 1 << bit != 0 }) {
      lanes.append((name, 0.45, { reasons[$0] & 1 << bit != 0 }))
    }
    let chart = Chart(
      "timeline", frame: Self.frame(top: 76, height: 425, left: 210), x: timeAxis,
      y: ChartAxis(
        "", 0.5 - Double(lanes.count)...0.5,
        marks: lanes.enumerated().map { .init(value: -Double($0), label: $1.label) }))
    chart.draw(in: &svg, title: "status and reasons", legend: []) { svg in
      for (place, lane) in lanes.enumerated() {
        for stretch in Self.stretches(of: status.count, where: lane.isOn) {
          let end =
            stretch.upperBound < status.count
            ? timeline[.time][stretch.upperBound] : recording.duration
          chart.band(
            [timeline[.time][stretch.lowerBound], end],
            from: [-Double(place) - 0.28, -Double(place) - 0.28],
            to: [-Double(place) + 0.28, -Double(place) + 0.28], colour: Ink.estimate,
            opacity: lane.opacity, in: &svg)
        }
      }
    }
  }

  /// The maximal ranges of rows in which a condition holds.
  private static func stretches(of count: Int, where isOn: (Int) -> Bool) -> [Range<Int>] {
    var stretches: [Range<Int>] = []
    for row in 0..<count where isOn(row) {
      if let last = stretches.last, last.upperBound == row {
        stretches[stretches.count - 1] = last.lowerBound..<row + 1
      } else {
        stretches.append(row..<row + 1)
      }
    }
    return stretches
  }

  private static func zip(
    _ a: [Double], _ b: [Double], _ combine: (Double, Double) -> Double
  ) -> [Double] {
    a.indices.map { combine(a[$0], b[$0]) }
  }
}
