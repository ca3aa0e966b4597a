// SPDX-License-Identifier: Apache-2.0

/// The small files of a recording, each of which is read from the disk once.
///
/// A run, the errors of the trajectories and the evaluation of what was smoothed all go through the same
/// files. What they see is then the same, even if a file changes meanwhile.
final class KeptFiles: Sendable {
  /// The largest size of a file that is kept, bytes.
  ///
  /// Larger ones are streamed each time.
  static let largestFile = 16 << 20

  private let bytesOfPath = Locked<[String: [UInt8]]>([:])

  /// A file, with its bytes if it is small.
  ///
  /// - Parameter file: The file on the disk.
  /// - Returns: The file; a fault of the file is left to its reader to find.
  func kept(_ file: TextFile) -> TextFile {
    var file = file
    file.bytes = bytesOfPath.withLock { kept in
      if let bytes = kept[file.path] { return bytes }
      guard let size = FileBytes.size(path: file.path), size <= Self.largestFile,
        let bytes = try? FileBytes.read(path: file.path, limit: Self.largestFile)
      else { return nil }
      kept[file.path] = bytes
      return bytes
    }
    return file
  }
}

/// Which files are kept is no part of a recording's value.
extension KeptFiles: Hashable {
  static func == (one: KeptFiles, other: KeptFiles) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
