// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A chart in a rectangle of a picture: two axes, and the curves between them.
///
/// Curves are given as columns and are interrupted where a number is missing.
struct Chart {
  /// A rectangle, in pixels from the picture's upper left corner.
  struct Frame {
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// An entry of the legend.
  struct Entry {
    enum Mark { case line, dashes, dots, points, band, star, nothing }
    var mark: Mark
    var colour: String
    var text: String
  }

  typealias Point = (x: Double, y: Double)

  /// The rectangle of the curves; axes and titles are outside it.
  let frame: Frame
  let x: ChartAxis
  let y: ChartAxis
  private let name: String

  init(_ name: String, frame: Frame, x: ChartAxis, y: ChartAxis) {
    self.name = name
    self.frame = frame
    self.x = x
    self.y = y
  }

  /// The position of a pair of numbers in the picture, clamped far outside it, since renderers fail
  /// for huge coordinates.
  private func place(_ valueX: Double, _ valueY: Double) -> Point {
    let (a, b) = (x.share(of: valueX), y.share(of: valueY))
    return (
      frame.left + frame.width * min(max(a, -9), 10),
      frame.top + frame.height * (1 - min(max(b, -9), 10))
    )
  }

  // MARK: The chart itself

  /// Draws title, grid and axes, then what the function draws, clipped to the frame.
  func draw(
    in svg: inout SVGText, title: String, legend: [Entry], _ body: (inout SVGText) -> Void
  ) {
    let number = SVGText.number
    let bottom = frame.top + frame.height
    svg.element(
      "text",
      [
        "x": number(frame.left), "y": number(frame.top - 12), "fill": Ink.text,
        "font-weight": "bold", "font-size": "13",
      ], content: title)
    draw(fitting(legend, beside: title), in: &svg)
    for tick in x.ticks(about: Int(frame.width / 90)) where isShown(tick, on: x) {
      let at = place(tick.value, y.range.lowerBound).x
      grid(from: (at, frame.top), to: (at, bottom), in: &svg)
      label(tick.label, at: (at, bottom + 17), anchor: "middle", in: &svg)
    }
    for tick in y.ticks(about: max(4, Int(frame.height / 45))) where isShown(tick, on: y) {
      let at = place(x.range.lowerBound, tick.value).y
      grid(from: (frame.left, at), to: (frame.left + frame.width, at), in: &svg)
      label(tick.label, at: (frame.left - 8, at + 4), anchor: "end", in: &svg)
    }
    label(
      x.title, at: (frame.left + frame.width / 2, bottom + 35), anchor: "middle", in: &svg)
    let middle = (x: frame.left - 46, y: frame.top + frame.height / 2)
    svg.element(
      "text",
      [
        "transform": "translate(\(number(middle.x)) \(number(middle.y))) rotate(-90)",
        "text-anchor": "middle", "fill": Ink.soft,
      ], content: y.title)
    svg.group(["clip-path": svg.clip(name, frame)], body)
    svg.element(
      "rect",
      [
        "x": number(frame.left), "y": number(frame.top), "width": number(frame.width),
        "height": number(frame.height), "fill": "none", "stroke": Ink.rule,
      ])
  }

  private func isShown(_ tick: ChartAxis.Tick, on axis: ChartAxis) -> Bool {
    (-1e-9...1 + 1e-9).contains(axis.share(of: tick.value))
  }

  private func grid(from start: Point, to end: Point, in svg: inout SVGText) {
    svg.path([[start, end]], ["stroke": Ink.grid, "fill": "none"])
  }

  private func label(_ text: String, at point: Point, anchor: String, in svg: inout SVGText) {
    svg.element(
      "text",
      [
        "x": SVGText.number(point.x), "y": SVGText.number(point.y), "text-anchor": anchor,
        "fill": Ink.soft,
      ], content: text)
  }

  /// The entries that fit beside the title, and how many there are more.
  private func fitting(_ legend: [Entry], beside title: String) -> [Entry] {
    let room = frame.width - Self.width(ofText: title)
    var used = legend.reduce(0) { $0 + Self.width(of: $1) }
    var shown = legend
    while used > room, let last = shown.popLast() { used -= Self.width(of: last) }
    guard shown.count < legend.count else { return legend }
    if shown.count > 1 { shown.removeLast() }
    shown.append(
      Entry(mark: .nothing, colour: Ink.soft, text: "\(legend.count - shown.count) more"))
    return shown
  }

  // Widths of text are estimated, since text cannot be measured here.
  private static func width(of entry: Entry) -> Double { 40 + 6.4 * Double(entry.text.count) }
  private static func width(ofText title: String) -> Double { 7.5 * Double(title.count) }

  /// Draws the legend right above the frame.
  private func draw(_ legend: [Entry], in svg: inout SVGText) {
    let widths = legend.map(Self.width)
    var left = frame.left + frame.width - widths.reduce(0, +)
    let at = frame.top - 16
    for (entry, width) in zip(legend, widths) {
      let stroke: KeyValuePairs<String, String>
      switch entry.mark {
      case .line: stroke = ["stroke": entry.colour, "stroke-width": "2"]
      case .dashes:
        stroke = ["stroke": entry.colour, "stroke-width": "1.5", "stroke-dasharray": "6 4"]
      case .dots:
        stroke = ["stroke": entry.colour, "stroke-width": "1.5", "stroke-dasharray": "1.5 3"]
      case .band:
        stroke = ["stroke": entry.colour, "stroke-width": "9", "stroke-opacity": "0.22"]
      case .points, .star, .nothing: stroke = [:]
      }
      switch entry.mark {
      case .points:
        svg.element(
          "circle",
          [
            "cx": SVGText.number(left + 18), "cy": SVGText.number(at), "r": "3",
            "fill": entry.colour,
          ])
      case .star: star(at: (left + 17, at), in: &svg)
      case .nothing: break
      default: svg.path([[(left + 4, at), (left + 24, at)]], stroke)
      }
      label(entry.text, at: (left + 29, at + 4), anchor: "start", in: &svg)
      left += width
    }
  }

  // MARK: Curves

  /// Draws a line.
  func line(
    _ xs: [Double], _ ys: [Double], colour: String, width: Double = 1.8, dashes: String = "none",
    breakingAt jump: Double = .infinity, in svg: inout SVGText
  ) {
    var pieces: [[Point]] = [[]]
    var last: Double?
    for (a, b) in zip(xs, ys) {
      guard a.isFinite, b.isFinite else {
        if pieces.last?.isEmpty == false { pieces.append([]) }
        last = nil
        continue
      }
      if let last, abs(b - last) > jump { pieces.append([]) }
      pieces[pieces.count - 1].append(place(a, b))
      last = b
    }
    svg.path(
      pieces,
      [
        "fill": "none", "stroke": colour, "stroke-width": SVGText.number(width),
        "stroke-dasharray": dashes, "stroke-linejoin": "round",
      ])
  }

  /// Fills the area between two curves.
  func band(
    _ xs: [Double], from low: [Double], to high: [Double], colour: String, opacity: Double = 0.2,
    in svg: inout SVGText
  ) {
    var pieces: [[Point]] = []
    var (upper, lower): ([Point], [Point]) = ([], [])
    func close() {
      if !upper.isEmpty { pieces.append(upper + lower.reversed()) }
      (upper, lower) = ([], [])
    }
    for index in xs.indices {
      guard low[index].isFinite, high[index].isFinite else {
        close()
        continue
      }
      upper.append(place(xs[index], high[index]))
      lower.append(place(xs[index], low[index]))
    }
    close()
    svg.path(pieces, closed: true, ["fill": colour, "fill-opacity": "\(opacity)"])
  }

  /// Draws a point for each pair.
  func points(
    _ xs: [Double], _ ys: [Double], colour: String, radius: Double = 1.6, opacity: Double = 0.6,
    in svg: inout SVGText
  ) {
    // Performance: one path of zero-length strokes with round caps takes a tenth of the bytes of
    // circles.
    let pieces = zip(xs, ys).filter { $0.isFinite && $1.isFinite }.map { pair -> [Point] in
      let point = place(pair.0, pair.1)
      return [point, point]
    }
    svg.path(
      pieces,
      [
        "fill": "none", "stroke": colour, "stroke-width": SVGText.number(2 * radius),
        "stroke-linecap": "round", "stroke-opacity": "\(opacity)",
      ])
  }

  /// Draws an ellipse of some sigmas.
  func ellipse(
    _ ellipse: CovarianceEllipse, sigmas: Double, atX x: Double, y: Double, colour: String,
    opacity: Double, dashes: String = "none", in svg: inout SVGText
  ) {
    let (c, s) = (cos(ellipse.angleRadians), sin(ellipse.angleRadians))
    let points = (0..<72).map { step -> Point in
      let angle = 2 * Double.pi * Double(step) / 72
      let (a, b) = (
        sigmas * ellipse.major * cos(angle), sigmas * ellipse.minor * sin(angle)
      )
      return place(x + a * c - b * s, y + a * s + b * c)
    }
    svg.path(
      [points], closed: true,
      [
        "fill": colour, "fill-opacity": "\(opacity)", "stroke": colour, "stroke-width": "1.3",
        "stroke-dasharray": dashes,
      ])
  }

  /// Draws a cross, which marks the truth.
  func star(atX x: Double, y: Double, in svg: inout SVGText) {
    star(at: place(x, y), in: &svg)
  }

  /// Writes a text beside a position.
  func note(
    _ text: String, atX x: Double, y: Double, colour: String = Ink.text, in svg: inout SVGText
  ) {
    let point = place(x, y)
    // Near the right edge the text is on the left, where it is not cut off.
    let isNearEdge = self.x.share(of: x) > 0.75
    svg.element(
      "text",
      [
        "x": SVGText.number(point.x + (isNearEdge ? -8 : 8)), "y": SVGText.number(point.y - 8),
        "text-anchor": isNearEdge ? "end" : "start", "fill": colour, "font-size": "11",
      ], content: text)
  }

  private func star(at point: Point, in svg: inout SVGText) {
    let arm = 4.5
    svg.path(
      [
        [(point.x - arm, point.y - arm), (point.x + arm, point.y + arm)],
        [(point.x - arm, point.y + arm), (point.x + arm, point.y - arm)],
      ], ["stroke": Ink.text, "stroke-width": "2", "fill": "none"])
  }
}
