// SPDX-License-Identifier: Apache-2.0

/// Reads a binary property list object by object, within its bounds.
///
/// The form: `bplist00`, the objects, a table of their offsets, and a trailer of 32 bytes, all numbers
/// with the most significant byte first. An object begins with a byte whose upper half is its kind and
/// whose lower half is its length, or 15 when the length follows as a number.
struct BinaryPropertyList {
  /// An object, by its number.
  struct Object: Hashable {
    fileprivate var number: Int
  }

  /// The kinds of objects that are read.
  private enum Kind: UInt8 {
    case number = 1
    case data = 4
    case ascii = 5
    case identifier = 8
    case array = 10
    case dictionary = 13
  }

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let table: Int
  /// The root object.
  let top: Object

  private static let header = Array("bplist00".utf8)
  private static let trailerSize = 32

  /// Reads the trailer; `nil` when it is not valid.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.header.count + Self.trailerSize, bytes.starts(with: Self.header)
    else { return nil }
    let trailer = bytes.count - Self.trailerSize
    self.bytes = bytes
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    func field(_ index: Int) -> Int? {
      Self.number(bytes[(trailer + 8 * index)..<(trailer + 8 * (index + 1))])
    }
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = field(1),
      let top = field(2), let table = field(3), (Self.header.count...trailer).contains(table),
      count <= (trailer - table) / offsetSize
    else { return nil }
    (self.count, self.table, self.top) = (count, table, Object(number: top))
  }

  // MARK: Values

  /// The bytes of a data object.
  func bytes(_ object: Object) -> ArraySlice<UInt8>? { content(of: object, .data) }

  /// The text of an ASCII string.
  func text(_ object: Object) -> String? {
    content(of: object, .ascii).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The number by which an archive refers to an object.
  func identifier(_ object: Object) -> Int? {
    content(of: object, .identifier).flatMap(Self.number)
  }

  /// An element of an array.
  func element(_ index: Int, of array: Object) -> Object? {
    guard let references = content(of: array, .array) else { return nil }
    return reference(index, in: references)
  }

  /// The value of a key in a dictionary.
  func entry(_ key: String, of dictionary: Object) -> Object? {
    guard let references = content(of: dictionary, .dictionary) else { return nil }
    let half = references.count / referenceSize / 2
    for index in 0..<half {
      guard let name = reference(index, in: references) else { return nil }
      if text(name) == key { return reference(half + index, in: references) }
    }
    return nil
  }

  // MARK: Bytes

  /// The contents of an object after its first byte and its length, if it is of the given kind.
  private func content(of object: Object, _ kind: Kind) -> ArraySlice<UInt8>? {
    guard (0..<count).contains(object.number),
      let offset = number(at: table + object.number * offsetSize, size: offsetSize),
      (Self.header.count..<table).contains(offset), bytes[offset] >> 4 == kind.rawValue
    else { return nil }
    var length = Int(bytes[offset] & 15)
    var start = offset + 1
    if length == 15, kind != .identifier {
      guard start < table, bytes[start] >> 4 == Kind.number.rawValue else { return nil }
      let size = 1 << Int(bytes[start] & 15)
      guard let long = number(at: start + 1, size: size) else { return nil }
      length = long
      start += 1 + size
    }
    let size: Int
    switch kind {
    case .data, .ascii: size = 1
    case .array: size = referenceSize
    case .dictionary: size = 2 * referenceSize
    case .identifier:
      (size, length) = (1, length + 1)
    case .number: return nil
    }
    guard start <= table, length <= (table - start) / size else { return nil }
    return bytes[start..<(start + length * size)]
  }

  private func reference(_ index: Int, in references: ArraySlice<UInt8>) -> Object? {
    guard index >= 0, index < references.count / referenceSize else { return nil }
    return number(at: references.startIndex + index * referenceSize, size: referenceSize).map {
      Object(number: $0)
    }
  }

  private func number(at offset: Int, size: Int) -> Int? {
    guard offset >= 0, size <= 8, offset <= bytes.count - size else { return nil }
    return Self.number(bytes[offset..<(offset + size)])
  }

  /// A number that fits an `Int`; larger ones cannot occur in a valid list.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count <= 8 else { return nil }
    return Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
