// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// A folder that appears whole or not at all.
///
/// Its files are written into a hidden folder beside it, which ``commit()`` renames.
package struct AtomicFolder: ~Copyable {
  /// The path of the finished folder.
  package let path: String
  /// The path at which its files are written until then.
  package var temporaryPath: String { temporary.path }
  private let isReplaceable: Bool
  private var temporary: TemporaryItem

  /// Starts a folder; folders above it are made as needed.
  ///
  /// - Parameters:
  ///   - path: The path of the finished folder.
  ///   - marker: The file that a folder must hold to be replaced, if replacing is wanted. A folder
  ///     that is not empty and does not hold it is never touched.
  /// - Throws: ``RecordingError`` when the path is taken or cannot be written.
  package init(path: String, replacingFolderWith marker: String?) throws(RecordingError) {
    // Without the slash at its end: a rename needs the folder's own name.
    let url = URL(filePath: path).standardizedFileURL
    var plain = url.path(percentEncoded: false)
    while plain.count > 1 && plain.hasSuffix("/") { plain.removeLast() }
    do {
      try FileManager.default.createDirectory(
        at: URL(filePath: plain).deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw .unwritable(plain, reason: error.systemReason)
    }
    let temporary = try TemporaryItem(folderFor: plain)
    if temporary.hasUsualName { Self.endReplacement(of: plain) }
    isReplaceable = try Self.checkIsFree(plain, marker: marker)
    self.path = plain
    self.temporary = temporary
  }

  /// Renames the folder to its path.
  package consuming func commit() throws(RecordingError) {
    guard isReplaceable else {
      // A rename replaces an empty folder and fails if the folder was filled meanwhile.
      return try temporary.commit(to: path, isWritten: false)
    }
    let old = Self.replacedPath(of: path)
    guard unsafe rename(path, old) == 0 else { throw .unwritable(path, reason: errno) }
    do throws(RecordingError) {
      try temporary.commit(to: path, isWritten: false)
    } catch {
      _ = unsafe rename(old, path)
      throw error
    }
    try? FileManager.default.removeItem(atPath: old)
  }

  /// The path of the old folder during its replacement.
  private static func replacedPath(of path: String) -> String {
    let url = URL(filePath: path)
    return url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).~old.partial")
      .path(percentEncoded: false)
  }

  /// Completes a replacement that a killed process had begun: the old folder is removed, or
  /// restored when there is no new one.
  private static func endReplacement(of path: String) {
    let old = replacedPath(of: path)
    guard FileManager.default.fileExists(atPath: old) else { return }
    if FileManager.default.fileExists(atPath: path) {
      try? FileManager.default.removeItem(atPath: old)
    } else {
      _ = unsafe rename(old, path)
    }
  }

  /// Removes the remains of a killed process that was writing the folder.
  ///
  /// - Parameter path: The path of the folder.
  package static func removeRemains(of path: String) {
    // Creating the item takes over the remains; releasing it removes them.
    _ = try? TemporaryItem(folderFor: path)
  }

  /// The file or folder that a killed process was writing when it left a hidden item of the given
  /// name.
  ///
  /// - Parameter name: The name of a file or folder.
  /// - Returns: The name for which it was written; `nil` for any other name.
  package static func target(ofRemains name: String) -> String? {
    guard name.hasPrefix("."), name.hasSuffix(".partial") else { return nil }
    let inner = name.dropFirst().dropLast(".partial".count)
    guard let point = inner.lastIndex(of: ".") else { return inner.isEmpty ? nil : String(inner) }
    let mark = inner[inner.index(after: point)...]
    let isMarked = mark == "~old" || mark.utf8.count == 8 && mark.allSatisfy(\.isHexDigit)
    return String(isMarked ? inner[..<point] : inner)
  }

  /// Whether there is a folder that will be replaced; an error when it may not be.
  private static func checkIsFree(
    _ path: String, marker: String?
  ) throws(RecordingError) -> Bool {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return false
    }
    guard isFolder else {
      throw RecordingError(
        .unwritableFile, "there is a file of that name", file: path,
        remedy: "choose another output folder")
    }
    let contents: [String]
    do {
      contents = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw .unwritable(path, reason: error.systemReason)
    }
    if contents.isEmpty { return false }
    guard let marker else {
      throw RecordingError(
        .unwritableFile, "the folder exists and is not empty", file: path,
        remedy: "choose another output folder, or ask for the old one to be overwritten")
    }
    guard contents.contains(marker) else {
      throw RecordingError(
        .unwritableFile, "the folder is not empty and holds no \(marker), so it is not overwritten",
        file: path, remedy: "choose another output folder")
    }
    return true
  }
}
