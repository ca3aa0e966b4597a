// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import NearbyRecordings
import Testing

@Suite("List of data sets")
final class DatasetManifestTests {
  private let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "datasets-\(UUID())")
    try FileManager.default.createDirectory(
      at: root.appending(path: "Datasets"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  private func write(_ text: String) throws -> String {
    let file = root.appending(path: "Datasets/\(DatasetManifest.fileName)")
    try Data(text.utf8).write(to: file)
    return file.path
  }

  /// The package's own.
  private static let own = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Datasets/datasets.json").standardizedFileURL.path

  @Test("the package's list can be read, names are unique, and what comes with it is as it must be")
  func own() throws {
    let manifest = try DatasetManifest(path: Self.own)
    #expect(Set(manifest.datasets.map(\.name)).count == manifest.datasets.count)
    var included = 0
    for dataset in manifest.datasets {
      for file in dataset.files ?? [] { #expect(file.sha256.description.count == 64) }
      #expect(dataset.files == nil || dataset.recording != nil, "\(dataset.name)")
      guard let folder = manifest.includedFolder(of: dataset) else { continue }
      included += 1
      #expect(try dataset.differences(in: folder) == [])
    }
    #expect(included == 2)
  }

  @Test("the list is found from a folder below it, and from the second start")
  func find() throws {
    let path = try write("{}")
    let deep = root.appending(path: "a/b/c")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    let real = URL(filePath: path).resolvingSymlinksInPath().path
    #expect(DatasetManifest.find(from: [deep.path]) == real)
    #expect(DatasetManifest.find(from: ["/", deep.path]) == real)
    #expect(DatasetManifest.find(from: ["/"]) == nil)
  }

  @Test(
    "what is no list is an error that names the file and the place",
    arguments: [
      ("[]", "cannot be read"), ("{", "cannot be read"),
      (#"{ "format": "other", "version": 1, "datasets": [] }"#, "no list of data sets"),
      (#"{ "format": "nearby-datasets", "version": 2, "datasets": [] }"#, "no list of data sets"),
      (
        #"{ "format": "nearby-datasets", "version": 1, "datasets": [ { "name": 3 } ] }"#,
        "datasets.[0].name"
      ),
    ])
  func malformed(text: String, words: String) throws {
    let path = try write(text)
    let error = #expect(throws: RecordingError.self) { try DatasetManifest(path: path) }
    #expect(error?.file == path)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("missing files and changed ones are told apart; unknown names list the known")
  func differences() throws {
    let manifest = try DatasetManifest(path: Self.own)
    let dataset = try manifest.dataset(named: "plaza2")
    let source = try #require(manifest.includedFolder(of: dataset))
    let copy = root.appending(path: "plaza2")
    try FileManager.default.copyItem(at: URL(filePath: source), to: copy)
    #expect(try dataset.differences(in: copy.path) == [])
    try Data("x".utf8).write(to: copy.appending(path: "ranging.csv"))
    try FileManager.default.removeItem(at: copy.appending(path: "truth/peers.csv"))
    #expect(
      try dataset.differences(in: copy.path) == [
        .changed("ranging.csv"), .missing("truth/peers.csv"),
      ])
    let error = #expect(throws: RecordingError.self) { try manifest.dataset(named: "plaza3") }
    #expect(error?.remedy.contains("plaza1, plaza2") == true)
  }
}
