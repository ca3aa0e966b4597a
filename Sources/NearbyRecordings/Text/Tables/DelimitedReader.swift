// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// The unit of time of a foreign file.
public enum TimeUnit: String, Hashable, Sendable, CaseIterable {
  /// Seconds.
  case seconds = "s"
  /// Milliseconds.
  case milliseconds = "ms"
  /// Microseconds.
  case microseconds = "us"
  /// Nanoseconds.
  case nanoseconds = "ns"

  /// The power of ten of a unit, in seconds.
  package var exponent: Int {
    switch self {
    case .seconds: 0
    case .milliseconds: -3
    case .microseconds: -6
    case .nanoseconds: -9
    }
  }
}

/// Reads a foreign text file line by line, with fields by index.
///
/// Fields are separated by one character, or by blanks. Empty lines and lines that begin with `#` are
/// skipped. A field may be quoted (RFC 4180), but may not hold a line break.
package struct DelimitedReader: ~Copyable, Sendable {
  package private(set) var lines: LineReader
  /// The number of fields of the line.
  package var count: Int { fields.count }

  /// The delimiter of fields; blanks of any number when `nil`.
  private let delimiter: UInt8?
  private var fields: [Range<Int>] = []
  private var lineRange = 0..<0
  /// The places of values by their paths, when lines are JSON.
  private var placesInJSON: [String: Int] = [:]

  /// Opens a file, under whose path errors name it.
  package init(path: String, delimiter: UInt8?) throws(RecordingError) {
    lines = try LineReader(path: path, file: path)
    self.delimiter = delimiter
  }

  /// Goes to the next line that holds data.
  ///
  /// - Parameter takesComment: Whether a line that begins with `#` is taken, for a header.
  /// - Returns: Whether there is one.
  /// - Throws: When the line has a quote that is not closed, or cannot be read.
  package mutating func next(takesComment: Bool = false) throws(RecordingError) -> Bool {
    while let line = try lines.next() {
      lineRange = line
      var start = line.lowerBound
      while start < line.upperBound, lines.buffer[start].isBlank, lines.buffer[start] != delimiter {
        start += 1
      }
      guard start < line.upperBound else { continue }
      if !placesInJSON.isEmpty {
        try splitJSON()
        return true
      }
      if lines.buffer[start] == .hash {
        guard takesComment else { continue }
        start += 1
      }
      try split(start..<line.upperBound)
      return true
    }
    return false
  }

  private mutating func split(_ line: Range<Int>) throws(RecordingError) {
    // Performance: a local value, because `self` is borrowed while its text is parsed.
    var found: [Range<Int>] = []
    swap(&found, &fields)
    let openQuote = Self.split(line, in: lines.buffer.span, delimiter, &found)
    fields = found
    if let openQuote {
      throw lines.error(
        .malformedField, "a quote is not closed", at: openQuote, in: lineRange,
        remedy: "close it on the same line")
    }
  }

  // MARK: - JSON lines

  /// The paths of the values of the line, if it is an object of JSON.
  package var pathsInJSON: [String]? {
    guard lineRange.lowerBound < lineRange.upperBound else { return nil }
    return JSONFields.parse(lines.buffer[lineRange])?.map(\.path)
  }

  /// Reads this line and all others as JSON.
  ///
  /// - Parameter paths: The paths of values in the order of the fields that they become.
  /// - Throws: When this line is no JSON.
  package mutating func readAsJSON(_ paths: [String]) throws(RecordingError) {
    placesInJSON = Dictionary(zip(paths, 0...)) { first, _ in first }
    try splitJSON()
  }

  private mutating func splitJSON() throws(RecordingError) {
    guard let found = JSONFields.parse(lines.buffer[lineRange]) else {
      throw lines.error(
        .malformedField, "the line is no object of JSON", at: lineRange.lowerBound, in: lineRange,
        remedy: "write one object a line, as the first line is")
    }
    fields = [Range<Int>](
      repeating: lineRange.upperBound..<lineRange.upperBound, count: placesInJSON.count)
    for field in found {
      if let place = placesInJSON[field.path] { fields[place] = field.range }
    }
  }

  /// Finds the fields of a line.
  ///
  /// - Returns: The position of a quote that is not closed, if there is one.
  private static func split(
    _ line: Range<Int>, in text: Span<UInt8>, _ delimiter: UInt8?, _ fields: inout [Range<Int>]
  ) -> Int? {
    fields.removeAll(keepingCapacity: true)
    let end = line.upperBound
    func separates(_ byte: UInt8) -> Bool { delimiter.map { byte == $0 } ?? byte.isBlank }
    var position = line.lowerBound
    while true {
      while position < end, text[position].isBlank, text[position] != delimiter { position += 1 }
      if delimiter == nil && position == end { return nil }
      let isQuoted = position < end && text[position] == .quote
      let start = isQuoted ? position + 1 : position
      var stop = start
      if isQuoted {
        while stop < end, text[stop] != .quote { stop += 1 }
        if stop == end { return start - 1 }
      }
      position = isQuoted ? stop + 1 : start
      while position < end, !separates(text[position]) { position += 1 }
      if !isQuoted {
        stop = position
        while stop > start, text[stop - 1].isBlank { stop -= 1 }
      }
      fields.append(start..<stop)
      if position == end { return nil }
      position += 1
    }
  }

  // MARK: - Values

  /// The range of a field; empty when the line has no such field.
  package func field(_ place: Int) -> Range<Int> {
    fields.indices.contains(place) ? fields[place] : lineRange.upperBound..<lineRange.upperBound
  }

  /// The text of a field.
  package func text(_ place: Int) -> String { DecimalText.string(lines.buffer.span, field(place)) }

  /// The name in a field: between blanks, what punctuates a line behind it is no part of it.
  package func name(_ place: Int) -> String {
    var field = field(place)
    while delimiter == nil, let last = field.last,
      [.comma, UInt8(ascii: ";"), UInt8(ascii: ":")].contains(lines.buffer[last])
    {
      field = field.lowerBound..<last
    }
    return DecimalText.string(lines.buffer.span, field)
  }

  /// The number in a field; `nil` when it is empty.
  package func number(_ place: Int, _ name: String) throws(RecordingError) -> Double? {
    let field = field(place)
    if field.isEmpty { return nil }
    guard let value = DecimalText.double(lines.buffer.span, field) else {
      throw error(
        .malformedNumber, place, name, "is not a number", remedy: "write a decimal number")
    }
    return value
  }

  /// The number in a field with the unit that stands behind it; `nil` when the field is empty.
  package func foreignNumber(
    _ place: Int, _ name: String
  ) throws(RecordingError) -> ForeignNumber? {
    let field = field(place)
    if field.isEmpty { return nil }
    if let value = DecimalText.double(lines.buffer.span, field) {
      return ForeignNumber(number: value, unit: nil)
    }
    guard let number = ForeignNumber.parse(lines.buffer.span, field) else {
      throw error(
        .malformedNumber, place, name, "is not a number", remedy: "write a decimal number")
    }
    return number
  }

  /// The finite number in a field, which must be there.
  package func finite(_ place: Int, _ name: String) throws(RecordingError) -> Double {
    guard let value = try number(place, name) else {
      throw error(.missingValue, place, name, "is empty", remedy: "complete the line")
    }
    guard value.isFinite else {
      throw error(.notFinite, place, name, "is not finite", remedy: "leave out the line")
    }
    return value
  }

  /// The position with its coordinates in three consecutive fields.
  package func place(_ first: Int, _ names: [String]) throws(RecordingError) -> Vector3 {
    let place = Vector3(
      try finite(first, names[0]), try finite(first + 1, names[1]), try finite(first + 2, names[2]))
    guard max(abs(place.x), abs(place.y), abs(place.z)) <= TrajectoryReader.farthest else {
      throw error(
        .valueOutOfRange, first, names[0], "begins a place that is too far away",
        remedy: "positions are metres, at most 1e7")
    }
    return place
  }

  /// The rotation of a quaternion that must have unit length to 1 %.
  package func rotation(
    _ x: Double, _ y: Double, _ z: Double, _ w: Double
  ) throws(RecordingError) -> Rotation {
    guard let rotation = TrajectoryReader.rotation(x, y, z, w) else {
      let length = (x * x + y * y + z * z + w * w).squareRoot()
      throw lineError(
        .invalidRotation, "the quaternion's length is \(length), not 1",
        remedy: "check the order of the columns")
    }
    return rotation
  }

  /// The timestamp in a field, exact to the nanosecond in every unit.
  package func timestamp(_ place: Int, _ unit: TimeUnit) throws(RecordingError) -> Timestamp {
    let field = field(place)
    if let nanoseconds = ISOTime.nanoseconds(lines.buffer.span, field) {
      return Timestamp(nanoseconds: nanoseconds)
    }
    if let timestamp = DecimalText.timestamp(lines.buffer.span, field, unit) { return timestamp }
    if let nanoseconds = ISOTime.nanosecondsOfDay(lines.buffer.span, field) {
      return Timestamp(nanoseconds: nanoseconds)
    }
    guard let timestamp = timestampWithComma(field, unit) else {
      throw error(
        .malformedNumber, place, "timestamp", "is no moment in \(unit.rawValue)",
        remedy:
          "write a finite number within 4.6e9 s, 2026-01-31T12:00:00Z or 12:00:00; check the unit"
      )
    }
    return timestamp
  }

  /// Whether a field is a time of day, as `12:00:00.5`.
  package func isTimeOfDay(_ place: Int) -> Bool {
    ISOTime.nanosecondsOfDay(lines.buffer.span, field(place)) != nil
  }

  /// The timestamp of a number with a decimal comma.
  private func timestampWithComma(_ field: Range<Int>, _ unit: TimeUnit) -> Timestamp? {
    var bytes = field.map { lines.buffer[$0] }
    guard let comma = bytes.firstIndex(of: .comma) else { return nil }
    bytes[comma] = .point
    let end = bytes.count
    bytes += [UInt8](repeating: 0, count: LineReader.padding)
    return DecimalText.timestamp(bytes.span, 0..<end, unit)
  }

  // MARK: - Errors

  /// An error at a field.
  package func error(
    _ code: RecordingError.Code, _ place: Int, _ name: String, _ problem: String, remedy: String
  ) -> RecordingError {
    let field = field(place)
    return lines.error(
      code, "\(name)\(field.isEmpty ? "" : " \(lines.excerpt(field))") \(problem)",
      at: field.lowerBound, in: lineRange, remedy: remedy)
  }

  /// An error of the whole line.
  package func lineError(
    _ code: RecordingError.Code, _ problem: String, remedy: String
  ) -> RecordingError {
    lines.error(code, problem, in: lineRange, remedy: remedy)
  }
}

extension DecimalText {
  /// The timestamp of a field in a unit, rounded to the nearest nanosecond.
  ///
  /// - Returns: `nil` when the text is not a finite number, or not one within ±4.6e9 s.
  package static func timestamp(
    _ text: Span<UInt8>, _ field: Range<Int>, _ unit: TimeUnit
  ) -> Timestamp? {
    var position = field.lowerBound
    guard var scan = scan(text, &position, upTo: field.upperBound), position == field.upperBound
    else { return nil }
    scan.exponent += unit.exponent
    return scan.timestamp
  }
}
