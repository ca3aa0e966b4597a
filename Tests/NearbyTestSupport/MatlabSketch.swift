// SPDX-License-Identifier: Apache-2.0
internal import CZlib

/// A MATLAB file of version 5 made by hand: tables of doubles, compressed or not.
public struct MatlabSketch {
  /// The tables, row by row.
  public var tables: [(name: String, rows: [[Double]])]
  /// Whether each table is packed.
  public var isCompressed: Bool

  /// Makes a file of tables.
  public init(tables: [(name: String, rows: [[Double]])], isCompressed: Bool = false) {
    self.tables = tables
    self.isCompressed = isCompressed
  }

  /// The file.
  public var bytes: [UInt8] {
    var header = Array("MATLAB 5.0 MAT-file, made by hand".utf8)
    header += Array(repeating: UInt8(ascii: " "), count: 124 - header.count)
    header += [0, 1, UInt8(ascii: "I"), UInt8(ascii: "M")]
    return header + tables.flatMap { isCompressed ? compressed(matrix($0)) : matrix($0) }
  }

  /// An array of two dimensions, its numbers in any type of storage, its class 6 for doubles.
  public func matrix(
    _ name: String, rows: Int, columns: Int, type: UInt32, body: [UInt8], flags: UInt32 = 6
  ) -> [UInt8] {
    // Names of up to four letters go into their tag, as MATLAB writes them.
    let letters = Array(name.utf8)
    let nameElement =
      [1, 0, UInt8(letters.count), 0] + letters + Array(repeating: 0, count: 4 - letters.count)
    return element(
      14,
      element(6, word(flags) + word(0)) + element(5, word(UInt32(rows)) + word(UInt32(columns)))
        + nameElement + element(type, body))
  }

  private func matrix(_ table: (name: String, rows: [[Double]])) -> [UInt8] {
    let columns = table.rows[0].count
    // By columns, as the format has it.
    let values = (0..<columns).flatMap { column in table.rows.map { $0[column] } }
    // Small whole numbers as bytes, others as doubles, as MATLAB writes them.
    let small = values.compactMap { UInt8(exactly: $0) }
    let isSmall = small.count == values.count
    let body =
      isSmall
      ? small
      : values.flatMap { value in (0..<8).map { UInt8(value.bitPattern >> (8 * $0) & 0xFF) } }
    return matrix(
      table.name, rows: table.rows.count, columns: columns, type: isSmall ? 2 : 9, body: body)
  }

  private func element(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
    let fill = (8 - body.count % 8) % 8
    return word(type) + word(UInt32(body.count)) + body + Array(repeating: 0, count: fill)
  }

  private func compressed(_ body: [UInt8]) -> [UInt8] {
    var length = compressBound(uLong(body.count))
    let packed = unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { room, count in
      let status = unsafe compress(room.baseAddress, &length, body, uLong(body.count))
      precondition(status == Z_OK, "zlib refused to compress")
      count = Int(length)
    }
    // The one element that is not filled up to eight bytes.
    return word(15) + word(UInt32(packed.count)) + packed
  }

  private func word(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) }
  }
}
