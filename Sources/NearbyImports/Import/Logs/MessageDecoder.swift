// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Decodes messages by their schema: in CDR, the binary form of ROS 2 (XCDR version 1), or in that of
/// ROS 1, which is little-endian, without alignment, and whose texts have no terminator.
struct MessageDecoder {
  private static let deepest = 32

  private let schema: RosSchema
  private var data: ByteCursor
  /// The position after the header.
  ///
  /// Numbers are aligned to their size, relative to it.
  private let start: Int
  /// The number of values that may still be decoded.
  ///
  /// It also limits values that take no bytes.
  private var valuesLeft: Int

  /// Whether numbers are aligned, texts end with a zero, and a message without fields takes a byte.
  private let isCDR: Bool

  private init(_ schema: RosSchema, _ data: ByteCursor, isCDR: Bool) {
    self.isCDR = isCDR
    self.schema = schema
    self.data = data
    start = data.position
    valuesLeft = 4 * data.count + 1024
  }

  /// Decodes a message of ROS 1.
  static func decode(
    ros1 message: ByteCursor, _ schema: RosSchema
  ) throws(RecordingError) -> MessageValue {
    var data = message
    data.isLittleEndian = true
    var decoder = MessageDecoder(schema, data, isCDR: false)
    return try decoder.message(schema.root, depth: 0)
  }

  /// Decodes a message in CDR.
  static func decode(
    cdr message: ByteCursor, _ schema: RosSchema
  ) throws(RecordingError) -> MessageValue {
    var data = message
    data.isLittleEndian = false
    let representation = try data.take(UInt16.self, "a message")
    try data.skip(2, "a message")
    guard representation <= 1 else {
      throw data.error(
        "a message in the representation \(representation) is not CDR,", code: .unsupportedFormat,
        remedy: "record with a middleware that writes plain CDR")
    }
    data.isLittleEndian = representation == 1
    var decoder = MessageDecoder(schema, data, isCDR: true)
    return try decoder.message(schema.root, depth: 0)
  }

  private mutating func message(_ type: String, depth: Int) throws(RecordingError) -> MessageValue {
    guard depth < Self.deepest, let fields = schema.types[type] else {
      throw data.error("\(type) is nested too deeply,")
    }
    // The message compiler inserts a byte into messages without fields.
    if fields.isEmpty, isCDR { try data.skip(1, type) }
    var members: [(key: String, value: MessageValue)] = []
    for field in fields {
      let value: MessageValue
      switch field.count {
      case .one: value = try element(field, depth)
      case .fixed(let count): value = .list(try elements(field, count, depth))
      case .sequence:
        let count = Int(try take(UInt32.self, field.name))
        guard count <= data.count else {
          throw data.error("\(field.name) cannot have \(count) elements,")
        }
        value = .list(try elements(field, count, depth))
      }
      members.append((field.name, value))
    }
    return .object(members)
  }

  private mutating func elements(
    _ field: RosSchema.Field, _ count: Int, _ depth: Int
  ) throws(RecordingError) -> [MessageValue] {
    var values: [MessageValue] = []
    for _ in 0..<count { values.append(try element(field, depth)) }
    return values
  }

  private mutating func element(
    _ field: RosSchema.Field, _ depth: Int
  ) throws(RecordingError) -> MessageValue {
    valuesLeft -= 1
    guard valuesLeft > 0 else { throw data.error("\(field.name) holds too many values,") }
    switch field.element {
    case .message(let type): return try message(type, depth: depth + 1)
    case .primitive(let primitive): return try value(primitive, field.name)
    }
  }

  private mutating func value(
    _ primitive: RosSchema.Primitive, _ name: String
  ) throws(RecordingError) -> MessageValue {
    switch primitive {
    case .bool: return .bool(try take(UInt8.self, name) != 0)
    case .int8: return .integer(Int64(try take(Int8.self, name)))
    case .uint8: return .integer(Int64(try take(UInt8.self, name)))
    case .int16: return .integer(Int64(try take(Int16.self, name)))
    case .uint16: return .integer(Int64(try take(UInt16.self, name)))
    case .int32: return .integer(Int64(try take(Int32.self, name)))
    case .uint32: return .integer(Int64(try take(UInt32.self, name)))
    case .int64: return .integer(try take(Int64.self, name))
    case .uint64:
      let number = try take(UInt64.self, name)
      return Int64(exactly: number).map(MessageValue.integer) ?? .number(Double(number))
    case .float32: return .number(Double(Float(bitPattern: try take(UInt32.self, name))))
    case .float64: return .number(Double(bitPattern: try take(UInt64.self, name)))
    case .string:
      let length = Int(try take(UInt32.self, name))
      let text = try data.take(length, name).rest
      return .text(
        String(decoding: isCDR && text.last == 0 ? text.dropLast() : text, as: UTF8.self))
    case .wideString:
      let length = Int(try take(UInt32.self, name))
      guard length <= data.count else { throw data.error("\(name) cannot be \(length) long,") }
      var units: [UInt16] = []
      for _ in 0..<length { units.append(try data.take(UInt16.self, name)) }
      return .text(String(decoding: units, as: UTF16.self))
    }
  }

  private mutating func take<Number: FixedWidthInteger>(
    _ type: Number.Type, _ name: String
  ) throws(RecordingError) -> Number {
    let size = MemoryLayout<Number>.size
    guard isCDR else { return try data.take(type, name) }
    let misplaced = (data.position - start) % size
    if misplaced > 0 { try data.skip(size - misplaced, name) }
    return try data.take(type, name)
  }
}
