// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Reading from and writing to a descriptor.
package enum FileDescriptor {
  /// Writes bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - descriptor: The descriptor.
  /// - Returns: The system's error number; `nil` when everything was written.
  package static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt? {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe bytes.baseAddress.map {
          unsafe Glibc.write(descriptor, $0 + start, bytes.count - start)
        } ?? 0
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return errno }
      start += count
    }
    return nil
  }

  /// Reads bytes into the rest of a buffer; it waits for the first one only.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - bytes: The buffer.
  ///   - filled: The number of bytes in it that are kept.
  /// - Returns: The number of bytes read, zero at the end; `nil` when the system refuses, with `errno` set.
  package static func read(
    _ descriptor: CInt, into bytes: inout [UInt8], from filled: Int = 0
  ) -> Int? {
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe bytes.baseAddress.map {
          unsafe Glibc.read(descriptor, $0 + filled, bytes.count - filled)
        } ?? 0
      }
      if count < 0, errno == EINTR { continue }
      return count < 0 ? nil : count
    }
  }
}
