// SPDX-License-Identifier: Apache-2.0

/// Reads what ``StateWriter`` has written, in the same order.
///
/// Every length is held against the bytes that are left, and the depth of containers is bounded: no
/// bytes make it trap or allocate more than a multiple of their number.
final class StateReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private var keys: [String] = []
  private var depth = 0

  /// Structures within structures: an engine has less than half.
  private static let mostDepth = 40

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// Reads a value that takes all bytes.
  static func value<Value: Decodable>(
    _ type: Value.Type = Value.self, from bytes: ArraySlice<UInt8>
  ) throws -> Value {
    let reader = StateReader(bytes)
    let value = try reader.read(type)
    guard reader.position == bytes.endIndex else { throw reader.error("bytes after the end") }
    return value
  }

  func error(_ problem: String) -> DecodingError {
    let place = position - bytes.startIndex
    return .dataCorrupted(
      .init(codingPath: [], debugDescription: "\(problem) at byte \(place) of the state"))
  }

  // MARK: Bytes

  func takeByte() throws -> UInt8 {
    guard position < bytes.endIndex else { throw error("the end") }
    defer { position += 1 }
    return bytes[position]
  }

  private func peek() throws -> UInt8 {
    guard position < bytes.endIndex else { throw error("the end") }
    return bytes[position]
  }

  func takeWord() throws -> UInt64 {
    guard bytes.endIndex - position >= 8 else { throw error("the end") }
    var word: UInt64 = 0
    for offset in 0..<8 { word |= UInt64(bytes[position + offset]) << UInt64(8 * offset) }
    position += 8
    return word
  }

  func takeLength() throws -> UInt64 {
    var (length, shift): (UInt64, UInt64) = (0, 0)
    while shift < 64 {
      let byte = try takeByte()
      length |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return length }
      shift += 7
    }
    throw error("a length of more than 64 bits")
  }

  /// A number of things of a size, all of which are there.
  func takeCount(ofSize size: Int) throws -> Int {
    let count = try takeLength()
    guard count <= UInt64((bytes.endIndex - position) / size) else {
      throw error("a length of \(count)")
    }
    return Int(count)
  }

  func takeText() throws -> String {
    let count = try takeCount(ofSize: 1)
    defer { position += count }
    guard let text = String(validating: bytes[position..<position + count], as: UTF8.self) else {
      throw error("text that is not UTF-8")
    }
    return text
  }

  // MARK: Values

  fileprivate func read<Value: Decodable>(
    _ type: Value.Type, isNil: Bool = false
  ) throws -> Value {
    if let primitive = type as? any SavedPrimitive.Type {
      guard let value = try primitive.read(from: self) as? Value else { throw error("a value") }
      return value
    }
    let outside = depth
    let value = try Value(from: Values(reader: self, isNil: isNil))
    try close(to: outside)
    return value
  }

  fileprivate func open() throws -> Int {
    guard depth < Self.mostDepth else { throw error("structures within structures") }
    depth += 1
    return depth
  }

  /// Ends all containers that are deeper.
  fileprivate func close(to outside: Int) throws {
    while depth > outside {
      guard try peek() == 0 else { throw error("a field or an element too many") }
      position += 1
      depth -= 1
    }
  }

  /// The next key of a structure; `nil` at its end.
  fileprivate func nextKey(at depth: Int) throws -> String? {
    try close(to: depth)
    let start = position
    defer { position = start }
    return try takeKey()
  }

  private func takeKey() throws -> String? {
    let number = try takeLength()
    if number == 0 { return nil }
    if number == UInt64(keys.count + 1) { return try takeText() }
    guard number <= UInt64(keys.count) else { throw error("key number \(number)") }
    return keys[Int(number - 1)]
  }

  fileprivate func take(_ key: some CodingKey, at depth: Int) throws {
    try close(to: depth)
    let known = keys.count
    let number = try peekLength()
    let found = try takeKey()
    guard found == key.stringValue else {
      throw error("\"\(found ?? "nothing")\" in the place of \"\(key.stringValue)\"")
    }
    if number == UInt64(known + 1) { keys.append(key.stringValue) }
  }

  private func peekLength() throws -> UInt64 {
    let start = position
    defer { position = start }
    return try takeLength()
  }

  /// Takes the mark of an element.
  ///
  /// - Returns: Whether the element is `nil`.
  fileprivate func takeElement(at depth: Int) throws -> Bool {
    try close(to: depth)
    switch try takeByte() {
    case 1: return false
    case 2: return true
    case let other: throw error("an element marked \(other)")
    }
  }

  fileprivate func isAtEnd(at depth: Int) -> Bool {
    guard (try? close(to: depth)) != nil, let mark = try? peek() else { return true }
    return mark == 0
  }

  // MARK: Containers

  /// What a value decodes itself from.
  private struct Values: Decoder, SingleValueDecodingContainer {
    let reader: StateReader
    var isNil = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(
      keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
      try requireValue()
      return KeyedDecodingContainer(Fields<Key>(reader: reader, depth: try reader.open()))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try requireValue()
      return Elements(reader: reader, depth: try reader.open())
    }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { isNil }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try requireValue()
      return try reader.read(type)
    }

    private func requireValue() throws {
      if isNil { throw reader.error("nothing in the place of a value") }
    }
  }

  private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: StateReader
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    /// The next one only: fields are read as they were written.
    var allKeys: [Key] {
      guard let next = try? reader.nextKey(at: depth), let key = Key(stringValue: next) else {
        return []
      }
      return [key]
    }
    func contains(_ key: Key) -> Bool {
      (try? reader.nextKey(at: depth)) == key.stringValue
    }
    func decodeNil(forKey key: Key) -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try reader.take(key, at: depth)
      return try reader.read(type)
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
      try reader.take(key, at: depth)
      return KeyedDecodingContainer(Fields<Nested>(reader: reader, depth: try reader.open()))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try reader.take(key, at: depth)
      return Elements(reader: reader, depth: try reader.open())
    }
    func superDecoder() throws -> any Decoder { Values(reader: reader) }
    func superDecoder(forKey key: Key) throws -> any Decoder {
      try reader.take(key, at: depth)
      return Values(reader: reader)
    }
  }

  private struct Elements: UnkeyedDecodingContainer {
    let reader: StateReader
    let depth: Int
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    /// Not known: no room is made for elements that may not come.
    var count: Int? { nil }
    var isAtEnd: Bool { reader.isAtEnd(at: depth) }

    init(reader: StateReader, depth: Int) { (self.reader, self.depth) = (reader, depth) }

    mutating func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      let isNil = try reader.takeElement(at: depth)
      currentIndex += 1
      return try reader.read(type, isNil: isNil)
    }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
      try beginElement()
      return KeyedDecodingContainer(Fields<Nested>(reader: reader, depth: try reader.open()))
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try beginElement()
      return Elements(reader: reader, depth: try reader.open())
    }
    mutating func superDecoder() throws -> any Decoder {
      try beginElement()
      return Values(reader: reader)
    }

    private mutating func beginElement() throws {
      guard try !reader.takeElement(at: depth) else { throw reader.error("an element is missing") }
      currentIndex += 1
    }
  }
}
