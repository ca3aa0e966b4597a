// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// A file that appears whole or not at all.
///
/// It is written under another name in the same folder and renamed by ``commit()``. Without a
/// commit nothing remains, and a previous file is unchanged. A process that is killed may leave a
/// hidden file that ends in `.partial`; the next process that writes the same file removes it.
/// Nothing is forced to the disk, so the file is no safer against a loss of power than any other.
///
/// A device, a pipe or `/dev/stdout` is written in place. For a symbolic link, the target is
/// written.
///
/// ```swift
/// var file = try AtomicFile(path: "out/estimates.csv")
/// var text = OutputText()
/// text.append("timestamp,peer\n")
/// try file.write(text)
/// try file.commit()
/// ```
public struct AtomicFile: ~Copyable {
  /// The path of the finished file.
  public let path: String
  /// The path to which it is written until then.
  let temporaryPath: String

  /// The path of the file after resolving links.
  private let target: String
  private let descriptor: CInt
  /// `nil` when it is written in place.
  private var temporary: TemporaryItem?
  private var isOpenInPlace: Bool
  /// Where it is written in a ``MemoryFolder``; `nil` on the disk.
  private let inMemory: TemporaryPlace?

  /// Starts a file; its folder must exist.
  ///
  /// - Parameter path: The path of the finished file; an existing file is replaced.
  /// - Throws: ``RecordingError`` when nothing can be written there.
  public init(path: String) throws(RecordingError) {
    switch try Self.place(of: path) {
    case .memory(let place): self.init(inMemory: place)
    case .file(let target):
      self.init(path: path, target: target, try TemporaryItem(fileFor: target))
    case .somethingElse:
      let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC)
      if descriptor < 0 { throw .unwritable(path, reason: errno) }
      self.init(inPlace: descriptor, path: path)
    }
  }

  private init(path: String, target: String, _ temporary: consuming TemporaryItem) {
    self.path = path
    self.target = target
    temporaryPath = temporary.path
    descriptor = temporary.descriptor
    inMemory = nil
    self.temporary = consume temporary
    isOpenInPlace = false
  }

  private init(inMemory place: MemoryPlace) {
    path = place.path
    target = path
    let written = TemporaryPlace(for: place)
    written.place.folder.put([], as: written.place.name)
    temporaryPath = written.place.path
    inMemory = consume written
    descriptor = -1
    temporary = nil
    isOpenInPlace = false
  }

  private init(inPlace descriptor: CInt, path: String) {
    self.path = path
    target = path
    temporaryPath = path
    self.descriptor = descriptor
    temporary = nil
    inMemory = nil
    isOpenInPlace = true
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
    if inMemory != nil {
      inMemory?.append(bytes)
      return
    }
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.extracting(start...).withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .unwritable(path, reason: errno) }
      start += count
    }
  }

  /// Closes the file and renames it to its path.
  public consuming func commit() throws(RecordingError) {
    if let place = MemoryPlace(target) { inMemory?.commit(to: place) }
    if isOpenInPlace {
      isOpenInPlace = false
      guard close(descriptor) == 0 else { throw .unwritable(path, reason: errno) }
    }
    try temporary?.commit(to: target, isWritten: true)
  }

  /// Removes a finished file, if there is one.
  ///
  /// - Parameter path: Its path.
  /// - Throws: When the system refuses.
  package static func remove(_ path: String) throws(RecordingError) {
    if let place = MemoryPlace(path) { return place.remove() }
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw .unwritable(path, reason: errno)
    }
  }

  deinit {
    if isOpenInPlace { close(descriptor) }
  }

  private enum Place {
    /// A file in memory.
    case memory(MemoryPlace)
    /// A regular file, existing or not, with its path without links.
    case file(String)
    /// A device, a pipe, or a file that a shell has opened.
    case somethingElse
  }

  private static func place(of path: String) throws(RecordingError) -> Place {
    if let place = MemoryPlace(path) { return .memory(place) }
    // These paths name files that are open already. Replacing them would lose what other processes
    // write to them.
    let whole = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
    let opened = ["/dev/stdout", "/dev/stderr"]
    if opened.contains(whole) || whole.hasPrefix("/dev/fd/") || whole.hasPrefix("/proc/") {
      return .somethingElse
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return .file(path) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unwritable(path, reason: EISDIR)
    default: return .somethingElse
    }
    guard let resolved = unsafe realpath(path, nil) else { return .file(path) }
    defer { unsafe free(resolved) }
    return .file(unsafe String(cString: resolved))
  }
}

extension RecordingError {
  /// The system refused to write, with its error number.
  static func unwritable(_ path: String, reason: CInt) -> RecordingError {
    unwritable(path, reason: unsafe String(cString: strerror(reason)))
  }

  /// What is there is not to be touched.
  package static func occupied(
    _ message: String, _ path: String, _ remedy: String
  ) -> RecordingError {
    RecordingError(.occupiedOutput, message, file: path, remedy: remedy)
  }

  /// The system refused to write, with its message.
  static func unwritable(_ path: String, reason: String) -> RecordingError {
    RecordingError(
      .unwritableFile, "it cannot be written (\(reason))", file: AtomicFolder.finished(path),
      remedy: "check that its folder exists, that you may write there and that space is left")
  }
}
