// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// What a folder holds besides the files of its kind: notes, pictures, somebody else's folders.
struct ForeignItems {
  private let folder: String
  private let isOwn: (String) -> Bool

  /// Refers to the items of a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder's path.
  ///   - isOwn: Whether a path below the folder is that of a file of its kind.
  init(in folder: String, isOwn: @escaping (String) -> Bool) {
    self.folder = folder
    self.isOwn = isOwn
  }

  /// Gives the items a second place in another folder of the same file system.
  ///
  /// Files are linked, not moved: whenever the process is killed, each is in one of the folders, and none
  /// is lost with the other.
  ///
  /// - Parameter other: The other folder, which exists.
  /// - Throws: When an item cannot be kept.
  func link(into other: String) throws(RecordingError) { try link("", into: other) }

  private func link(_ inner: String, into other: String) throws(RecordingError) {
    for name in contents(of: inner) {
      let path = inner.isEmpty ? name : "\(inner)/\(name)"
      if isOwn(path) || isRemains(name, in: inner) { continue }
      var status = stat()
      guard unsafe lstat("\(folder)/\(path)", &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        if contents(of: path).isEmpty { try makeFolder(path, in: other) }
        try link(path, into: other)
      } else {
        try makeFolder(inner, in: other)
        try linkFile(path, status, into: other)
      }
    }
  }

  private func linkFile(
    _ path: String, _ status: stat, into other: String
  ) throws(RecordingError) {
    // A symbolic link is linked itself.
    let source = "\(folder)/\(path)"
    if unsafe linkat(AT_FDCWD, source, AT_FDCWD, "\(other)/\(path)", 0) == 0 { return }
    let reason = errno
    var there = stat()
    if reason == EEXIST, unsafe lstat("\(other)/\(path)", &there) == 0,
      there.st_ino == status.st_ino, there.st_dev == status.st_dev
    {
      return
    }
    throw cannotBeKept(path, reason)
  }

  /// Makes a folder and those above it, as the old ones were.
  private func makeFolder(_ path: String, in other: String) throws(RecordingError) {
    if path.isEmpty { return }
    if let end = path.lastIndex(of: "/") { try makeFolder(String(path[..<end]), in: other) }
    var status = stat()
    let hasMode = unsafe stat("\(folder)/\(path)", &status) == 0
    guard unsafe mkdir("\(other)/\(path)", 0o777) == 0 else {
      let reason = errno
      var there = stat()
      let isFolder =
        unsafe stat("\(other)/\(path)", &there) == 0 && there.st_mode & S_IFMT == S_IFDIR
      if isFolder { return }
      throw cannotBeKept(path, reason)
    }
    if hasMode { _ = unsafe chmod("\(other)/\(path)", status.st_mode & 0o7777) }
  }

  private func contents(of inner: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(inner)")) ?? []
  }

  /// Whether a killed process left the item when it wrote one of the folder's own files.
  private func isRemains(_ name: String, in inner: String) -> Bool {
    guard let target = AtomicFolder.target(ofRemains: name) else { return false }
    return isOwn(inner.isEmpty ? target : "\(inner)/\(target)")
  }

  private func cannotBeKept(_ path: String, _ reason: CInt) -> RecordingError {
    .occupied(
      "\(path) is in the folder and cannot be kept (\(unsafe String(cString: strerror(reason)))), so "
        + "nothing is overwritten", folder, "move it away, or choose another output folder")
  }
}
