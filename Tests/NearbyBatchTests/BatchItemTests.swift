// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import NearbyRecordings
import Testing

@Suite("Finding recordings")
final class BatchItemTests {
  private let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "search-\(UUID())/data")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: root.deletingLastPathComponent()) }

  private func make(_ names: String...) throws {
    for name in names {
      let folder = root.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("{}".utf8).write(to: folder.appending(path: RecordingManifest.fileName))
      try Data(count: 40).write(to: folder.appending(path: "ranging.csv"))
    }
  }

  private func path(_ name: String) -> String { root.appending(path: name).path }

  @Test("recordings at any depth, by their names byte by byte, with their groups and sizes")
  func findsAll() throws {
    try make("b", "a/two", "a/One", "a/deep/three", "a b", ".hidden/x")
    // Not searched: it lies in a recording.
    try make("b/inner")
    let items = try BatchItem.find(in: [root.path])
    #expect(
      items.map(\.id) == ["data/a b", "data/a/One", "data/a/deep/three", "data/a/two", "data/b"])
    #expect(items.map(\.group) == ["data", "data/a", "data/a/deep", "data/a", "data"])
    #expect(items.allSatisfy { $0.bytes == 42 })
    let here = FileManager.default
    #expect(items.allSatisfy { here.fileExists(atPath: $0.folder + "/ranging.csv") })
  }

  @Test("a recording that is given itself is a group of none, with a slash or without")
  func givenItself() throws {
    try make("a/one")
    for path in [path("a/one"), path("a/one/"), path("a/../a/one")] {
      let items = try BatchItem.find(in: [path])
      #expect(items.map(\.id) == ["one"])
      #expect(items.first?.group == ".")
    }
  }

  @Test("links are followed once, loops too")
  func links() throws {
    try make("a/one")
    let files = FileManager.default
    try files.createSymbolicLink(atPath: path("a/loop"), withDestinationPath: root.path)
    try files.createSymbolicLink(atPath: path("z"), withDestinationPath: path("a"))
    #expect(try BatchItem.find(in: [root.path]).map(\.id) == ["data/a/one"])
  }

  @Test("no folder, no recording, the same name twice: located errors")
  func errors() throws {
    try make("a/x/one", "b/x/one")
    func code(_ paths: String...) -> RecordingError.Code? {
      do {
        _ = try BatchItem.find(in: paths)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(path("none")) == .missingFolder)
    #expect(code(path("a/x/one/ranging.csv")) == .missingFolder)
    try FileManager.default.createDirectory(
      atPath: path("empty"), withIntermediateDirectories: true)
    #expect(code(path("empty")) == .missingFile)
    #expect(code(path("a/x"), path("b/x")) == .duplicateKey)
    #expect(code(root.path, path("a")) == .missingFile)
  }

  @Test("shards take each recording once", arguments: [1, 2, 3, 7, 12])
  func shards(count: Int) {
    let items = (0..<10).map { BatchItem(id: "r\($0)", folder: "", bytes: 1) }
    let parts = (1...count).map { index in
      var batch = Batch(items, output: "out")
      batch.shard = Batch.Shard(index: index, of: count)
      return batch.selectedItems
    }
    #expect(Set(parts.joined()) == Set(items))
    #expect(parts.reduce(0) { $0 + $1.count } == items.count)
    let sizes = parts.map(\.count)
    #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
  }
}
