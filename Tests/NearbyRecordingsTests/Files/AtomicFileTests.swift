// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

@Suite("Files that appear whole or not at all")
struct AtomicFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A commit makes the file appear, and replaces an old one")
  func commit() throws {
    for content in ["first\n", "second\n"] {
      var file = try AtomicFile(path: folder.path("file"))
      try file.write(content)
      try file.commit()
      #expect(try folder.text("file") == content)
    }
    #expect(try folder.contents("") == ["file"])
  }

  @Test("Without a commit nothing changes")
  func abandoned() throws {
    try folder.write("old", to: "file")
    do {
      var file = try AtomicFile(path: folder.path("file"))
      try file.write("new")
    }
    #expect(try folder.text("file") == "old")
    #expect(try folder.contents("") == ["file"])
  }

  @Test("A folder that is not there, or in the way, is an error that names the path")
  func wrongPlaces() throws {
    try folder.makeFolder("folder")
    for name in ["no/file", "folder"] {
      let error = recordingError { _ = try AtomicFile(path: folder.path(name)) }
      #expect(error?.code == .unwritableFile)
      #expect(error?.file == folder.path(name))
    }
    #expect(try folder.contents("") == ["folder"])
  }

  @Test("What a killed process has left is taken away by the next that writes the file")
  func remains() throws {
    try folder.write("half of it", to: ".file.partial")
    var file = try AtomicFile(path: folder.path("file"))
    try file.write("whole")
    try file.commit()
    #expect(try folder.text("file") == "whole")
    #expect(try folder.contents("") == ["file"])
  }

  @Test("Two that write one file at a time do not meet")
  func twoWriters() throws {
    var first = try AtomicFile(path: folder.path("file"))
    var second = try AtomicFile(path: folder.path("file"))
    #expect(first.temporaryPath != second.temporaryPath)
    try first.write("first")
    try second.write("second")
    try second.commit()
    #expect(try folder.text("file") == "second")
    try first.commit()
    #expect(try folder.text("file") == "first")
    #expect(try folder.contents("") == ["file"])
  }

  @Test("Of a link the target is written, and the link stays")
  func link() throws {
    try folder.write("old", to: "data/target")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link"), withDestinationPath: "data/target")
    var file = try AtomicFile(path: folder.path("link"))
    try file.write("new")
    #expect(try folder.text("data/target") == "old")
    try file.commit()
    #expect(try folder.text("data/target") == "new")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) != "")
    #expect(try folder.contents("") == ["data", "link"])
    #expect(try folder.contents("data") == ["target"])
  }

  @Test("A device is written in place")
  func device() throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("null"), withDestinationPath: "/dev/null")
    for path in [folder.path("null"), "/dev/null"] {
      var file = try AtomicFile(path: path)
      try file.write("nothing")
      try file.commit()
    }
    #expect(try folder.contents("") == ["null"])
    var status = stat()
    #expect(unsafe stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    var full = try AtomicFile(path: "/dev/full")
    let error = recordingError { try full.write("lost") }
    #expect(error?.code == .unwritableFile)
  }

  @Test("The end of a process removes unfinished items, and only those")
  func end() throws {
    try folder.write("old", to: "file")
    try folder.makeFolder("made")
    try folder.makeFolder("filled")
    try folder.write("kept", to: "filled/file")
    UnfinishedWork.add(emptyFolders: [folder.path("made"), folder.path("filled")])
    var file = try AtomicFile(path: folder.path("file"))
    try file.write("new")
    let result = try AtomicFolder(path: folder.path("result"), replacing: nil)
    try folder.write("half", to: ".result.partial/file")
    var ended = false
    #expect(try folder.contents("").count == 5)
    // Other tests write at the same time, so only the items of this folder are removed.
    UnfinishedWork.change { items in
      for (path, kind) in items where path.hasPrefix(folder.path("")) { kind.remove(path) }
      ended = true
    }
    #expect(ended)
    #expect(try folder.contents("") == ["file", "filled"])
    #expect(try folder.text("file") == "old")
    do throws(RecordingError) {
      try file.commit()
      Issue.record("it was committed")
    } catch {
      #expect(error.code == .unwritableFile)
    }
    _ = consume result
  }
}
