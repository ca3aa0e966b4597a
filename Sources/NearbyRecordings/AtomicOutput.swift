// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A file that appears whole or not at all.
///
/// It is written under another name in the same folder and renamed by ``commit()``. Without a commit
/// nothing remains, and what was there before is as it was. A process that is killed may leave a
/// hidden file that ends in `.partial`. Nothing is forced to the disk: against a loss of power the file
/// is as safe as any other.
///
/// ```swift
/// var file = try AtomicFile(path: "out/estimates.csv")
/// var text = OutputText()
/// text.append("timestamp,peer\n")
/// try file.write(text)
/// try file.commit()
/// ```
public struct AtomicFile: ~Copyable {
  /// Where the file is to appear.
  public let path: String
  /// Where it is written until then.
  let temporaryPath: String
  private var descriptor: CInt

  /// Starts a file; its folder must exist.
  ///
  /// - Parameter path: Where the file is to appear; a file that is there will be replaced.
  /// - Throws: ``RecordingError`` when nothing can be written there.
  public init(path: String) throws(RecordingError) {
    let temporaryPath = Self.temporarySibling(of: path)
    // Readable as the umask has it, as any file that a program writes.
    let descriptor = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .unwritable(path, reason: errno) }
    self.path = path
    self.temporaryPath = temporaryPath
    self.descriptor = descriptor
  }

  /// Writes text at the end.
  ///
  /// - Parameter text: The text.
  /// - Throws: ``RecordingError`` when it cannot be written, or holds a number that is not finite.
  public mutating func write(_ text: OutputText) throws(RecordingError) {
    try text.checkIsFinite(for: path)
    try text.withSpan { (bytes) throws(RecordingError) in try write(bytes) }
  }

  /// Writes text at the end.
  ///
  /// - Parameter text: The text.
  /// - Throws: ``RecordingError`` when it cannot be written.
  public mutating func write(_ text: String) throws(RecordingError) {
    try write(Array(text.utf8).span)
  }

  /// Writes bytes at the end.
  ///
  /// - Parameter bytes: The bytes.
  /// - Throws: ``RecordingError`` when they cannot be written.
  public mutating func write(_ bytes: [UInt8]) throws(RecordingError) { try write(bytes.span) }

  private func write(_ bytes: Span<UInt8>) throws(RecordingError) {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.extracting(start...).withUnsafeBytes {
        unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .unwritable(path, reason: errno) }
      start += count
    }
  }

  /// Ends the file and puts it in its place.
  public consuming func commit() throws(RecordingError) {
    let closed = close(descriptor)
    descriptor = -1
    guard closed == 0 else { throw .unwritable(path, reason: errno) }
    guard unsafe rename(temporaryPath, path) == 0 else { throw .unwritable(path, reason: errno) }
  }

  deinit {
    if descriptor >= 0 { _ = close(descriptor) }
    // After a commit there is nothing of that name.
    _ = unsafe unlink(temporaryPath)
  }

  /// A name beside `path` that nobody uses: hidden, so that listings and globs do not see it.
  static func temporarySibling(of path: String) -> String {
    let url = URL(filePath: path)
    let name = ".\(url.lastPathComponent).\(UUID().uuidString.prefix(8)).partial"
    return url.deletingLastPathComponent().appending(path: name).path(percentEncoded: false)
  }
}

/// A folder that appears whole or not at all.
///
/// Its files are written into a hidden folder beside it, which ``commit()`` renames.
package struct AtomicFolder: ~Copyable {
  /// Where the folder is to appear.
  package let path: String
  /// Where to write until then.
  package let temporaryPath: String
  private let isReplaceable: Bool

  /// Starts a folder; folders above it are made as needed.
  ///
  /// - Parameters:
  ///   - path: Where the folder is to appear.
  ///   - marker: The file that a folder must hold to be replaced, if replacing is wanted. A folder
  ///     that is not empty and does not hold it is never touched.
  /// - Throws: ``RecordingError`` when the path is taken or cannot be written.
  package init(path: String, replacingFolderWith marker: String?) throws(RecordingError) {
    // Without the slash at its end: a rename needs the folder's own name.
    let url = URL(filePath: path).standardizedFileURL
    var plain = url.path(percentEncoded: false)
    while plain.count > 1 && plain.hasSuffix("/") { plain.removeLast() }
    let temporaryPath = AtomicFile.temporarySibling(of: plain)
    let isReplaceable = try Self.checkIsFree(plain, marker: marker)
    do {
      try FileManager.default.createDirectory(
        atPath: temporaryPath, withIntermediateDirectories: true)
    } catch {
      throw .unwritable(plain, reason: error.localizedDescription)
    }
    self.path = plain
    self.temporaryPath = temporaryPath
    self.isReplaceable = isReplaceable
  }

  /// Puts the folder in its place.
  package consuming func commit() throws(RecordingError) {
    guard isReplaceable else {
      // Over an empty folder a rename succeeds; over one that was filled meanwhile it does not.
      guard unsafe rename(temporaryPath, path) == 0 else { throw .unwritable(path, reason: errno) }
      return
    }
    let old = AtomicFile.temporarySibling(of: path)
    guard unsafe rename(path, old) == 0 else { throw .unwritable(path, reason: errno) }
    guard unsafe rename(temporaryPath, path) == 0 else {
      let reason = errno
      _ = unsafe rename(old, path)
      throw .unwritable(path, reason: reason)
    }
    try? FileManager.default.removeItem(atPath: old)
  }

  /// The name of the file or folder whose hidden remains a name is: what a process that was killed
  /// has left.
  ///
  /// - Parameter name: The name of a file or folder.
  /// - Returns: The name for which it was written; `nil` for any other name.
  package static func target(ofRemains name: String) -> String? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].isEmpty, parts[parts.count - 1] == "partial",
      parts[parts.count - 2].utf8.count == 8
    else { return nil }
    return parts[1...(parts.count - 3)].joined(separator: ".")
  }

  deinit {
    // After a commit there is nothing of that name.
    try? FileManager.default.removeItem(atPath: temporaryPath)
  }

  /// Whether there is a folder that will be replaced; an error when it may not be.
  private static func checkIsFree(
    _ path: String, marker: String?
  ) throws(RecordingError) -> Bool {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return false
    }
    guard isFolder.boolValue else {
      throw RecordingError(
        .unwritableFile, "there is a file of that name", file: path,
        remedy: "choose another output folder")
    }
    let contents: [String]
    do {
      contents = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw .unwritable(path, reason: error.localizedDescription)
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

extension RecordingError {
  /// The system refused to write, with its error number.
  static func unwritable(_ path: String, reason: CInt) -> RecordingError {
    unwritable(path, reason: unsafe String(cString: strerror(reason)))
  }

  /// The system refused to write, in its own words.
  static func unwritable(_ path: String, reason: String) -> RecordingError {
    RecordingError(
      .unwritableFile, "it cannot be written (\(reason))", file: path,
      remedy: "check that its folder exists, that you may write there and that space is left")
  }
}
