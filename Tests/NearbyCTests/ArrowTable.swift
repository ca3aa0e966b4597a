// SPDX-License-Identifier: Apache-2.0
import CNearby

/// A table that the interface handed over, read as a C program would.
final class ArrowTable {
  var schema = ArrowSchema()
  var array = ArrowArray()

  deinit {
    schema.release?(&schema)
    array.release?(&array)
  }

  var rows: Int { Int(array.length) }

  var names: [String] {
    (0..<Int(schema.n_children)).map {
      String(cString: schema.children[$0]?.pointee.name ?? self.schema.name)
    }
  }

  func column(_ name: String) -> (type: ArrowSchema, values: ArrowArray) {
    // Index -1 traps, which is as good a failure of a test as any.
    let index = names.firstIndex(of: name) ?? -1
    return (
      schema.children[index]?.pointee ?? ArrowSchema(),
      array.children[index]?.pointee ?? ArrowArray()
    )
  }

  func isNull(_ values: ArrowArray, _ row: Int) -> Bool {
    guard let bitmap = values.buffers[0] else { return false }
    return bitmap.load(fromByteOffset: row >> 3, as: UInt8.self) >> UInt8(row & 7) & 1 == 0
  }

  /// Numbers of any kind; `nil` for null.
  func numbers(_ name: String) -> [Double?] {
    let (type, values) = column(name)
    guard let data = values.buffers[1] else { return [] }
    return (0..<rows).map { row in
      if isNull(values, row) { return nil }
      switch String(cString: type.format) {
      case "g": return data.load(fromByteOffset: 8 * row, as: Double.self)
      case "l": return Double(data.load(fromByteOffset: 8 * row, as: Int64.self))
      case "b":
        return Double(data.load(fromByteOffset: row >> 3, as: UInt8.self) >> UInt8(row & 7) & 1)
      default: return Double(data.load(fromByteOffset: 4 * row, as: Int32.self))
      }
    }
  }

  func words(_ name: String) -> [String?] {
    let words = column(name).values.dictionary.pointee
    guard let ends = words.buffers[1]?.assumingMemoryBound(to: Int32.self) else { return [] }
    let bytes = UnsafeRawBufferPointer(
      start: words.buffers[2], count: Int(ends[Int(words.length)]))
    return numbers(name).map { index in
      index.map { index in
        String(
          decoding: bytes[Int(ends[Int(index)])..<Int(ends[Int(index) + 1])], as: UTF8.self)
      }
    }
  }

  /// The pairs of a column's metadata, flat.
  func metadata(_ name: String) -> [String] {
    guard let start = column(name).type.metadata else { return [] }
    var place = UnsafeRawPointer(start)
    func count() -> Int {
      defer { place += 4 }
      return Int(place.loadUnaligned(as: Int32.self))
    }
    return (0..<2 * count()).map { _ in
      let bytes = UnsafeRawBufferPointer(start: place, count: count())
      defer { place += bytes.count }
      return String(
        decoding: UnsafeRawBufferPointer(start: place, count: bytes.count), as: UTF8.self)
    }
  }

  /// All values as bits, so that tables can be compared.
  var contents: [String: [String]] {
    Dictionary(
      uniqueKeysWithValues: names.map { name in
        let isText = column(name).values.dictionary != nil
        let texts =
          isText
          ? words(name).map { $0 ?? "null" }
          : numbers(name).map { $0.map { String($0.bitPattern, radix: 16) } ?? "null" }
        return (name, texts)
      })
  }
}

/// The newest failure of this thread.
struct LastFailure {
  let status: nearby_status
  let text: String
  let code: String
  let file: String
  let line: Int32
  let column: Int32

  init() {
    var error = nearby_error()
    _ = nearby_last_error(&error)
    status = error.status
    text = String(cString: error.text)
    code = String(cString: error.code)
    file = String(cString: error.file)
    (line, column) = (error.line, error.column)
  }
}
