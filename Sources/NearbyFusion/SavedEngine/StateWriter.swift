// SPDX-License-Identifier: Apache-2.0

/// Writes `Encodable` values as bytes that ``StateReader`` reads.
///
/// A structure is its keys, each with its value, and a zero at the end. A key is its number and, the
/// first time, its name: so bytes of another structure are recognised. A list is its elements, each
/// behind a one, or a two for one that is `nil`, and a zero at the end. Everything that can be left out
/// is; nothing has a type.
final class StateWriter {
  private(set) var bytes: [UInt8] = []
  private var keys: [String: UInt64] = [:]
  /// How many containers are open: the innermost has this depth.
  private var depth = 0

  /// The bytes of a value.
  static func bytes(of value: some Encodable) throws -> [UInt8] {
    let writer = StateWriter()
    try writer.write(value)
    return writer.bytes
  }

  // MARK: Bytes

  func append(byte: UInt8) { bytes.append(byte) }

  func append(_ word: UInt64) { bytes.append(littleEndian: word) }

  /// Seven bits to a byte, the least significant first.
  func append(length: UInt64) {
    var rest = length
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  func append(text: String) {
    let text = text.utf8
    append(length: UInt64(text.count))
    bytes += text
  }

  // MARK: Values

  fileprivate func write(_ value: some Encodable) throws {
    if let primitive = value as? any SavedPrimitive { return primitive.write(to: self) }
    let outside = depth
    try value.encode(to: Values(writer: self))
    close(to: outside)
  }

  fileprivate func open() -> Int {
    depth += 1
    return depth
  }

  /// Ends all containers that are deeper.
  fileprivate func close(to outside: Int) {
    while depth > outside {
      bytes.append(0)
      depth -= 1
    }
  }

  fileprivate func begin(_ key: some CodingKey, at depth: Int) {
    close(to: depth)
    let name = key.stringValue
    if let known = keys[name] { return append(length: known) }
    let new = UInt64(keys.count + 1)
    keys[name] = new
    append(length: new)
    append(text: name)
  }

  fileprivate func beginElement(at depth: Int, isNil: Bool = false) {
    close(to: depth)
    bytes.append(isNil ? 2 : 1)
  }

  // MARK: Containers

  /// What a value encodes itself to.
  private struct Values: Encoder, SingleValueEncodingContainer {
    let writer: StateWriter
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      KeyedEncodingContainer(Fields<Key>(writer: writer, depth: writer.open()))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
      Elements(writer: writer, depth: writer.open())
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    /// Said by the element's mark already.
    func encodeNil() {}
    func encode(_ value: some Encodable) throws { try writer.write(value) }
  }

  private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: StateWriter
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}
    func encode(_ value: some Encodable, forKey key: Key) throws {
      writer.begin(key, at: depth)
      try writer.write(value)
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      writer.begin(key, at: depth)
      return KeyedEncodingContainer(Fields<Nested>(writer: writer, depth: writer.open()))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      writer.begin(key, at: depth)
      return Elements(writer: writer, depth: writer.open())
    }
    func superEncoder() -> any Encoder { Values(writer: writer) }
    func superEncoder(forKey key: Key) -> any Encoder {
      writer.begin(key, at: depth)
      return Values(writer: writer)
    }
  }

  private struct Elements: UnkeyedEncodingContainer {
    let writer: StateWriter
    let depth: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(writer: StateWriter, depth: Int) { (self.writer, self.depth) = (writer, depth) }

    mutating func encodeNil() {
      count += 1
      writer.beginElement(at: depth, isNil: true)
    }
    mutating func encode(_ value: some Encodable) throws {
      count += 1
      let isNil = (value as? any SavedOptional)?.isNone ?? false
      writer.beginElement(at: depth, isNil: isNil)
      if !isNil { try writer.write(value) }
    }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
      count += 1
      writer.beginElement(at: depth)
      return KeyedEncodingContainer(Fields<Nested>(writer: writer, depth: writer.open()))
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      count += 1
      writer.beginElement(at: depth)
      return Elements(writer: writer, depth: writer.open())
    }
    mutating func superEncoder() -> any Encoder {
      count += 1
      writer.beginElement(at: depth)
      return Values(writer: writer)
    }
  }
}
