// SPDX-License-Identifier: Apache-2.0

/// What ``StateWriter`` writes as it is, without a container.
protocol SavedPrimitive {
  func write(to writer: StateWriter)
  static func read(from reader: StateReader) throws -> Self
}

extension Double: SavedPrimitive {
  /// By its bits, so that -0, infinities and every NaN stay what they are.
  func write(to writer: StateWriter) { writer.append(bitPattern) }
  static func read(from reader: StateReader) throws -> Double {
    Double(bitPattern: try reader.takeWord())
  }
}

extension Bool: SavedPrimitive {
  func write(to writer: StateWriter) { writer.append(byte: self ? 1 : 0) }
  static func read(from reader: StateReader) throws -> Bool {
    switch try reader.takeByte() {
    case 0: return false
    case 1: return true
    case let other: throw reader.error("a Boolean of \(other)")
    }
  }
}

extension Int: SavedPrimitive {
  /// An engine counts, and nothing that it counts comes near this: a sum of some that are read does
  /// not overflow.
  static let mostSaved = 1 << 48

  func write(to writer: StateWriter) { Int64(self).write(to: writer) }
  static func read(from reader: StateReader) throws -> Int {
    let value = try Int64.read(from: reader)
    guard let count = Int(exactly: value), (-mostSaved...mostSaved).contains(count) else {
      throw reader.error("a count of \(value)")
    }
    return count
  }
}

extension Int64: SavedPrimitive {
  /// Seven bits to a byte, the sign first: most are small.
  func write(to writer: StateWriter) {
    writer.append(length: UInt64(bitPattern: (self << 1) ^ (self >> 63)))
  }
  static func read(from reader: StateReader) throws -> Int64 {
    let bits = try reader.takeLength()
    return Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)
  }
}

extension Int32: SavedPrimitive {
  func write(to writer: StateWriter) { Int64(self).write(to: writer) }
  static func read(from reader: StateReader) throws -> Int32 {
    let value = try Int64.read(from: reader)
    guard let small = Int32(exactly: value) else { throw reader.error("a number of \(value)") }
    return small
  }
}

extension UInt16: SavedPrimitive {
  func write(to writer: StateWriter) { Int64(self).write(to: writer) }
  static func read(from reader: StateReader) throws -> UInt16 {
    let value = try Int64.read(from: reader)
    guard let small = UInt16(exactly: value) else { throw reader.error("a set of \(value)") }
    return small
  }
}

extension String: SavedPrimitive {
  func write(to writer: StateWriter) { writer.append(text: self) }
  static func read(from reader: StateReader) throws -> String { try reader.takeText() }
}

/// Performance: as one block. Banks, covariances and priors are most of a state.
extension [Double]: SavedPrimitive {
  func write(to writer: StateWriter) {
    writer.append(length: UInt64(count))
    for element in self { writer.append(element.bitPattern) }
  }
  static func read(from reader: StateReader) throws -> [Double] {
    let count = try reader.takeCount(ofSize: MemoryLayout<Double>.size)
    var elements: [Double] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(Double(bitPattern: try reader.takeWord())) }
    return elements
  }
}

/// An optional element of a list: the only place where a `nil` takes a byte.
protocol SavedOptional {
  var isNone: Bool { get }
}

extension Optional: SavedOptional {
  var isNone: Bool { if case .none = self { true } else { false } }
}
