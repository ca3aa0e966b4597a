// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings
import Testing

@Suite("Files that appear whole or not at all")
struct AtomicFileTests {
  @Test("A commit shows the file, and replaces an old one")
  func commit() throws {
    let folder = try TemporaryFolder()
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
    let folder = try TemporaryFolder()
    try folder.write("old", to: "file")
    do {
      var file = try AtomicFile(path: folder.path("file"))
      try file.write("new")
    }
    #expect(try folder.text("file") == "old")
    #expect(try folder.contents("") == ["file"])
  }

  @Test("A folder that is not there is an error that names the path")
  func missingFolder() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("no/file")
    do {
      _ = try AtomicFile(path: path)
      Issue.record("it was made")
    } catch {
      #expect(error.code == .unwritableFile)
      #expect(error.file == path)
    }
  }
}
