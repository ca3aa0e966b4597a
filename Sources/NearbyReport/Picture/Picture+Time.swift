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
    let columns = quantity.columns
    let measured: MomentColumn? = quantity == .distance ? .measuredDistance : nil
    var values: [Double] = []
    var hasTruth = false
    for m in subjects.map(\.curves) {
      values += m[columns.value] + m[columns.truth] + (measured.map { m[$0] } ?? [])
      hasTruth = hasTruth || m[columns.truth].contains(where: \.isFinite)
    }
    let chart = Chart(
      "value", frame: Self.frame(top: 76, height: hasTruth ? 225 : 425), x: timeAxis,
      y: ChartAxis(quantity.title, ChartAxis.range(of: values)))
    var legend = legendOfPeers
    if legend.isEmpty {
      legend.append(Chart.Entry(mark: .line, colour: sharedColour, text: "published"))
    }
    legend.append(Chart.Entry(mark: .band, colour: sharedColour, text: "1 σ"))
    if measured != nil {
      legend.append(Chart.Entry(mark: .points, colour: Ink.soft, text: "measured"))
    }
    if hasTruth { legend.append(Chart.Entry(mark: .dashes, colour: Ink.text, text: "truth")) }
    chart.draw(in: &svg, title: quantity.name, legend: legend) { svg in
      for subject in subjects { draw(quantity, of: subject, measured, chart, in: &svg) }
    }
    if hasTruth { drawError(of: quantity, in: &svg) }
  }

  private func draw(
    _ quantity: Quantity, of subject: Subject, _ measured: MomentColumn?, _ chart: Chart,
    in svg: inout SVGText
  ) {
    let (m, columns) = (subject.curves, quantity.columns)
    let (time, value, sigma) = (m[.time], m[columns.value], m[columns.sigma])
    if let measured {
      // The measurements of several peers would be taken for one another.
      chart.points(
        time, m[measured], colour: subjects.count == 1 ? Ink.soft : subject.colour, radius: 1.2,
        opacity: subjects.count == 1 ? 0.5 : 0.3, in: &svg)
    }
    chart.band(
      time, from: Self.zip(value, sigma, -), to: Self.zip(value, sigma, +), colour: subject.colour,
      in: &svg)
    chart.line(
      time, m[columns.truth], colour: Ink.text, width: 1.3, dashes: "6 4",
      breakingAt: quantity.jump, in: &svg)
    chart.line(time, value, colour: subject.colour, breakingAt: quantity.jump, in: &svg)
  }

  private func drawError(of quantity: Quantity, in svg: inout SVGText) {
    let columns = quantity.columns
    let curves = subjects.map { subject -> (error: [Double], sigma: [Double]) in
      let m = subject.curves
      let error = Self.zip(m[columns.value], m[columns.truth], quantity.difference)
      return (error, Self.zip(m[columns.sigma], error) { $1.isFinite ? $0 : .nan })
    }
    func times(_ factor: Double, _ sigma: [Double]) -> [Double] { sigma.map { factor * $0 } }
    let chart = Chart(
      "error", frame: Self.frame(top: 366, height: 135), x: timeAxis,
      y: ChartAxis(
        quantity.errorTitle,
        ChartAxis.range(
          of: curves.flatMap { $0.error + times(3, $0.sigma) + times(-3, $0.sigma) })))
    chart.draw(
      in: &svg, title: "published minus true",
      legend: [
        Chart.Entry(mark: .band, colour: sharedColour, text: "1 σ"),
        Chart.Entry(mark: .dots, colour: sharedColour, text: "3 σ"),
      ]
    ) { svg in
      for (subject, curve) in Swift.zip(subjects, curves) {
        let time = subject.curves[.time]
        chart.band(
          time, from: times(-1, curve.sigma), to: times(1, curve.sigma), colour: subject.colour,
          in: &svg)
        for factor in [-3.0, 3] {
          chart.line(
            time, times(factor, curve.sigma), colour: subject.colour, width: 1, dashes: "1.5 3",
            in: &svg)
        }
      }
      chart.line([0, recording.duration], [0, 0], colour: Ink.soft, width: 1, in: &svg)
      for (subject, curve) in Swift.zip(subjects, curves) {
        chart.line(subject.curves[.time], curve.error, colour: subject.colour, in: &svg)
      }
    }
  }

  /// Draws NIS on a logarithmic axis; smaller values are drawn at its lower end.
  func drawInnovations(in svg: inout SVGText) {
    let foot = 0.01
    let all = subjects.flatMap { $0.curves[.nis] }.filter(\.isFinite)
    let top = max(20, all.max() ?? 0) * 1.5
    let chart = Chart(
      "nis", frame: Self.frame(top: 76, height: 425), x: timeAxis,
      y: ChartAxis("NIS / n", foot / 1.3...top, scale: .logarithmic))
    // The band is that of the usual number of components, where it is the same for all.
    let counts = Set(subjects.map(\.track.facts.components))
    let components = counts.count == 1 ? subjects.first?.track.facts.components ?? 0 : 0
    var legend = legendOfPeers
    if legend.isEmpty {
      legend.append(Chart.Entry(mark: .points, colour: sharedColour, text: "sample"))
    }
    if components > 0 {
      legend.append(
        Chart.Entry(
          mark: .band, colour: Ink.soft, text: "95 % of samples, n = \(components)"))
    }
    legend.append(
      Chart.Entry(
        mark: .line, colour: sharedColour, text: "mean of \(MovingChiSquare.window), 95 %"))
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
      for subject in subjects { drawInnovations(of: subject, from: foot, chart, in: &svg) }
    }
  }

  private func drawInnovations(
    of subject: Subject, from foot: Double, _ chart: Chart, in svg: inout SVGText
  ) {
    let m = subject.curves
    chart.points(
      m[.time], m[.nis].map { $0.isNaN ? $0 : max($0, foot) }, colour: subject.colour,
      opacity: 0.45, in: &svg)
    // Rows without NIS are left out, because they would interrupt every curve.
    let rows = m[.nisMean].indices.filter { m[.nisMean][$0].isFinite }
    let time = rows.map { m[.time][$0] }
    chart.band(
      time, from: rows.map { m[.nisLow][$0] }, to: rows.map { m[.nisHigh][$0] },
      colour: subject.colour, opacity: subjects.count == 1 ? 0.25 : 0.1, in: &svg)
    chart.line(time, rows.map { m[.nisMean][$0] }, colour: subject.colour, width: 2.2, in: &svg)
  }

  /// A lane of the timeline: when something holds.
  private struct Lane {
    var label: String
    var colour: String
    var opacity: Double
    var timeline: ReportTable<TimelineColumn>
    var isOn: (Int) -> Bool
  }

  /// Draws a lane for each status and for each reason that occurred, peer by peer.
  func drawTimeline(in svg: inout SVGText) {
    let lanes = subjects.flatMap(lanes)
    let chart = Chart(
      "timeline", frame: Self.frame(top: 76, height: 425, left: 210), x: timeAxis,
      y: ChartAxis(
        "", 0.5 - Double(lanes.count)...0.5,
        marks: lanes.enumerated().map { .init(value: -Double($0), label: $1.label) }))
    chart.draw(in: &svg, title: "status and reasons", legend: legendOfPeers) { svg in
      for (place, lane) in lanes.enumerated() {
        let times = lane.timeline[.time]
        for stretch in Self.stretches(of: times.count, where: lane.isOn) {
          let end =
            stretch.upperBound < times.count ? times[stretch.upperBound] : recording.duration
          chart.band(
            [times[stretch.lowerBound], end],
            from: [-Double(place) - 0.28, -Double(place) - 0.28],
            to: [-Double(place) + 0.28, -Double(place) + 0.28], colour: lane.colour,
            opacity: lane.opacity, in: &svg)
        }
      }
    }
  }

  private func lanes(of subject: Subject) -> [Lane] {
    let timeline = subject.track.timeline
    let status = timeline[.status]
    let reasons = timeline[.reasons].map { UInt8($0) }
    func lane(_ label: String, _ opacity: Double, _ isOn: @escaping (Int) -> Bool) -> Lane {
      Lane(
        label: label, colour: subject.colour, opacity: opacity, timeline: timeline, isOn: isOn)
    }
    var lanes = [
      lane("converged", 1) { status[$0] == 2 }, lane("not converged", 0.7) { status[$0] != 2 },
    ]
    for (bit, name) in Report.reasonNames.enumerated()
    where reasons.contains(where: { $0 & 1 << bit != 0 }) {
      lanes.append(lane(name, 0.45) { reasons[$0] & 1 << bit != 0 })
    }
    return lanes
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
