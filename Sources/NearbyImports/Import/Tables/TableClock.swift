// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The times of a foreign table: numbers in one unit, ISO 8601, or times of day.
///
/// Where no unit is stated, the first time tells it: within 4.6e9 it is seconds, and a larger number is
/// an epoch time in ms, µs or ns. A counter of 32 bits that wraps goes on, and so does a time of day
/// after midnight.
struct TableClock {
  private var unit: TimeUnit?
  /// The newest time as it is written, and what is added as the clock has wrapped, nanoseconds.
  private var newest: Timestamp?
  private var offset: Int64 = 0
  /// How often a counter has wrapped, and how often midnight has passed.
  private var counterWraps = 0
  private var midnights = 0

  /// A clock wraps where the time goes back from so near its end to so near its start: an hour, or an
  /// eighth of its period, nanoseconds.
  private static let nearWrap: Int64 = 3_600_000_000_000
  /// The shortest period of all: that of a counter of nanoseconds.
  private static let leastPeriod: Int64 = 1 << 32

  init(_ map: FieldMap) { unit = map.statesTimeUnit ? map.timeUnit : nil }

  init(unit: TimeUnit?) { self.unit = unit }

  /// The time in a field.
  mutating func timestamp(
    _ rows: borrowing DelimitedReader, _ place: Int
  ) throws(RecordingError) -> Timestamp {
    // A time that is no number, such as ISO 8601, has no unit.
    let unit = unit ?? Self.unit(of: (try? rows.number(place, "timestamp")) ?? nil)
    self.unit = unit
    let time = try rows.timestamp(place, unit)
    guard let newest else {
      newest = time
      return time
    }
    var offset = offset
    if abs(time.nanoseconds &- newest.nanoseconds) > Self.leastPeriod / 2,
      let period = rows.isTimeOfDay(place) ? Self.day : Self.period(unit)
    {
      if Self.wraps(from: newest, to: time, period) {
        if period == Self.day { midnights += 1 } else { counterWraps += 1 }
        self.offset += period
        offset = self.offset
      } else if offset >= period, Self.wraps(from: time, to: newest, period) {
        // A late sample from before the clock wrapped.
        return Timestamp(nanoseconds: time.nanoseconds &+ offset &- period)
      }
    }
    self.newest = time
    return Timestamp(nanoseconds: time.nanoseconds &+ offset)
  }

  private static let day: Int64 = 86_400_000_000_000

  /// The period of a counter of 32 bits, nanoseconds; `nil` for seconds, which are no counter.
  private static func period(_ unit: TimeUnit) -> Int64? {
    switch unit {
    case .seconds: nil
    case .milliseconds: 1_000_000 << 32
    case .microseconds: 1000 << 32
    case .nanoseconds: 1 << 32
    }
  }

  /// Whether a clock wraps between two times: the first is near its end, and the second near its start.
  private static func wraps(from last: Timestamp, to next: Timestamp, _ period: Int64) -> Bool {
    let near = min(nearWrap, period / 8)
    return last.nanoseconds <= period && last.nanoseconds > period - near
      && next.nanoseconds >= 0 && next.nanoseconds < near
  }

  /// What is to be said of the times.
  func findings(of file: String) -> [RecordingFinding] {
    var findings: [RecordingFinding] = []
    if counterWraps > 0, let unit {
      findings.append(
        RecordingFinding(
          .note, .clockWraps,
          "the times wrap at 2^32 \(unit.rawValue), \(Self.times(counterWraps)); they go on from there"
        ))
    }
    if midnights > 0 {
      findings.append(
        RecordingFinding(
          .note, .clockWraps,
          "the times of day pass midnight, \(Self.times(midnights)); they go on from there"))
    }
    return findings
  }

  private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

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
