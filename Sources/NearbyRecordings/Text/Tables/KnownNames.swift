// SPDX-License-Identifier: Apache-2.0

/// The names and words of a column as a file writes them, and which comes after which: one that was
/// there before is known by its bytes, without a string.
struct KnownNames {
  struct Name {
    /// As the file writes it.
    fileprivate let bytes: [UInt8]
    /// The first eight bytes as they are loaded, and which bits of them belong to the name.
    fileprivate let start: (bits: UInt64, mask: UInt64)
    let text: String
    /// What the reader means by it: a number of its own.
    let meaning: Int
    /// Which name came next, by its place.
    fileprivate var next = 0
  }

  private var names: [Name] = []
  private var placeOfBytes: [[UInt8]: Int] = [:]
  /// Which name came last, by its place.
  private(set) var last = 0

  /// Of so many names the bytes are compared when one comes out of turn.
  private static let compared = 64

  @inline(__always)
  subscript(place: Int) -> Name { names[place] }

  /// Goes to the name at a position, up to the next comma, and moves the position behind it.
  ///
  /// - Parameters:
  ///   - text: The bytes, with ``LineReader/padding`` behind the end.
  ///   - position: Where the name begins; it stays there when the name is not known.
  ///   - end: Where the line ends.
  /// - Returns: Whether the name is known.
  @inline(__always)
  mutating func goTo(_ text: Span<UInt8>, _ position: inout Int, upTo end: Int) -> Bool {
    guard last < names.count else { return false }
    let next = names[last].next
    let isInTurn = names[next].stands(in: text, position, end)
    guard isInTurn || find(text, position, end) else { return false }
    if isInTurn { last = next }
    position &+= names[last].bytes.count
    return true
  }

  @inline(never)
  private mutating func find(_ text: Span<UInt8>, _ position: Int, _ end: Int) -> Bool {
    for place in 0..<min(names.count, Self.compared)
    where names[place].stands(in: text, position, end) {
      follow(with: place)
      return true
    }
    return false
  }

  /// Goes to a name that may be new.
  mutating func learn(_ bytes: [UInt8], _ text: String, meaning: Int) {
    let place = placeOfBytes[bytes] ?? names.count
    if place == names.count {
      placeOfBytes[bytes] = place
      names.append(Name(bytes: bytes, start: Self.start(of: bytes), text: text, meaning: meaning))
    }
    follow(with: place)
  }

  private static func start(of bytes: [UInt8]) -> (bits: UInt64, mask: UInt64) {
    // What stood in quotes means something else without them: no bits are ever the same.
    let ends = [bytes.first, bytes.last]
    let isPlain = !ends.contains { $0?.isBlank ?? true }
    guard isPlain, !bytes.contains(where: { $0 == .comma || $0 == .quote }) else { return (1, 0) }
    let bits = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    return (bits, EightBytes.first(bytes.count))
  }

  private mutating func follow(with place: Int) {
    names[last].next = place
    last = place
  }
}

extension KnownNames.Name {
  /// Whether the field at a position is this name.
  @inline(__always)
  fileprivate func stands(in text: Span<UInt8>, _ position: Int, _ end: Int) -> Bool {
    precondition(0 <= position && end + LineReader.padding <= text.count)
    let stop = position &+ bytes.count
    guard stop <= end else { return false }
    let loaded = unsafe text.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: position, as: UInt64.self)
    guard UInt64(littleEndian: loaded) & start.mask == start.bits,
      unsafe stop == end || text[unchecked: stop] == .comma
    else { return false }
    return bytes.count <= 8 || hasRest(in: text, position)
  }

  @inline(never)
  private func hasRest(in text: Span<UInt8>, _ position: Int) -> Bool {
    for place in 8..<bytes.count where text[position + place] != bytes[place] { return false }
    return true
  }
}
