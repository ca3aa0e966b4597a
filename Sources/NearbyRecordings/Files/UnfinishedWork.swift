// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Synchronization

/// The hidden files and folders that this process is writing and has not put in their place.
///
/// A process that is told to end removes them first, so that nothing remains of what nobody will finish.
package enum UnfinishedWork {
  /// What remains otherwise.
  enum Kind {
    /// A file.
    case file
    /// A folder with all that is in it.
    case folder
    /// A folder that stays when there is something in it.
    case emptyFolder

    func remove(_ path: String) {
      switch self {
      case .file: _ = unsafe unlink(path)
      case .folder: try? FileManager.default.removeItem(atPath: path)
      case .emptyFolder: _ = unsafe rmdir(path)
      }
    }
  }

  private static let kindOfPath = Mutex<[String: Kind]>([:])
  private static let processes = Mutex<Set<Int32>>([])

  /// Starts a process that works for this one and is to end with it.
  ///
  /// This one does not end before it knows the other.
  ///
  /// - Parameter body: Starts it, and returns its number.
  /// - Throws: What `body` throws.
  package static func startProcess(_ body: () throws -> Int32) throws {
    try processes.withLock { processes in _ = processes.insert(try body()) }
  }

  /// A process that has ended.
  ///
  /// - Parameter process: Its number.
  package static func remove(process: Int32) { processes.withLock { _ = $0.remove(process) } }

  /// Changes what is there while nothing can be removed at the same time.
  ///
  /// - Parameter body: Makes, renames or removes, and keeps the books.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  static func change<Value, Failure: Error>(
    _ body: (inout [String: Kind]) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let result = kindOfPath.withLock { books -> Result<Value, Failure> in
      do throws(Failure) { return .success(try body(&books)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Folders that are to go unless something is put into them; the innermost first.
  ///
  /// - Parameter paths: The folders' paths.
  package static func add(emptyFolders paths: [String]) {
    change { for path in paths { $0[path] = .emptyFolder } }
  }

  /// Folders that are to stay.
  ///
  /// - Parameter paths: The folders' paths.
  package static func remove(emptyFolders paths: [String]) {
    change { for path in paths { $0[path] = nil } }
  }

  /// Removes all of it, and ends the process before anybody can begin something new.
  ///
  /// - Parameter end: Ends the process.
  package static func removeAll(andThen end: () -> Void) {
    change { books in
      processes.withLock { processes in
        for process in processes { kill(process, SIGTERM) }
        // Somebody else may be the one who learns of its end.
        for process in processes { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
      }
      // What lies deeper goes first.
      for (path, kind) in books.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) {
        kind.remove(path)
      }
      books = [:]
      end()
    }
  }
}
