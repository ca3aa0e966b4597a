// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyRecordings

@Suite("Digits in registers")
struct EightDigitsTests {
  private func load(_ bytes: [UInt8]) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }.littleEndian
  }

  @Test("Digits end at the first byte that is none, whichever it is", arguments: 0...8)
  func digitsEnd(count: Int) {
    for other in UInt8.min...UInt8.max where !other.isDigit {
      let digits = (0..<count).map { UInt8(ascii: "1") + UInt8($0) }
      let eight = EightDigits(load(Array((digits + Array(repeating: other, count: 8)).prefix(8))))
      #expect(eight.count == count)
      #expect(eight.value(ofFirst: count) == UInt64(String(decoding: digits, as: UTF8.self)) ?? 0)
    }
  }

  @Test("A byte is found wherever it is, and no other is taken for it", arguments: 0..<8)
  func byteIsFound(place: Int) {
    for sought in [UInt8.comma, .quote] {
      for other in UInt8.min...UInt8.max where other != sought {
        var bytes = Array(repeating: other, count: 8)
        #expect(EightBytes(load(bytes)).places(of: sought) == 0)
        bytes[place] = sought
        #expect(EightBytes(load(bytes)).places(of: sought) == 0x80 << UInt64(8 * place))
      }
    }
  }

  @Test("The first bytes", arguments: [(0, 0), (1, 0xFF), (7, .max >> 8), (8, .max), (300, .max)])
  func firstBytes(count: Int, bits: UInt64) {
    #expect(EightBytes.first(count) == bits)
  }

  @Test("Sixteen digits as text", arguments: 0...16)
  func sixteenDigits(dropped: Int) throws {
    var number: UInt64 = 0
    for step in 0..<2_000 {
      number = (number &* 6_364_136_223_846_793_005 &+ UInt64(step)) % 10_000_000_000_000_000
      // Some short, some with zeros at their end.
      let shown = number / [1, 1_000_000_000, 1][step % 3] / 100_000 * [1, 1, 100_000][step % 3]
      let plain = String(shown)
      let text = String(repeating: "0", count: 16 - plain.count) + plain
      let digits = SixteenDigits(shown)
      var written = Array(repeating: UInt8.blank, count: 18)
      var span = written.mutableSpan
      var room = unsafe span.mutableBytes
      unsafe digits.dropping(dropped).write(into: &room, at: 1)
      let expected = text.dropFirst(dropped) + String(repeating: "0", count: dropped)
      try #require(String(decoding: written, as: UTF8.self) == " \(expected) ")
      try #require(digits.leadingZeros == text.prefix { $0 == "0" }.count)
      try #require(digits.trailingZeros == text.reversed().prefix { $0 == "0" }.count)
    }
  }
}
