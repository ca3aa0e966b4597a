// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyFusion

/// Values as bytes, and back.
@Suite("SavedEngine: values as bytes")
struct StateWriterTests {
  private struct Inner: Codable, Equatable {
    var number = 0
    var text: String?
  }

  private enum Choice: Codable, Equatable {
    case nothing
    case something(Int, since: Inner)
  }

  private struct Everything: Codable, Equatable {
    var isSo = true
    var number = 0
    var word: Int64 = 0
    var small: Int32 = 0
    var bits: UInt16 = 0
    var value = 0.0
    var text = ""
    var values: [Double] = []
    var counts: [Int] = []
    var inner = Inner()
    var inners: [Inner?] = []
    var none: Inner?
    var choices: [Choice] = []
    @Numbers var numbers: InlineArray<3, Double> = [1, 2, 3]

    static func == (a: Everything, b: Everything) -> Bool { "\(a)" == "\(b)" }
  }

  private static let cases = [
    Everything(),
    Everything(
      isSo: false, number: -Int.mostSaved, word: .min, small: .min, bits: .max, value: -0.0,
      text: "é\u{0}", values: [.infinity, -.infinity, .leastNonzeroMagnitude],
      counts: [1, 128, -1], inner: Inner(number: 300, text: ""), inners: [nil, Inner(), nil],
      none: Inner(), choices: [.nothing, .something(2, since: Inner(text: "x"))]),
    Everything(number: Int.mostSaved, word: .max, values: [], inners: [], choices: [.nothing]),
  ]

  @Test("what was written is read", arguments: cases.indices)
  func roundTrip(index: Int) throws {
    let value = Self.cases[index]
    let bytes = try StateWriter.bytes(of: value)
    #expect(try StateReader.value(Everything.self, from: bytes[...]) == value)
    for count in bytes.indices {
      #expect(throws: DecodingError.self) {
        try StateReader.value(Everything.self, from: bytes[..<count])
      }
    }
    #expect(throws: DecodingError.self) {
      try StateReader.value(Everything.self, from: (bytes + [0])[...])
    }
  }

  @Test("every bit of a number stays", arguments: [0x7FF8_0000_0000_0001, 0xFFF0_0000_0000_0007])
  func notANumber(pattern: UInt64) throws {
    let bytes = try StateWriter.bytes(of: [Double(bitPattern: pattern)])
    let read = try StateReader.value([Double].self, from: bytes[...])
    #expect(read.map(\.bitPattern) == [pattern])
  }

  @Test("keys are written once")
  func keys() throws {
    let one = try StateWriter.bytes(of: [Inner(number: 1)]).count
    let two = try StateWriter.bytes(of: [Inner(number: 1), Inner(number: 1)]).count
    #expect(two - one == 4, "a mark, a key, a number and an end")
  }

  @Test("a length that cannot be is refused before room is made for it")
  func lengths() {
    let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
    #expect(throws: DecodingError.self) { try StateReader.value([Double].self, from: huge[...]) }
    #expect(throws: DecodingError.self) { try StateReader.value(String.self, from: huge[...]) }
    #expect(throws: DecodingError.self) { try StateReader.value(Int.self, from: huge[...]) }
  }

  private final class Nest: Codable {
    var inner: Nest?
  }

  @Test("structures within structures are refused")
  func depth() {
    let bytes: [UInt8] = [1, 5] + Array("inner".utf8) + [UInt8](repeating: 1, count: 100_000)
    #expect(throws: DecodingError.self) { try StateReader.value(Nest.self, from: bytes[...]) }
  }
}
