// SPDX-License-Identifier: Apache-2.0

/// A property whose key is always in a JSON file, with `null` when there is no value.
///
/// Synthesised coding leaves the keys of missing values out, but readers of tables want each key in each
/// row. With this wrapper the coding stays synthesised, so that it cannot forget a property.
@propertyWrapper
public struct OrNull<Value> {
  /// The value, if there is one.
  public var wrappedValue: Value?

  /// Wraps a value.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension OrNull: Equatable where Value: Equatable {}
extension OrNull: Hashable where Value: Hashable {}
extension OrNull: Sendable where Value: Sendable {}

extension OrNull: Encodable where Value: Encodable {
  /// Encodes the value or `null`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension OrNull: Decodable where Value: Decodable {
  /// Decodes the value or `null`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a value, which may be `null` or left out.
  ///
  /// Synthesised coding prefers this to the general function, which demands the key.
  public func decode<Value: Decodable>(
    _ type: OrNull<Value>.Type, forKey key: Key
  ) throws -> OrNull<Value> {
    OrNull(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}
