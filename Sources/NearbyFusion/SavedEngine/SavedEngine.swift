// SPDX-License-Identifier: Apache-2.0

/// The envelope around an engine's state.
///
/// | bytes | what |
/// |---|---|
/// | 8 | eight bytes that are always the same |
/// | 4 | ``formatVersion`` |
/// | 1, n | the version of this package that wrote them, UTF-8, after its length |
/// | 8 | the length of the state |
/// | … | the state |
/// | 8 | FNV-1a of all bytes before |
///
/// Numbers are little-endian.
public enum SavedEngine {
  /// The number of the format that ``FusionEngine/saved()`` writes, and the only one that is read.
  ///
  /// It changes with every change of what an engine holds.
  public static let formatVersion = 1

  /// The first has the high bit set, so that no text begins like this; the last ones are changed by a
  /// transfer that converts line ends.
  static let magic: [UInt8] = [0x8E] + Array("NEARB".utf8) + [0x0D, 0x0A]

  /// Puts a state into an envelope.
  static func wrapped(_ state: [UInt8]) -> [UInt8] {
    let version = Array(NearbyVersion.current.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(magic.count + version.count + state.count + 21)
    bytes += magic
    bytes.append(littleEndian: UInt32(formatVersion))
    bytes.append(UInt8(version.count))
    bytes += version
    bytes.append(littleEndian: UInt64(state.count))
    bytes += state
    bytes.append(littleEndian: checksum(bytes[...]))
    return bytes
  }

  /// Takes a state out of its envelope.
  ///
  /// - Parameter bytes: The envelope with the state.
  /// - Returns: The state and the version that wrote it.
  /// - Throws: What is wrong with the envelope.
  static func unwrapped(
    _ bytes: [UInt8]
  ) throws(SavedEngineError) -> (state: ArraySlice<UInt8>, version: String) {
    guard bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) else {
      throw .notAnEngine
    }
    var end = magic.count
    func take(_ count: Int) throws(SavedEngineError) -> ArraySlice<UInt8> {
      guard count <= bytes.count - end else {
        throw .cutOff(expected: end + min(count, .max - end), found: bytes.count)
      }
      defer { end += count }
      return bytes[end..<end + count]
    }
    let format = Int(UInt32(truncatingIfNeeded: number(try take(4))))
    guard format == formatVersion else {
      throw .otherFormat(found: format, supported: formatVersion)
    }
    let version = String(decoding: try take(Int(number(try take(1)))), as: UTF8.self)
    guard let count = Int(exactly: number(try take(8))) else { throw .damaged }
    let state = try take(count)
    let sum = checksum(bytes[..<end])
    guard number(try take(8)) == sum, end == bytes.count else { throw .damaged }
    return (state, version)
  }

  /// FNV-1a with 64 bits: any change of one byte changes it.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension [UInt8] {
  /// Appends the bytes of a number, the least significant first.
  mutating func append(littleEndian number: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }
}
