// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A lock on a file that is read, changed and written anew, so that one run does so at a time.
///
/// It is a file beside it, `.NAME.lock`, because a file that is written anew is another file. The lock of a process is
/// released when that dies. Where nothing can be written beside the file, or the file system has no locks,
/// there is none.
package final class FileLock: Sendable {
  private let path: String
  private let descriptor: CInt

  /// Waits until no other run holds the lock.
  ///
  /// - Parameter file: The path of the file.
  package init(of file: String) {
    let name = file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex
    path = "\(file[..<name]).\(file[name...]).lock"
    descriptor = Self.lock(path)
  }

  deinit {
    guard descriptor >= 0 else { return }
    // It is removed while it is locked, so that who opens it meanwhile can tell.
    _ = unsafe unlink(path)
    close(descriptor)
  }

  private static func lock(_ path: String) -> CInt {
    while true {
      let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
      guard descriptor >= 0 else { return -1 }
      while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
      var (there, here) = (stat(), stat())
      if unsafe lstat(path, &there) == 0, unsafe fstat(descriptor, &here) == 0,
        there.st_ino == here.st_ino
      {
        return descriptor
      }
      close(descriptor)
    }
  }
}
