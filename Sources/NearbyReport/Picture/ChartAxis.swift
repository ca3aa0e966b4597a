// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// An axis of a chart: its range, its scale and its labels.
package struct ChartAxis {
  /// The scale of an axis.
  package enum Scale { case linear, logarithmic }

  /// A mark and its label.
  package struct Tick: Hashable {
    package var value: Double
    package var label: String
  }

  var title: String
  var scale = Scale.linear
  /// The range; positive on a logarithmic axis.
  var range: ClosedRange<Double>
  /// The marks; chosen from the range when `nil`.
  var marks: [Tick]?

  package init(
    _ title: String, _ range: ClosedRange<Double>, scale: Scale = .linear, marks: [Tick]? = nil
  ) {
    self.title = title
    self.range = range
    self.scale = scale
    self.marks = marks
  }

  /// The relative position of a number: 0 at the beginning of the axis, 1 at its end, extrapolated
  /// outside.
  package func share(of value: Double) -> Double {
    switch scale {
    case .linear:
      (value - range.lowerBound) / (range.upperBound - range.lowerBound)
    case .logarithmic:
      log(value / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
  }

  /// About `count` marks.
  package func ticks(about count: Int) -> [Tick] {
    if let marks { return marks }
    switch scale {
    case .linear:
      return NiceNumbers.ticks(range, about: count).map { Tick(value: $0, label: Self.label($0)) }
    case .logarithmic:
      let first = Int(log10(range.lowerBound).rounded(.up))
      let last = Int(log10(range.upperBound).rounded(.down))
      guard first <= last else { return [] }
      return (first...last).map { pow(10, Double($0)) }
        .map { Tick(value: $0, label: Self.label($0)) }
    }
  }

  /// A number with the necessary decimals, and a minus sign as wide as a plus.
  package static func label(_ number: Double) -> String {
    let rounded = (number * 1e6).rounded() / 1e6
    let text =
      rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
    return text.replacing("-", with: "−")
  }

  /// The range of some numbers with a margin at both ends; a range about zero without numbers.
  static func range(
    of values: some Sequence<Double>, room: Double = 0.06, atLeast least: Double = 1e-3
  ) -> ClosedRange<Double> {
    var (low, high) = (Double.infinity, -Double.infinity)
    for value in values where value.isFinite { (low, high) = (min(low, value), max(high, value)) }
    guard low <= high else { return -1...1 }
    let margin = max(room * (high - low), least / 2)
    return low - margin...high + margin
  }
}
