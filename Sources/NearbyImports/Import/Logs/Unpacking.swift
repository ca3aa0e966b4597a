// SPDX-License-Identifier: Apache-2.0
import CBzip2
import CLZ4
import CZstd

/// Unpacks chunks of logs.
enum Unpacking {
  /// Unpacks an LZ4 frame; `nil` when it is damaged or of another size.
  static func lz4(_ packed: [UInt8], size: Int) -> [UInt8]? {
    var context: OpaquePointer?
    guard unsafe LZ4F_isError(LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))) == 0
    else { return nil }
    defer { _ = unsafe LZ4F_freeDecompressionContext(context) }
    var bytes = [UInt8](repeating: 0, count: size)
    var (read, written) = (0, 0)
    var hint = 1
    while hint != 0 {
      var (taken, given) = (packed.count - read, size - written)
      hint = unsafe packed.withUnsafeBytes { source in
        unsafe bytes.withUnsafeMutableBytes { target in
          unsafe LZ4F_decompress(
            context, target.baseAddress.map { unsafe $0 + written }, &given,
            source.baseAddress.map { unsafe $0 + read }, &taken, nil)
        }
      }
      if LZ4F_isError(hint) != 0 { return nil }
      read += taken
      written += given
      if hint != 0, taken == 0, given == 0 { return nil }
    }
    return written == size ? bytes : nil
  }

  /// Unpacks zstd; `nil` when it is damaged or of another size.
  static func zstd(_ packed: [UInt8], size: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: size)
    let count = unsafe packed.withUnsafeBytes { source in
      unsafe bytes.withUnsafeMutableBytes { target in
        unsafe ZSTD_decompress(
          target.baseAddress, target.count, source.baseAddress, source.count)
      }
    }
    return count == size ? bytes : nil
  }

  /// Unpacks bzip2; `nil` when it is damaged or of another size.
  ///
  /// The memory grows with what is unpacked, since a few bytes may claim any size.
  static func bzip2(_ packed: [UInt8], size: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var packed = packed
    let isWhole = unsafe packed.withUnsafeMutableBytes { source in
      var stream = unsafe bz_stream()
      guard unsafe BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK else { return false }
      defer { _ = unsafe BZ2_bzDecompressEnd(&stream) }
      unsafe stream.next_in = source.baseAddress?.assumingMemoryBound(to: CChar.self)
      unsafe stream.avail_in = UInt32(clamping: source.count)
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let given = unsafe piece.withUnsafeMutableBytes { target in
          unsafe stream.next_out = target.baseAddress?.assumingMemoryBound(to: CChar.self)
          unsafe stream.avail_out = UInt32(target.count)
          return unsafe BZ2_bzDecompress(&stream)
        }
        let count = unsafe piece.count - Int(stream.avail_out)
        bytes.append(contentsOf: piece.prefix(count))
        if given == BZ_STREAM_END { return true }
        // Without progress the data was cut off.
        guard given == BZ_OK, bytes.count <= size, count > 0 else { return false }
      }
    }
    return isWhole && bytes.count == size ? bytes : nil
  }
}
