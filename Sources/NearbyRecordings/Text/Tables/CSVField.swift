// SPDX-License-Identifier: Apache-2.0

/// A field of a CSV row.
struct CSVField {
  /// Its range in the buffer, without quotes and surrounding blanks.
  let place: Range<Int>
  /// The number in the field if the fast path could read it; other numbers are parsed on demand.
  let number: DecimalText.Scan?

  @inline(__always)
  init(_ place: Range<Int>, number: DecimalText.Scan? = nil) {
    (self.place, self.number) = (place, number)
  }
}

extension LineReader {
  /// Finds the field that begins at a position, and moves the position behind its comma.
  ///
  /// A number is parsed in the same pass: it must end where its field ends, otherwise the field is
  /// not a common number. After the last field the position is one beyond the end of the line.
  @inline(__always)
  func nextField(
    _ position: inout Int, in line: Range<Int>
  ) throws(RecordingError) -> CSVField {
    let text = buffer.span
    let start = position
    if let number = DecimalText.plainScan(text, &position, upTo: line.upperBound),
      unsafe position == line.upperBound || text[unchecked: position] == .comma
    {
      let place = unsafe Range(uncheckedBounds: (start, position))
      position &+= 1
      return CSVField(place, number: number)
    }
    position = start
    return CSVField(try nextText(&position, in: line))
  }

  @inline(__always)
  private func nextText(
    _ position: inout Int, in line: Range<Int>
  ) throws(RecordingError) -> Range<Int> {
    let text = buffer.span
    let end = line.upperBound
    precondition(0 <= position && end + Self.padding <= text.count)
    while position < end, unsafe text[unchecked: position].isBlank { position &+= 1 }
    if position < end, unsafe text[unchecked: position] == .quote {
      return try quotedField(&position, in: line)
    }
    let start = position
    var commas: UInt64 = 0
    while position < end {
      commas = unsafe EightBytes(
        text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self)
      ).places(of: .comma)
      if commas != 0 { break }
      position &+= 8
    }
    // Commas after the end belong to other lines.
    var stop = min(position &+ commas.trailingZeroBitCount &>> 3, end)
    position = stop &+ 1
    while stop > start, unsafe text[unchecked: stop &- 1].isBlank { stop &-= 1 }
    return unsafe Range(uncheckedBounds: (start, stop))
  }

  /// The field after the quote at a position.
  @inline(never)
  private func quotedField(
    _ position: inout Int, in line: Range<Int>
  ) throws(RecordingError) -> Range<Int> {
    let text = buffer.span
    let end = line.upperBound
    let start = position + 1
    var stop = start
    while true {
      while stop < end, text[stop] != .quote { stop += 1 }
      guard stop < end else {
        throw error(
          .malformedField, "a quote is not closed", at: start - 1, in: line,
          remedy: "close it on the same line")
      }
      guard stop + 1 < end, text[stop + 1] == .quote else { break }
      stop += 2
    }
    position = stop + 1
    while position < end, text[position].isBlank { position += 1 }
    guard position == end || text[position] == .comma else {
      throw error(
        .malformedField, "there is text after a closing quote", at: position, in: line,
        remedy: "put a comma there, or double the quotes inside the field")
    }
    position += 1
    return start..<stop
  }
}
