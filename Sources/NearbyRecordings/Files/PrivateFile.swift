// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A file that only this user may read, and that is gone at the latest when this process is told to end.
///
/// It lies in a new folder of its own, since others may write to the system's temporary folder.
package final class PrivateFile: Sendable {
  /// Its path.
  package let path: String
  private let folder: String

  /// Makes and writes the file.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - parent: The folder in which its own is made.
  ///   - text: What it holds.
  /// - Throws: When it cannot be written; nothing is left then.
  package init(
    _ name: String, below parent: String, holding text: String
  ) throws(RecordingError) {
    let pattern = "\(parent)/nearby-XXXXXX"
    folder = try UnfinishedWork.change { (items) throws(RecordingError) in
      var template = Array(pattern.utf8CString)
      guard unsafe mkdtemp(&template) != nil else { throw .unwritable(pattern, reason: errno) }
      let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      items[folder] = .folder
      return folder
    }
    path = "\(folder)/\(name)"
    do throws(RecordingError) {
      try Self.write(Array(text.utf8), to: path)
    } catch {
      remove()
      throw error
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(RecordingError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .unwritable(path, reason: errno) }
    defer { close(descriptor) }
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw .unwritable(path, reason: errno)
    }
  }

  /// Removes the file and its folder.
  package func remove() {
    UnfinishedWork.change { $0.removeValue(forKey: folder)?.remove(folder) }
  }
}
