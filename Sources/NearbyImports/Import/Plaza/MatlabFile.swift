// SPDX-License-Identifier: Apache-2.0
internal import CZlib
internal import NearbyRecordings

/// The two-dimensional arrays of doubles in a MATLAB file of version 5 (the `.mat` of `save -v6` and
/// `save -v7`), compressed or not.
///
/// Everything else in the file (text, structures, cells, complex and higher arrays) is skipped. The
/// layout is that of MathWorks' "MAT-File Format", chapter 1: a header of 128 bytes, then data
/// elements of a tag (type and length, four bytes each) and a body. Every length is checked before
/// it is used, so that a damaged file gives an error that names the byte.
struct MatlabFile {
  /// A matrix of doubles.
  struct Matrix {
    let rows: Int
    let columns: Int
    /// Column by column, as in the file.
    let values: [Double]

    subscript(row: Int, column: Int) -> Double { values[column * rows + row] }
  }

  /// The matrices by their names.
  let matrices: [String: Matrix]

  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - file: Its name, for errors.
  /// - Throws: `RecordingError` with the place when the file is damaged or of another kind.
  init(_ bytes: [UInt8], file: String) throws(RecordingError) {
    guard bytes.count >= Self.headerSize, bytes.starts(with: "MATLAB 5.0 MAT-file".utf8) else {
      throw RecordingError(
        .unsupportedFormat, "it does not begin as a MATLAB file of version 5 does", file: file,
        remedy: "save it with \"save -v7\"; version 7.3 and plain text are other formats")
    }
    guard bytes[126] == UInt8(ascii: "I"), bytes[127] == UInt8(ascii: "M") else {
      throw RecordingError(
        .unsupportedFormat, "it was written by a machine of the other byte order", file: file,
        remedy: "save it again on a little-endian machine")
    }
    var reader = MatlabReader(bytes[Self.headerSize...], file: file, offset: 0)
    var matrices: [String: Matrix] = [:]
    while !reader.isAtEnd {
      let element = try reader.element()
      switch element.type {
      case .matrix:
        if let (name, matrix) = try element.body.matrix() { matrices[name] = matrix }
      case .compressed:
        let inflated = try element.body.inflated()
        var inner = MatlabReader(inflated[...], file: file, offset: element.body.position)
        let content = try inner.element()
        if content.type == .matrix, let (name, matrix) = try content.body.matrix() {
          matrices[name] = matrix
        }
      default: break
      }
    }
    self.matrices = matrices
  }

  /// The matrix of a name, with the given number of columns and at least one row.
  func matrix(_ name: String, columns: Int, file: String) throws(RecordingError) -> Matrix {
    guard let matrix = matrices[name] else {
      throw RecordingError(
        .missingValue, "it holds no two-dimensional array of doubles \"\(name)\"", file: file,
        remedy: "check that it is the file it is named for")
    }
    guard matrix.columns == columns, matrix.rows > 0 else {
      throw RecordingError(
        .wrongFieldCount,
        "\"\(name)\" is \(matrix.rows) by \(matrix.columns), not n by \(columns)", file: file,
        remedy: "check that it is the file it is named for")
    }
    if let index = matrix.values.firstIndex(where: { !$0.isFinite }) {
      throw RecordingError(
        .notFinite,
        "\"\(name)\" holds \(matrix.values[index]) in row \(index % matrix.rows + 1)", file: file,
        remedy: "leave out rows without a number")
    }
    return matrix
  }

  private static let headerSize = 128
}

/// The types of data elements that matter here, by their numbers in the file.
private enum MatlabType: UInt32 {
  case int8 = 1
  case uint8, int16, uint16, int32, uint32, single
  case double = 9
  case int64 = 12
  case uint64, matrix, compressed

  /// Bytes per number; zero for elements that hold no numbers.
  var size: Int {
    switch self {
    case .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .single: 4
    case .double, .int64, .uint64: 8
    case .matrix, .compressed: 0
    }
  }
}

/// Reads data elements one after another.
private struct MatlabReader {
  /// A data element: its body, and its type, which is `nil` for types that are not read.
  struct Element {
    let type: MatlabType?
    let body: MatlabReader
  }

  private let file: String
  private var bytes: ArraySlice<UInt8>
  /// The position in the file of the compressed element, if this one is inflated from it.
  private let offset: Int

  init(_ bytes: ArraySlice<UInt8>, file: String, offset: Int) {
    self.bytes = bytes
    self.file = file
    self.offset = offset
  }

  var isAtEnd: Bool { bytes.isEmpty }

  /// The position in the file; in an inflated element, counted from the position of the compressed
  /// one.
  var position: Int { offset + bytes.startIndex }

  func damaged(_ message: String) -> RecordingError {
    RecordingError(
      .malformedField, "\(message) at byte \(position)", file: file,
      remedy: "the file is damaged or cut short; fetch it again")
  }

  /// Takes the next element and its padding to a multiple of eight bytes.
  mutating func element() throws(RecordingError) -> Element {
    guard bytes.count >= 8 else { throw damaged("the tag of a data element is cut short") }
    let first = unsigned(4)
    let length: Int
    let room: Int
    if first >> 16 != 0 {
      // A small element: two bytes of length, two of type, four of data.
      length = Int(first >> 16)
      room = 4
      guard length <= 4 else { throw damaged("a small data element is too long") }
      bytes.removeFirst(4)
    } else {
      bytes.removeFirst(4)
      length = Int(unsigned(4))
      bytes.removeFirst(4)
      room = bytes.count
    }
    guard length <= room else {
      throw damaged("a data element of \(length) bytes runs over the end")
    }
    let type = MatlabType(rawValue: UInt32(first & 0xFFFF))
    let body = MatlabReader(bytes.prefix(length), file: file, offset: offset)
    // Compressed elements are not padded, and the padding of the last element may be missing.
    let filled = room == 4 ? 4 : type == .compressed ? length : (length + 7) & ~7
    bytes.removeFirst(min(filled, bytes.count))
    return Element(type: type, body: body)
  }

  /// The body of a matrix; `nil` when it is not a real two-dimensional array of doubles.
  func matrix() throws(RecordingError) -> (name: String, MatlabFile.Matrix)? {
    var reader = self
    let flags = try reader.element().body
    guard flags.bytes.count == 8 else { throw flags.damaged("the flags of an array are missing") }
    // The array's class is in the lowest byte, 6 for doubles; bit 11 says that it is complex.
    let word = flags.unsigned(4)
    guard word & 0xFF == 6, word & 0x800 == 0 else { return nil }
    let dimensions = try reader.element()
    guard dimensions.body.bytes.count == 8, dimensions.type == .int32 else { return nil }
    var sizes = dimensions.body
    let rows = Int(Int32(truncatingIfNeeded: sizes.unsigned(4)))
    sizes.bytes.removeFirst(4)
    let columns = Int(Int32(truncatingIfNeeded: sizes.unsigned(4)))
    let name = String(decoding: try reader.element().body.bytes, as: UTF8.self)
    let data = try reader.element()
    guard let type = data.type, type.size > 0 else {
      throw data.body.damaged("the numbers of \"\(name)\" have an unknown type")
    }
    // Both are below 2³¹, so that their product with a size does not overflow.
    guard rows >= 0, columns >= 0, rows * columns == data.body.bytes.count / type.size,
      data.body.bytes.count % type.size == 0
    else {
      throw data.body.damaged("\"\(name)\" does not hold \(rows) times \(columns) numbers")
    }
    return (
      name, MatlabFile.Matrix(rows: rows, columns: columns, values: data.body.numbers(type))
    )
  }

  /// The numbers of the body as doubles.
  ///
  /// Integers are stored in the smallest type that fits.
  private func numbers(_ type: MatlabType) -> [Double] {
    var reader = self
    var numbers: [Double] = []
    numbers.reserveCapacity(bytes.count / type.size)
    while !reader.isAtEnd {
      let bits = reader.unsigned(type.size)
      reader.bytes.removeFirst(type.size)
      let number: Double =
        switch type {
        case .int8: Double(Int8(truncatingIfNeeded: bits))
        case .int16: Double(Int16(truncatingIfNeeded: bits))
        case .int32: Double(Int32(truncatingIfNeeded: bits))
        case .int64: Double(Int64(bitPattern: bits))
        case .single: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case .double: Double(bitPattern: bits)
        case .uint8, .uint16, .uint32, .uint64, .matrix, .compressed: Double(bits)
        }
      numbers.append(number)
    }
    return numbers
  }

  /// The unsigned number in the next bytes, least significant first; the caller has checked.
  private func unsigned(_ size: Int) -> UInt64 {
    bytes.prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The body, decompressed.
  func inflated() throws(RecordingError) -> [UInt8] {
    // Deflate packs at best about 1 : 1032; the limit keeps a hostile file from taking all memory.
    let limit = 256 * 1024 * 1024
    var capacity = max(4 * bytes.count, 4096)
    while capacity <= limit {
      var status = Z_OK
      let inflated = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
        var length = uLongf(capacity)
        status = unsafe bytes.withUnsafeBufferPointer { source in
          unsafe uncompress(room.baseAddress, &length, source.baseAddress, uLong(source.count))
        }
        count = status == Z_OK ? Int(length) : 0
      }
      if status == Z_OK { return inflated }
      guard status == Z_BUF_ERROR else { break }
      capacity *= 4
    }
    throw damaged("a compressed data element cannot be decompressed")
  }
}
