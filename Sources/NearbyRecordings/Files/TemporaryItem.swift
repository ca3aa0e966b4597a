// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// A hidden file or folder beside the one that it will become.
///
/// Its name is `.NAME.partial`, and it is locked as long as its process lives. The next process
/// that writes the same target finds the remains of a killed process unlocked and takes them over.
/// If two processes write one target at the same time, and on file systems without locks, the name
/// has a unique part: `.NAME.0123ABCD.partial`.
struct TemporaryItem: ~Copyable {
  /// Its path.
  let path: String
  /// Whether the name is the one without a unique part.
  let hasUsualName: Bool
  /// The file or folder, open, and the lock on it; a file is written through it.
  private(set) var descriptor: CInt
  private var isLive = true

  /// Makes an empty file; its folder must exist.
  init(fileFor target: String) throws(RecordingError) { try self.init(.file, for: target) }

  /// Makes an empty folder; the one around it must exist.
  init(folderFor target: String) throws(RecordingError) { try self.init(.folder, for: target) }

  private init(_ kind: UnfinishedWork.Kind, for target: String) throws(RecordingError) {
    let url = URL(filePath: target)
    let folder = url.deletingLastPathComponent()
    let name = { (mark: String) in
      folder.appending(path: ".\(url.lastPathComponent)\(mark).partial")
        .path(percentEncoded: false)
    }
    let usual = name("")
    for _ in 0..<Self.attempts {
      switch Self.make(kind, at: usual) {
      case .made(let descriptor):
        self.init(path: usual, hasUsualName: true, descriptor: descriptor)
        return
      case .isInUse:
        let unique = name(".\(UUID().uuidString.prefix(8))")
        if case .made(let descriptor) = Self.make(kind, at: unique) {
          self.init(path: unique, hasUsualName: false, descriptor: descriptor)
          return
        }
      case .hasChanged: continue
      case .failed(let reason): throw .unwritable(target, reason: reason)
      }
    }
    throw .unwritable(target, reason: EAGAIN)
  }

  private init(path: String, hasUsualName: Bool, descriptor: CInt) {
    self.path = path
    self.hasUsualName = hasUsualName
    self.descriptor = descriptor
  }

  /// Renames it to its target; it stays locked until then.
  ///
  /// - Parameters:
  ///   - target: Where to.
  ///   - isWritten: Whether a loss of what was written through the descriptor is to be found out first.
  /// - Throws: When the system refuses.
  mutating func commit(to target: String, isWritten: Bool) throws(RecordingError) {
    if isWritten {
      let lock = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
      let closed = close(descriptor)
      descriptor = lock
      guard closed == 0 else { throw .unwritable(target, reason: errno) }
    }
    let path = path
    try UnfinishedWork.change { (items) throws(RecordingError) in
      guard unsafe rename(path, target) == 0 else { throw .unwritable(target, reason: errno) }
      items[path] = nil
    }
    isLive = false
  }

  deinit {
    if isLive {
      let path = path
      _ = UnfinishedWork.change { $0.removeValue(forKey: path)?.remove(path) }
    }
    if descriptor >= 0 { close(descriptor) }
  }

  // MARK: Making

  /// The number of attempts, since other processes may start, end or be killed at any time.
  private static let attempts = 16

  private enum Attempt {
    case made(CInt)
    /// A live process is writing it, or that cannot be determined.
    case isInUse
    /// It was created or removed meanwhile, or remains were removed.
    case hasChanged
    case failed(CInt)
  }

  private static func make(_ kind: UnfinishedWork.Kind, at path: String) -> Attempt {
    UnfinishedWork.change { items in
      let attempt = create(kind, at: path)
      if case .made = attempt { items[path] = kind }
      return attempt
    }
  }

  private static func create(_ kind: UnfinishedWork.Kind, at path: String) -> Attempt {
    let descriptor: CInt
    switch kind {
    case .file:
      // The umask sets the permissions, as for any file that a program writes.
      descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if descriptor < 0 { return errno == EEXIST ? takeOver(path) : .failed(errno) }
    case .folder, .emptyFolder:
      guard unsafe mkdir(path, 0o777) == 0 else {
        return errno == EEXIST ? takeOver(path) : .failed(errno)
      }
      descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if descriptor < 0 { return errno == ENOENT ? .hasChanged : .failed(errno) }
    }
    // A file system without locks gives nothing to wait for.
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    if isLocked, isSame(descriptor, path) { return .made(descriptor) }
    close(descriptor)
    return .hasChanged
  }

  /// Removes the remains of a process that has ended.
  private static func takeOver(_ path: String) -> Attempt {
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return errno == ENOENT ? .hasChanged : .isInUse }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return .isInUse }
    guard isSame(descriptor, path) else { return .hasChanged }
    do {
      try FileManager.default.removeItem(atPath: path)
      return .hasChanged
    } catch {
      return .isInUse
    }
  }

  /// Whether a path names the open file or folder.
  private static func isSame(_ descriptor: CInt, _ path: String) -> Bool {
    var (there, here) = (stat(), stat())
    return unsafe lstat(path, &there) == 0 && fstat(descriptor, &here) == 0
      && there.st_ino == here.st_ino && there.st_dev == here.st_dev
  }
}
