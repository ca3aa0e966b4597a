// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import NearbyRecordings

/// The output folder of a command: made if missing, and removed again if the command fails.
struct OutputFolder: ~Copyable {
  private let path: String
  /// The folders that were made, the innermost first.
  private var made: [String] = []

  /// Makes the folder and those above it, as needed.
  init(path: String) throws(RecordingError) {
    self.path = path
    var missing = URL(fileURLWithPath: path, isDirectory: true).standardizedFileURL
    while !FileManager.default.fileExists(atPath: missing.path), missing.pathComponents.count > 1 {
      made.append(missing.path)
      missing.deleteLastPathComponent()
    }
    UnfinishedWork.add(emptyFolders: made)
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw RecordingError(
        .unwritableFile, "the folder cannot be made", file: path,
        remedy: "check that nothing of that name is in the way and that you may write there")
    }
  }

  /// The path of a file in the folder.
  func path(of name: String) -> String { path + (path.hasSuffix("/") ? "" : "/") + name }

  /// Keeps the folder.
  consuming func keep() {
    UnfinishedWork.remove(emptyFolders: made)
    made = []
  }

  deinit {
    // Folders that are not empty stay.
    for folder in made { _ = unsafe rmdir(folder) }
    UnfinishedWork.remove(emptyFolders: made)
  }
}
