// SPDX-License-Identifier: Apache-2.0

/// A value in which every property holds something: no optional is `nil`, no collection is empty, and no
/// two numbers are equal.
///
/// It is decoded from a decoder that makes up whatever it is asked for, so that a property added later is
/// filled, too.
///
/// - Parameter type: A type with synthesised decoding.
/// - Returns: The value.
/// - Throws: When the type wants something that cannot be made up.
public func filled<Value: Decodable>(_ type: Value.Type) throws -> Value {
  try Filler().value(type)
}

/// A decoder that makes up values.
private final class Filler: Decoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  private var count = 0

  /// The next number, a different one each time.
  func next() -> Int {
    count += 1
    return count
  }

  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let cases = type as? any CaseIterable.Type, let value = Self.last(of: cases) as? Value {
      return value
    }
    return try type.init(from: self)
  }

  private static func last<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
    Array(type.allCases).last
  }

  func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Members(filler: self))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(filler: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { Single(filler: self) }
}

/// One value.
private struct Single: SingleValueDecodingContainer {
  let filler: Filler
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }
  func decode(_ type: Bool.Type) -> Bool { true }
  func decode(_ type: String.Type) -> String { "text \(filler.next())" }
  func decode(_ type: Double.Type) -> Double { Double(filler.next()) + 0.5 }
  func decode(_ type: Float.Type) -> Float { Float(filler.next()) + 0.5 }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let whole = type as? any FixedWidthInteger.Type, let value = integer(whole) as? Value {
      return value
    }
    return try filler.value(type)
  }

  private func integer<Whole: FixedWidthInteger>(_ type: Whole.Type) -> Any {
    Whole(truncatingIfNeeded: filler.next())
  }
}

/// An object with whatever key is asked for; a dictionary gets one key.
private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let filler: Filler
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [Key(stringValue: "key")].compactMap(\.self) }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try Single(filler: filler).decode(type)
  }
  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> {
    filler.container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    filler.unkeyedContainer()
  }
  func superDecoder() -> any Decoder { filler }
  func superDecoder(forKey key: Key) -> any Decoder { filler }
}

/// An array of one element.
private struct Elements: UnkeyedDecodingContainer {
  let filler: Filler
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 1 }
  var isAtEnd: Bool { currentIndex > 0 }
  private(set) var currentIndex = 0

  init(filler: Filler) { self.filler = filler }

  mutating func decodeNil() -> Bool { false }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    currentIndex += 1
    return try Single(filler: filler).decode(type)
  }
  mutating func nestedContainer<Nested>(
    keyedBy type: Nested.Type
  ) -> KeyedDecodingContainer<Nested> {
    currentIndex += 1
    return filler.container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    currentIndex += 1
    return filler.unkeyedContainer()
  }
  mutating func superDecoder() -> any Decoder { filler }
}
