// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The times of a foreign table: numbers in one unit, or ISO 8601.
///
/// Where no unit is stated, the first time tells it: within 4.6e9 it is seconds, and a larger number is
/// an epoch time in ms, µs or ns.
struct TableClock {
  private var unit: TimeUnit?

  init(_ map: FieldMap) { unit = map.statesTimeUnit ? map.timeUnit : nil }

  init(unit: TimeUnit?) { self.unit = unit }

  /// The time in a field.
  mutating func timestamp(
    _ rows: borrowing DelimitedReader, _ place: Int
  ) throws(RecordingError) -> Timestamp {
    // A time that is no number, such as ISO 8601, has no unit.
    let unit = unit ?? Self.unit(of: (try? rows.number(place, "timestamp")) ?? nil)
    self.unit = unit
    return try rows.timestamp(place, unit)
  }

  /// The unit of an epoch time.
  static func unit(of number: Double?) -> TimeUnit {
    switch abs(number ?? 0) {
    case 4.6e15...: .nanoseconds
    case 4.6e12...: .microseconds
    case 4.6e9...: .milliseconds
    default: .seconds
    }
  }
}
