// SPDX-License-Identifier: Apache-2.0
import NearbySimulation

/// The kinds of damage that storage, transfers and attackers do to bytes.
enum Damage: CaseIterable {
  case bitsFlipped, cutShort, spliced, repeated, bytesLost, bytesAdded
  /// A number of a text, and some bytes that may be one.
  case numbersReplaced, wordsReplaced

  /// The largest size of a file, since the tests do not search for slowness.
  private static let mostBytes = 64 << 10
  private static let oddBytes =
    Array("\0\"\\\n\r,.-+#eE09nN{}[]:;/\u{FEFF}é \t\u{1B}".utf8) + [0xFF, 0x80, 0xC0]
  private static let numbers = [
    "0", "-0", "-1", "1e308", "-1e308", "1e-320", "1e999", "nan", "inf", "-inf", "NaN", "Infinity",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
    "9223372036.854775807", "9223372037", "4599999999.999999999", "4600000000", "2147483648",
    "0.1e-400", "1_000", "0x10", "1e", "--1", "", "99999999999999999999999999999999999999999999",
    "0.000000000000000000000000000000000000000000000000000000000001", "true", "null", "\"", "{}",
  ]
  private static let words: [UInt64] = [
    0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, .max, Double.nan.bitPattern,
    Double.infinity.bitPattern, (-Double.greatestFiniteMagnitude).bitPattern, (1e18).bitPattern,
  ]

  /// Does a few kinds of damage to bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - other: Other bytes, of which pieces may get into these.
  ///   - generator: The source of the random damage.
  static func apply(
    to bytes: inout [UInt8], with other: [UInt8], _ generator: inout SeededGenerator
  ) {
    for _ in 0..<generator.one(of: [1, 1, 2, 4]) {
      guard !bytes.isEmpty else { return }
      generator.one(of: allCases).apply(to: &bytes, with: other, &generator)
      if bytes.count > mostBytes { bytes.removeSubrange(mostBytes...) }
    }
  }

  private func apply(
    to bytes: inout [UInt8], with other: [UInt8], _ generator: inout SeededGenerator
  ) {
    let place = generator.number(0..<bytes.count)
    switch self {
    case .bitsFlipped: bytes[place] ^= 1 << UInt8(generator.number(0..<8))
    case .cutShort: bytes.removeSubrange(place...)
    case .spliced:
      let source = generator.happens(0.5) ? bytes : other
      bytes.replaceSubrange(
        Self.piece(of: bytes, at: place, &generator),
        with: source[Self.piece(of: source, at: nil, &generator)])
    case .repeated:
      let piece = Array(bytes[Self.piece(of: bytes, at: place, &generator)])
      for _ in 0..<generator.one(of: [1, 2, 10, 100]) where bytes.count <= Self.mostBytes {
        bytes.insert(contentsOf: piece, at: place)
      }
    case .numbersReplaced: Self.replaceNumber(in: &bytes, from: place, &generator)
    case .bytesLost: bytes.removeSubrange(Self.piece(of: bytes, at: place, &generator))
    case .bytesAdded: bytes.insert(generator.one(of: Self.oddBytes), at: place)
    case .wordsReplaced:
      let word = generator.one(of: Self.words)
      let size = generator.one(of: [1, 2, 4, 8])
      for index in 0..<min(size, bytes.count - place) {
        bytes[place + index] = UInt8(truncatingIfNeeded: word >> (8 * index))
      }
    }
  }

  /// Some bytes, mostly few.
  private static func piece(
    of bytes: [UInt8], at place: Int?, _ generator: inout SeededGenerator
  ) -> Range<Int> {
    guard !bytes.isEmpty else { return 0..<0 }
    let start = place ?? generator.number(0..<bytes.count)
    let longest = min(generator.one(of: [1, 4, 30, 1000]), bytes.count - start)
    return start..<start + generator.number(0..<longest + 1)
  }

  /// Replaces the next number in a text by an extreme one.
  private static func replaceNumber(
    in bytes: inout [UInt8], from place: Int, _ generator: inout SeededGenerator
  ) {
    let digits = Set("0123456789+-.eE".utf8)
    guard let start = bytes[place...].firstIndex(where: digits.contains) else { return }
    let end = bytes[start...].firstIndex { !digits.contains($0) } ?? bytes.endIndex
    bytes.replaceSubrange(start..<end, with: Array(generator.one(of: numbers).utf8))
  }
}
