// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How long something takes, one value for each repetition.
struct Timings {
  private var values: [Double] = []

  /// The shortest repetition: what the machine can do.
  var best: Double { values.min() ?? .nan }
  /// The repetition in the middle: what it does usually.
  var median: Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
  }
  /// How many repetitions there were.
  var count: Int { values.count }

  /// Takes in one repetition.
  ///
  /// - Parameters:
  ///   - duration: How long all of it took.
  ///   - unit: The unit of the result.
  ///   - operations: How many operations the repetition had.
  mutating func add(_ duration: Duration, in unit: Duration, operations: Int = 1) {
    values.append(duration / unit / Double(operations))
  }
}

/// One line of the table.
struct TableRow {
  var name: String
  var unit: String
  var timings: Timings
  var note = ""

  static let heading = line("", "best", "median", "unit", "times", "note")

  /// The row as text.
  var text: String {
    Self.line(
      name, Self.number(timings.best), Self.number(timings.median), unit, "\(timings.count)", note)
  }

  private static func number(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
  }

  private static func line(
    _ name: String, _ best: String, _ median: String, _ unit: String, _ times: String,
    _ note: String
  ) -> String {
    name.padding(toLength: 42, withPad: " ", startingAt: 0) + right(best, 8) + right(median, 8)
      + "  " + unit.padding(toLength: 4, withPad: " ", startingAt: 0) + right(times, 6) + "  "
      + note
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

/// What makes a measurement worthless: the engine was not in the state that was to be timed.
struct WrongState: Error, CustomStringConvertible {
  var description: String
}
