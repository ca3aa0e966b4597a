// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// A folder that appears whole or not at all.
///
/// Its files are written into a hidden folder beside it, which ``commit()`` renames. What a replaced folder
/// holds besides the files of its kind is somebody else's and stays.
package struct AtomicFolder: ~Copyable {
  /// The folders that may be replaced.
  package struct Kind: Sendable {
    /// The file that each of them holds.
    package var marker: String
    /// Whether a path below the folder is that of a file of this kind, which goes with the old folder.
    package var isOwn: @Sendable (_ path: String) -> Bool

    /// Makes a kind.
    package init(marker: String, isOwn: @escaping @Sendable (_ path: String) -> Bool) {
      self.marker = marker
      self.isOwn = isOwn
    }
  }

  /// The path of the finished folder.
  package let path: String
  /// The path at which its files are written until then.
  package let temporaryPath: String
  private let kind: Kind?
  /// `nil` in memory.
  private var temporary: TemporaryItem?
  /// `nil` on the disk.
  private let inMemory: TemporaryPlace?

  /// Starts a folder; folders above it are made as needed.
  ///
  /// - Parameters:
  ///   - path: The path of the finished folder.
  ///   - kind: The kind of folder that is replaced, if replacing is wanted. A folder that is not empty and
  ///     not of this kind is never touched.
  /// - Throws: ``RecordingError`` when the path is taken or cannot be written.
  package init(path: String, replacing kind: Kind?) throws(RecordingError) {
    if let place = MemoryPlace(path) {
      _ = try Self.checkIsFree(place, kind)
      self.path = place.path
      self.kind = kind
      let written = TemporaryPlace(for: place)
      temporaryPath = written.place.path
      inMemory = consume written
      temporary = nil
      return
    }
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
    let lock = FolderLock(around: plain)
    Self.endReplacement(of: plain, kind)
    _ = try Self.checkIsFree(plain, kind)
    _ = consume lock
    self.path = plain
    self.kind = kind
    temporaryPath = temporary.path
    self.temporary = consume temporary
    inMemory = nil
  }

  /// Renames the folder to its path.
  ///
  /// Another process may have made or replaced the folder meanwhile. One of them replaces it at a time.
  package consuming func commit() throws(RecordingError) {
    if let place = MemoryPlace(path), let written = MemoryPlace(temporaryPath) {
      if try Self.checkIsFree(place, kind), let kind {
        for file in place.files where kind.isOwn(file) { place.appending(file).remove() }
      }
      for file in written.files { inMemory?.commit(file: file, to: place.appending(file)) }
      return
    }
    let lock = FolderLock(around: path)
    let isReplaced = try Self.checkIsFree(path, kind)
    guard isReplaced, let kind else {
      try temporary?.commit(to: path, isWritten: false)
      return
    }
    try ForeignItems(in: path, isOwn: kind.isOwn).link(into: temporaryPath)
    let old = Self.replacedPath(of: path)
    guard unsafe rename(path, old) == 0 else { throw .unwritable(path, reason: errno) }
    do throws(RecordingError) {
      try temporary?.commit(to: path, isWritten: false)
    } catch {
      _ = unsafe rename(old, path)
      throw error
    }
    Self.endReplacement(of: path, kind)
    _ = consume lock
  }

  /// The path of the old folder during its replacement.
  private static func replacedPath(of path: String) -> String {
    let url = URL(filePath: path)
    return url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).~old.partial")
      .path(percentEncoded: false)
  }

  /// Completes a replacement, also one that a killed process had begun: the old folder is removed, or
  /// restored when there is no new one.
  private static func endReplacement(of path: String, _ kind: Kind?) {
    let old = replacedPath(of: path)
    guard FileManager.default.fileExists(atPath: old) else { return }
    guard FileManager.default.fileExists(atPath: path) else {
      _ = unsafe rename(old, path)
      return
    }
    // Somebody may have put something into the old folder until the last moment.
    if let kind { try? ForeignItems(in: old, isOwn: kind.isOwn).link(into: path) }
    try? FileManager.default.removeItem(atPath: old)
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

  /// The path that an item will have once the unfinished folders in which it is written are finished.
  ///
  /// - Parameter path: The path of the item as it is written.
  /// - Returns: The path for a person to read.
  static func finished(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .map { target(ofRemains: String($0)) ?? String($0) }.joined(separator: "/")
  }

  /// Whether there is a folder that will be replaced; an error when it may not be.
  private static func checkIsFree(_ path: String, _ kind: Kind?) throws(RecordingError) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw .occupied("there is a file of that name", path, "choose another output folder")
    }
    let contents: [String]
    do {
      contents = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw .unwritable(path, reason: error.systemReason)
    }
    return try checkIsFree(path, contents, kind)
  }

  /// The same of a folder in memory.
  private static func checkIsFree(
    _ place: MemoryPlace, _ kind: Kind?
  ) throws(RecordingError) -> Bool {
    guard place.bytes == nil else {
      throw .occupied("there is a file of that name", place.path, "choose another output folder")
    }
    let contents = Set(place.files.map { $0.prefix { $0 != "/" } })
    return try checkIsFree(
      place.path, contents.map(String.init).filter { !$0.hasSuffix(".partial") }, kind)
  }

  /// The same of a folder with some items.
  private static func checkIsFree(
    _ path: String, _ contents: [String], _ kind: Kind?
  ) throws(RecordingError) -> Bool {
    if contents.isEmpty { return false }
    guard let kind else {
      throw .occupied(
        "the folder exists and is not empty", path,
        "choose another output folder, or ask for the old one to be overwritten")
    }
    guard contents.contains(kind.marker) else {
      throw .occupied(
        "the folder is not empty and holds no \(kind.marker), so it is not overwritten", path,
        "choose another output folder")
    }
    return true
  }
}
