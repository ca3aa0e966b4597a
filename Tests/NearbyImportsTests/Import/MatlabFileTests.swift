// SPDX-License-Identifier: Apache-2.0
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Reading MATLAB files")
struct MatlabFileTests {
  @Test("Tables come back, compressed or not", arguments: [false, true])
  func tables(isCompressed: Bool) throws {
    var sketch = MatlabSketch(tables: [
      ("A", [[1.5, -2], [3, 4e300], [5, 6]]), ("Row", [[7, 8]]),
    ])
    sketch.isCompressed = isCompressed
    let file = try MatlabFile(sketch.bytes, file: "a.mat")
    let first = try #require(file.matrices["A"])
    #expect(first.rows == 3)
    #expect(first.columns == 2)
    #expect(first.values == [1.5, 3, 5, -2, 4e300, 6])
    #expect(first[1, 1] == 4e300)
    #expect(file.matrices["Row"]?.values == [7, 8])
  }

  @Test(
    "Numbers are stored in any type",
    arguments: [
      (1, [0xFE, 0x02], [-2, 2]), (2, [0xFE, 0x02], [254, 2]),
      (3, [0xFE, 0xFF, 0x02, 0x00], [-2, 2]), (4, [0xFE, 0xFF, 0x02, 0x00], [65534, 2]),
      (5, [0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0], [-1, 1]),
      (6, [0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0], [4_294_967_295, 1]),
      (7, [0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0], [1, -2]),
      (12, Array(repeating: 0xFF, count: 8) + [1, 0, 0, 0, 0, 0, 0, 0], [-1, 1]),
      (13, [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [2, 1]),
    ] as [(UInt32, [UInt8], [Double])])
  func storage(type: UInt32, body: [UInt8], values: [Double]) throws {
    let sketch = MatlabSketch(tables: [])
    let bytes = sketch.bytes + sketch.matrix("x", rows: 1, columns: 2, type: type, body: body)
    #expect(try MatlabFile(bytes, file: "a.mat").matrices["x"]?.values == values)
  }

  @Test("Other classes of arrays are passed over")
  func otherClasses() throws {
    let sketch = MatlabSketch(tables: [("x", [[1]])])
    let body: [UInt8] = [1, 0]
    // Text has class 4; bit 11 of the flags says complex.
    let text = sketch.matrix("t", rows: 1, columns: 2, type: 2, body: body, flags: 4)
    let complex = sketch.matrix("c", rows: 1, columns: 2, type: 2, body: body, flags: 0x806)
    let file = try MatlabFile(sketch.bytes + text + complex, file: "a.mat")
    #expect(file.matrices.keys.sorted() == ["x"])
    let missing = try #require(throws: RecordingError.self) {
      try file.matrix("t", columns: 2, file: "a.mat")
    }
    #expect(missing.code == .missingValue)
  }

  @Test("A file of another kind is refused")
  func otherKinds() throws {
    var bytes = MatlabSketch(tables: [("x", [[1]])]).bytes
    for wrong in [[], Array("MATLAB 7.3 MAT-file".utf8), Array(bytes.prefix(127))] {
      let error = try #require(throws: RecordingError.self) {
        try MatlabFile(wrong, file: "a.mat")
      }
      #expect(error.code == .unsupportedFormat)
    }
    bytes.swapAt(126, 127)
    let error = try #require(throws: RecordingError.self) {
      try MatlabFile(bytes, file: "a.mat")
    }
    #expect(error.message.contains("byte order"))
  }

  @Test("Damage is located")
  func damage() throws {
    let sketch = MatlabSketch(tables: [])
    let short = sketch.matrix(
      "x", rows: 2, columns: 2, type: 9, body: Array(repeating: 0, count: 8))
    let error = try #require(throws: RecordingError.self) {
      try MatlabFile(sketch.bytes + short, file: "a.mat")
    }
    #expect(error.code == .malformedField)
    // Header 128, tag 8, flags 16, size 16, name 8, tag 8.
    #expect(error.message == "\"x\" does not hold 2 times 2 numbers at byte 184")
  }
}
