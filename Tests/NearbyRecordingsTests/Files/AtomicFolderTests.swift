// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

@Suite("Folders that appear whole or not at all")
struct AtomicFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let kind = AtomicFolder.Kind(marker: "marker") {
    ["marker", "truth/other"].contains($0)
  }

  private func write(_ text: String) throws {
    let result = try AtomicFolder(path: folder.path("result/"), replacing: Self.kind)
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
      let result = try AtomicFolder(path: folder.path("result"), replacing: Self.kind)
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
    let first = try AtomicFolder(path: folder.path("result"), replacing: nil)
    let second = try AtomicFolder(path: folder.path("result"), replacing: nil)
    #expect(first.temporaryPath != second.temporaryPath)
    try folder.write("first", to: ".result.partial/file")
    try first.commit()
    do throws(RecordingError) {
      try second.commit()
      Issue.record("it replaced the first one")
    } catch {
      #expect(error.code == .occupiedOutput)
    }
    #expect(try folder.text("result/file") == "first")
    #expect(try folder.contents("") == ["result"])
  }

  @Test("What is somebody else's stays, and what is of the old folder goes")
  func foreign() throws {
    try write("old")
    try folder.write("mine", to: "result/notes.txt")
    try folder.write("mine", to: "result/video/deep/a.mp4")
    try folder.write("mine", to: "result/truth/mine")
    try folder.write("old", to: "result/truth/other")
    try folder.write("half", to: "result/.marker.partial")
    try FileManager.default.createDirectory(
      atPath: folder.path("result/empty"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("result/link"), withDestinationPath: "nowhere")
    for text in ["new", "newer"] {
      try write(text)
      #expect(try folder.text("result/marker") == text)
      #expect(
        try folder.contents("result")
          == ["empty", "link", "marker", "notes.txt", "truth", "video"])
      #expect(try folder.contents("result/truth") == ["mine"])
      #expect(try folder.text("result/video/deep/a.mp4") == "mine")
      #expect(try folder.contents("") == ["result"])
    }
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("result/link"))
        == "nowhere")
  }

  @Test("What cannot stay beside the new files prevents the replacement")
  func foreignInTheWay() throws {
    try write("old")
    try folder.write("mine", to: "result/truth")
    let result = try AtomicFolder(path: folder.path("result"), replacing: Self.kind)
    try folder.write("new", to: ".result.partial/marker")
    try folder.write("new", to: ".result.partial/truth/other")
    do throws(RecordingError) {
      try result.commit()
      Issue.record("it replaced somebody's file")
    } catch {
      #expect(error.code == .occupiedOutput && error.message.hasPrefix("truth is in the folder"))
    }
    #expect(try folder.text("result/marker") == "old" && folder.text("result/truth") == "mine")
    #expect(try folder.contents("") == ["result"])
  }

  @Test("Many that replace one folder at a time all do so, and one of them stays")
  func manyWriters() async throws {
    try write("old")
    try folder.write("mine", to: "result/notes.txt")
    let path = folder.path("result")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let result = try AtomicFolder(path: path, replacing: Self.kind)
          var file = try AtomicFile(path: "\(result.temporaryPath)/marker")
          try file.write("\(number)")
          try file.commit()
          try result.commit()
        }
      }
      try await group.waitForAll()
    }
    #expect(Int(try folder.text("result/marker")) != nil)
    #expect(try folder.contents("result") == ["marker", "notes.txt"])
    #expect(try folder.contents("") == ["result"])
  }

  @Test("An error names the finished file, not the hidden one")
  func finished() {
    #expect(AtomicFolder.finished("/a/.b.partial/c") == "/a/b/c")
    #expect(AtomicFolder.finished("x/.b.0123ABCD.partial/.c.csv.partial") == "x/b/c.csv")
    #expect(AtomicFolder.finished("./.hidden/c") == "./.hidden/c")
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
