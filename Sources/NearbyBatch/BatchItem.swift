// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
public import NearbyRecordings

/// A recording of a batch.
public struct BatchItem: Hashable, Sendable, Codable {
  /// Its name in the batch and the path of its result: the last component of the given path,
  /// followed by its path below that one.
  public var id: String
  /// Its folder.
  public var folder: String
  /// The size of all its files, bytes, as an estimate of the work.
  public var bytes: Int

  /// Makes an item.
  ///
  /// - Parameters:
  ///   - id: Its name in the batch: a relative path without `..`.
  ///   - folder: Its folder.
  ///   - bytes: Bytes of all its files.
  public init(id: String, folder: String, bytes: Int) {
    self.id = id
    self.folder = folder
    self.bytes = bytes
  }

  /// The folder that contains it, from ``id``; `.` for a recording that was given itself.
  public var group: String {
    id.lastIndex(of: "/").map { String(id[..<$0]) } ?? "."
  }
}

extension BatchItem {
  /// Finds the recordings in folders and in the folders below them.
  ///
  /// A folder that holds a `recording.json` is a recording and is not searched further. Hidden
  /// folders are skipped. A folder that is reached twice, through a link, is searched once.
  ///
  /// - Parameter paths: Recordings, or folders with recordings somewhere below.
  /// - Returns: The recordings, ordered by their names byte by byte.
  /// - Throws: When a path does not exist, holds no recording, or gives duplicate names.
  public static func find(in paths: [String]) throws(RecordingError) -> [BatchItem] {
    var items: [BatchItem] = []
    var search = Search()
    for path in paths {
      let root = try search.root(path)
      let before = items.count
      search.find(in: path, id: root, &items)
      guard items.count > before else {
        throw RecordingError(
          .missingFile, "no recording lies in this folder or below, or all were given before",
          file: path,
          remedy: "a recording is a folder with \(RecordingManifest.fileName); check the path")
      }
    }
    items.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    for (one, next) in zip(items, items.dropFirst()) where one.id == next.id {
      throw RecordingError(
        .duplicateKey, "\(one.folder) would have the same name, \(one.id)", file: next.folder,
        remedy: "give the folder above both, or rename one")
    }
    return items
  }

  /// The search for recordings in folders.
  private struct Search {
    private var seen: Set<String> = []
    private let files = FileManager.default

    /// The first component of the names of all recordings below a path.
    func root(_ path: String) throws(RecordingError) -> String {
      guard isFolder(path) else {
        throw RecordingError(
          .missingFolder, "there is no such folder", file: path, remedy: "check the path")
      }
      let url = URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath()
      return url.lastPathComponent
    }

    mutating func find(in folder: String, id: String, _ items: inout [BatchItem]) {
      let real = URL(filePath: folder).resolvingSymlinksInPath().path(percentEncoded: false)
      guard seen.insert(real).inserted else { return }
      let below = folder.hasSuffix("/") ? folder : folder + "/"
      if files.fileExists(atPath: below + RecordingManifest.fileName) {
        items.append(BatchItem(id: id, folder: folder, bytes: bytes(in: below)))
        return
      }
      let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
      for name in names.sorted() where !name.hasPrefix(".") && isFolder(below + name) {
        find(in: below + name, id: id + "/" + name, &items)
      }
    }

    private func isFolder(_ path: String) -> Bool {
      var isFolder = false
      return files.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }

    private func bytes(in folder: String) -> Int {
      RecordingReader.fileNames.reduce(0) { sum, name in
        sum + (FileBytes.size(path: folder + name) ?? 0)
      }
    }
  }
}
