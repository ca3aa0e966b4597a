// SPDX-License-Identifier: Apache-2.0

/// Recognises the names and words of a column by their bytes, without making strings.
///
/// It remembers which name follows which.
struct KnownNames {
  struct Name {
    /// Its bytes in the file.
    fileprivate let bytes: [UInt8]
    /// The first eight bytes as loaded into a register, and the mask of the bits that belong to the
    /// name.
    fileprivate let start: (bits: UInt64, mask: UInt64)
    let text: String
    /// The number that the reader assigned to the name.
    let meaning: Int
    /// The index of the name that followed it last time.
    fileprivate var next = 0
  }

  private var names: [Name] = []
  private var indexOfBytes: [[UInt8]: Int] = [:]
  /// The index of the last name.
  private(set) var last = 0

  /// The number of names that are compared when the next one is not the expected one.
  private static let compared = 64

  @inline(__always)
  subscript(index: Int) -> Name { names[index] }

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
    for index in 0..<min(names.count, Self.compared)
    where names[index].stands(in: text, position, end) {
      follow(with: index)
      return true
    }
    return false
  }

  /// Goes to a name that may be new.
  mutating func learn(_ bytes: [UInt8], _ text: String, meaning: Int) {
    let index = indexOfBytes[bytes] ?? names.count
    if index == names.count {
      indexOfBytes[bytes] = index
      names.append(Name(bytes: bytes, start: Self.start(of: bytes), text: text, meaning: meaning))
    }
    follow(with: index)
  }

  private static func start(of bytes: [UInt8]) -> (bits: UInt64, mask: UInt64) {
    // A name that needs quotes has other bytes in the file, so this pair never matches.
    let ends = [bytes.first, bytes.last]
    let isPlain = !ends.contains { $0?.isBlank ?? true }
    guard isPlain, !bytes.contains(where: { $0 == .comma || $0 == .quote }) else { return (1, 0) }
    let bits = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    return (bits, EightBytes.first(bytes.count))
  }

  private mutating func follow(with index: Int) {
    names[last].next = index
    last = index
  }
}

extension KnownNames.Name {
  /// Whether the field at a position equals this name.
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
    for index in 8..<bytes.count where text[position + index] != bytes[index] { return false }
    return true
  }
}
