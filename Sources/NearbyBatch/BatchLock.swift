// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import NearbyRecordings

/// The lock that keeps two batches from writing one output at the same time.
///
/// A whole batch locks the file `.lock` of its output exclusively. Parts share that lock, and each
/// locks its own file beside it. So a part does not run twice, and parts of different counts, which
/// overlap, do not run together. The locks of a process are released when it dies. File systems
/// without locks give no such protection.
struct BatchLock: ~Copyable {
  private static let name = ".lock"

  private let path: String
  private let descriptor: CInt
  private let shard: CInt
  private let shardPath: String?

  /// Whether a name in an output folder is that of a lock.
  static func isLock(_ name: String) -> Bool { name.hasPrefix(Self.name) }

  /// Takes the locks.
  ///
  /// - Parameters:
  ///   - output: The batch's output, which exists.
  ///   - part: The part to run; `nil` for all.
  /// - Throws: When another batch is running there.
  init(output: String, shard part: Batch.Shard?) throws(RecordingError) {
    let path = "\(output)/\(Self.name)"
    let descriptor = try Self.lock(path, part == nil ? LOCK_EX : LOCK_SH, output)
    var shard: CInt = -1
    let shardPath = part.map { "\(output)/\(Self.fileName(of: $0))" }
    do throws(RecordingError) {
      if let part, let shardPath {
        shard = try Self.lock(shardPath, LOCK_EX, output)
        try Self.checkOthers(than: part, output)
      } else {
        // No part is running, so that existing files of parts belong to killed processes.
        for name in Self.partNames(in: output) { _ = unsafe unlink("\(output)/\(name)") }
      }
    } catch {
      Self.release(shard, shardPath, descriptor, path)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
    self.shard = shard
    self.shardPath = shardPath
  }

  deinit { Self.release(shard, shardPath, descriptor, path) }

  /// Removes the files while they are locked, so that a process that opens them meanwhile can
  /// detect the removal.
  private static func release(
    _ shard: CInt, _ shardPath: String?, _ descriptor: CInt, _ path: String
  ) {
    if shard >= 0 {
      if let shardPath { _ = unsafe unlink(shardPath) }
      close(shard)
    }
    // Only the last holder can lock it exclusively.
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { _ = unsafe unlink(path) }
    close(descriptor)
  }

  private static func fileName(of part: Batch.Shard) -> String {
    "\(name)-\(part.index)-of-\(part.count)"
  }

  /// The names of the files of parts.
  private static func partNames(in output: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: output)) ?? []
    return names.filter { $0.hasPrefix("\(name)-") }
  }

  /// Checks that no part of another count is running.
  ///
  /// If two start at the same time, at least one of them sees the other.
  private static func checkOthers(
    than part: Batch.Shard, _ output: String
  ) throws(RecordingError) {
    for other in partNames(in: output) where !other.hasSuffix("-of-\(part.count)") {
      let found = unsafe open("\(output)/\(other)", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      guard found >= 0 else { continue }
      defer { close(found) }
      if flock(found, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw isBusy(output) }
    }
  }

  /// Opens a file and locks it.
  ///
  /// - Returns: The descriptor that holds the lock.
  private static func lock(
    _ path: String, _ kind: CInt, _ output: String
  ) throws(RecordingError) -> CInt {
    while true {
      let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
      guard descriptor >= 0 else {
        throw RecordingError(
          .unwritableFile,
          "it cannot be locked (\(unsafe String(cString: strerror(errno))))", file: path,
          remedy: "check that you may write there")
      }
      if flock(descriptor, kind | LOCK_NB) != 0, errno == EWOULDBLOCK {
        close(descriptor)
        throw isBusy(output)
      }
      // The previous holder may have removed the file between the two calls.
      var (there, here) = (stat(), stat())
      if unsafe lstat(path, &there) == 0, unsafe fstat(descriptor, &here) == 0,
        there.st_ino == here.st_ino
      {
        return descriptor
      }
      close(descriptor)
    }
  }

  private static func isBusy(_ output: String) -> RecordingError {
    RecordingError(
      .occupiedOutput, "another batch is at work in this folder", file: output,
      remedy: "wait until it ends, or choose another folder; "
        + "only different parts of one count (--shard i/n) run together")
  }
}
