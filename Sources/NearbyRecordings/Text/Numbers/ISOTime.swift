// SPDX-License-Identifier: Apache-2.0

/// Moments written as ISO 8601 does: `2026-01-31T12:00:00.25+01:00`.
///
/// A blank may stand for the `T` and a comma for the point. Without a zone the time is UTC.
enum ISOTime {
  /// Nanoseconds since 1970.
  ///
  /// - Parameters:
  ///   - text: The bytes.
  ///   - field: Where the moment stands.
  /// - Returns: `nil` when the field holds anything else.
  static func nanoseconds(_ text: Span<UInt8>, _ field: Range<Int>) -> Int64? {
    // A number, as most times are, has no dash after four digits.
    guard field.count >= 19, text[field.lowerBound + 4] == .minus else { return nil }
    var scan = Scan(bytes: field.map { text[$0] })
    guard let year = scan.number(4), scan.skip(.minus), let month = scan.number(2),
      scan.skip(.minus), let day = scan.number(2),
      scan.skip(UInt8(ascii: "T")) || scan.skip(.blank), let hour = scan.number(2),
      scan.skip(UInt8(ascii: ":")), let minute = scan.number(2), scan.skip(UInt8(ascii: ":")),
      let second = scan.number(2), (1...12).contains(month),
      (1...daysOfMonth(month, year)).contains(day), hour < 24, minute < 60, second <= 60,
      let fraction = scan.fraction(), let zone = scan.zone(), scan.isAtEnd
    else { return nil }
    let seconds = Int64(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone)
    guard seconds.magnitude < 4_600_000_000 else { return nil }
    return seconds * 1_000_000_000 + Int64(fraction)
  }

  /// Nanoseconds since midnight of a time of day: `12:00:00.25`.
  ///
  /// - Parameters:
  ///   - text: The bytes.
  ///   - field: Where the time stands.
  /// - Returns: `nil` when the field holds anything else.
  static func nanosecondsOfDay(_ text: Span<UInt8>, _ field: Range<Int>) -> Int64? {
    guard field.count >= 7 else { return nil }
    var scan = Scan(bytes: field.map { text[$0] })
    // An hour of one digit or two.
    let isShort = scan.bytes[1] == UInt8(ascii: ":")
    guard let hour = scan.number(isShort ? 1 : 2), scan.skip(UInt8(ascii: ":")),
      let minute = scan.number(2), scan.skip(UInt8(ascii: ":")), let second = scan.number(2),
      hour < 24, minute < 60, second <= 60, let fraction = scan.fraction(), scan.isAtEnd
    else { return nil }
    return Int64(hour * 3600 + minute * 60 + second) * 1_000_000_000 + Int64(fraction)
  }

  private struct Scan {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// A number of so many digits.
    mutating func number(_ digits: Int) -> Int? {
      var value = 0
      for _ in 0..<digits {
        guard let byte = next, case let digit = byte &- .zero, digit < 10 else { return nil }
        value = 10 * value + Int(digit)
        position += 1
      }
      return value
    }

    /// Moves over a character; `false` when another one comes.
    mutating func skip(_ byte: UInt8) -> Bool {
      guard next == byte else { return false }
      position += 1
      return true
    }

    /// The fraction of a second, if there is one, in whole nanoseconds; `nil` without digits.
    mutating func fraction() -> Int? {
      guard skip(.point) || skip(.comma) else { return 0 }
      var (nanoseconds, place, count) = (0, 100_000_000, 0)
      while let digit = number(1) {
        nanoseconds += digit * place
        place /= 10
        count += 1
      }
      return count > 0 ? nanoseconds : nil
    }

    /// The offset of the zone, seconds; UTC when there is none, `nil` when it is malformed.
    mutating func zone() -> Int? {
      if isAtEnd || skip(UInt8(ascii: "Z")) { return 0 }
      let sign = skip(.plus) ? 1 : skip(.minus) ? -1 : 0
      guard sign != 0, let hours = number(2), hours < 24 else { return nil }
      _ = skip(UInt8(ascii: ":"))
      guard !isAtEnd else { return sign * hours * 3600 }
      guard let minutes = number(2), minutes < 60 else { return nil }
      return sign * (hours * 3600 + minutes * 60)
    }
  }

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func daysOfMonth(_ month: Int, _ year: Int) -> Int {
    month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// The days from 1970 to a date of the Gregorian calendar.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let before = year - 1
    let leaps = before / 4 - before / 100 + before / 400 - 477
    let inYear = (1..<month).reduce(0) { $0 + daysOfMonth($1, year) }
    return (year - 1970) * 365 + leaps + inYear + day - 1
  }
}
