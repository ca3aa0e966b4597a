// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FoundationEssentials
import Glibc

/// An open folder that belongs to this user and is closed to all others.
///
/// It may be in a folder such as `/tmp`, where another user could create it first. Owner and mode
/// are therefore checked on the opened folder and not on its name.
final class PrivateFolder: Sendable {
  typealias Failure = SimulatedWorld.SharingError

  /// Its path, without a slash at the end.
  let path: String
  private let descriptor: Int32

  /// Opens a folder, and makes it if it is missing.
  ///
  /// - Parameters:
  ///   - path: Its path.
  ///   - user: The user to whom it must belong.
  /// - Throws: When it cannot be made or opened, or is not private to the user.
  init(_ path: String, user: uid_t = geteuid()) throws(Failure) {
    // With a slash at its end a symbolic link would be followed.
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    try Self.make(path)
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    self.path = path
    guard descriptor >= 0 else {
      if errno == ENOTDIR || errno == ELOOP {
        throw Failure(.notPrivate, "\(path) is no folder; remove it, or name another")
      }
      throw Failure(.unavailable, "\(path) cannot be opened: \(Self.systemReason)")
    }
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0 else {
      throw Failure(.unavailable, "\(path) cannot be looked at: \(Self.systemReason)")
    }
    guard info.st_uid == user else {
      throw Failure(
        .notPrivate, "\(path) belongs to the user \(info.st_uid), not to \(user); name another")
    }
    guard info.st_mode & 0o777 == 0o700 else {
      let mode = String(info.st_mode & 0o777, radix: 8)
      throw Failure(
        .notPrivate,
        "\(path) is open to others or closed to its owner (mode \(mode)); chmod 700 it, or name another"
      )
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  private static func make(_ path: String) throws(Failure) {
    let parent = URL(filePath: path).deletingLastPathComponent().path
    try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw Failure(.unavailable, "\(path) cannot be made a folder: \(systemReason)")
    }
  }

  /// The system's message for the last failed call.
  static var systemReason: String { unsafe String(cString: strerror(errno)) }

  // MARK: Its lock

  /// Runs a function while this process holds the folder's lock.
  ///
  /// - Parameters:
  ///   - seconds: How long to wait for the lock.
  ///   - body: What to run.
  /// - Returns: What it returns.
  /// - Throws: When the lock is not available, or what the body throws.
  func withLock<Value>(
    waitingFor seconds: Double, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let lock = unsafe openat(descriptor, "lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else {
      throw Failure(.unavailable, "\(path) cannot be written to: \(Self.systemReason)")
    }
    defer { close(lock) }
    let end = DispatchTime.now() + seconds
    while flock(lock, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw Failure(.unavailable, "\(path)/lock cannot be locked: \(Self.systemReason)")
      }
      guard DispatchTime.now() < end else {
        throw Failure(
          .locked,
          "another program has held \(path)/lock for \(seconds) s; end it, or name another folder")
      }
      usleep(10_000)
    }
    return try body()
  }
}
