// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A small file as a whole.
package enum FileBytes {
  /// The file's bytes.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: The bytes.
  /// - Throws: When the file is missing or cannot be read.
  package static func read(path: String) throws(RecordingError) -> [UInt8] {
    guard FileManager.default.fileExists(atPath: path) else {
      throw RecordingError(
        .missingFile, "there is no such file", file: path, remedy: "check the path of the file")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw RecordingError(
        .unreadableFile, "it cannot be read", file: path,
        remedy: "check that it is a file and that you may read it")
    }
    return [UInt8](data)
  }
}
