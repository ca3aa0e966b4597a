// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// The hidden files and folders that this process is writing and has not renamed to their paths
/// yet.
///
/// A process that is told to end removes them first, so that no unfinished files remain.
package enum UnfinishedWork {
  /// The kinds of unfinished items.
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

  private static let kindOfPath = Locked<[String: Kind]>([:])
  private static let processes = Locked<Set<Int32>>([])

  /// Starts a child process that must end with this one.
  ///
  /// This process cannot be ended between the start of the child and its registration.
  ///
  /// - Parameter body: Starts it, and returns its number.
  /// - Returns: Its number.
  /// - Throws: What `body` throws.
  package static func startProcess<Failure: Error>(
    _ body: () throws(Failure) -> Int32
  ) throws(Failure) -> Int32 {
    try processes.withLock { (processes) throws(Failure) in
      let process = try body()
      processes.insert(process)
      return process
    }
  }

  /// Removes a child process that has ended.
  ///
  /// - Parameter process: Its number.
  package static func remove(process: Int32) { processes.withLock { _ = $0.remove(process) } }

  /// Changes files or folders while ``removeAll(andThen:)`` is locked out.
  ///
  /// - Parameter body: Creates, renames or removes items, and updates the list of them.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  static func change<Value, Failure: Error>(
    _ body: (inout [String: Kind]) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let result = kindOfPath.withLock { items -> Result<Value, Failure> in
      do throws(Failure) { return .success(try body(&items)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Adds folders that are removed unless something is put into them, the innermost first.
  ///
  /// - Parameter paths: The folders' paths.
  package static func add(emptyFolders paths: [String]) {
    change { for path in paths { $0[path] = .emptyFolder } }
  }

  /// Removes folders from the list, so that they stay.
  ///
  /// - Parameter paths: The folders' paths.
  package static func remove(emptyFolders paths: [String]) {
    change { for path in paths { $0[path] = nil } }
  }

  /// Removes all items, and ends the process before any thread can create a new one.
  ///
  /// - Parameter end: Ends the process.
  package static func removeAll(andThen end: () -> Void) {
    change { items in
      processes.withLock { processes in
        for process in processes { kill(process, SIGTERM) }
        // Another thread may already have waited for the process.
        for process in processes { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
      }
      // Deeper paths are removed first.
      for (path, kind) in items.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) {
        kind.remove(path)
      }
      items = [:]
      end()
    }
  }
}
