// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyRecordings

@Suite("Folders that appear whole or not at all")
struct AtomicFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String) throws {
    let result = try AtomicFolder(path: folder.path("result/"), replacingFolderWith: "marker")
    var file = try AtomicFile(path: "\(result.temporaryPath)/marker")
    try file.write(text)
    try file.commit()
    try result.commit()
  }

  @Test("A commit makes the folder appear, and replaces an old one that has the marker")
  func commit() throws {
    for text in ["first", "second"] {
      try write(text)
      #expect(try folder.text("result/marker") == text)
      #expect(try folder.contents("") == ["result"])
    }
  }

  @Test("What a killed process has left is taken away")
  func remains() throws {
    try folder.write("half", to: ".result.partial/marker")
    try folder.write("half", to: ".result.partial/truth/other")
    try write("whole")
    #expect(try folder.contents("") == ["result"])
    #expect(try folder.contents("result") == ["marker"])
  }

  @Test("Neither folder is lost when a process is killed while it replaces one by the other")
  func killedBetweenRenames() throws {
    try folder.write("old", to: ".result.~old.partial/marker")
    try folder.write("new", to: ".result.partial/marker")
    do {
      let result = try AtomicFolder(path: folder.path("result"), replacingFolderWith: "marker")
      #expect(try folder.text("result/marker") == "old")
      _ = consume result
    }
    #expect(try folder.contents("") == ["result"])
    try folder.write("older", to: ".result.~old.partial/marker")
    try write("new")
    #expect(try folder.text("result/marker") == "new")
    #expect(try folder.contents("") == ["result"])
  }

  @Test("Two that write one folder at a time do not meet; the later one is refused")
  func twoWriters() throws {
    let first = try AtomicFolder(path: folder.path("result"), replacingFolderWith: nil)
    let second = try AtomicFolder(path: folder.path("result"), replacingFolderWith: nil)
    #expect(first.temporaryPath != second.temporaryPath)
    try folder.write("first", to: ".result.partial/file")
    try first.commit()
    do throws(RecordingError) {
      try second.commit()
      Issue.record("it replaced the first one")
    } catch {
      #expect(error.code == .unwritableFile)
    }
    #expect(try folder.text("result/file") == "first")
    #expect(try folder.contents("") == ["result"])
  }

  @Test(
    "Remains are known by their names",
    arguments: [
      (".a.partial", "a"), (".a.b.csv.partial", "a.b.csv"), (".a.0123ABCD.partial", "a"),
      (".a.~old.partial", "a"), (".a.csv.0123ABCD.partial", "a.csv"), ("a.partial", nil),
      (".partial", nil), (".a", nil), ("", nil),
    ] as [(String, String?)])
  func names(name: String, target: String?) {
    #expect(AtomicFolder.target(ofRemains: name) == target)
  }
}
