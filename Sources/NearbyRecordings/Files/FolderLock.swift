// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A lock on a folder while items in it are replaced, so that one process does so at a time.
///
/// It is held for moments. File systems without locks give no such protection.
package struct FolderLock: ~Copyable {
  private let descriptor: CInt

  /// Locks the folder around an item.
  ///
  /// - Parameter path: The item's path without a slash at its end.
  package init(around path: String) {
    let end = path.lastIndex(of: "/")
    let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    for _ in 0..<Self.attempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
      usleep(Self.pause)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Waiting ends after half a minute, since a lock that is held for longer is somebody else's.
  private static let attempts = 15_000
  /// Microseconds.
  private static let pause: UInt32 = 2000
}
