// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

/// Folders in memory hold what folders on the disk would hold.
@Suite("Folders in memory")
struct MemoryFolderTests {
  @Test("a recording in memory is the one on the disk, byte by byte")
  func recording() throws {
    let (memory, disk) = (MemoryFolder(), try TemporaryFolder())
    try RecordingWriterTests.writeSmall(memory.path("small"))
    try RecordingWriterTests.writeSmall(disk.path("small"))
    #expect(
      memory.files == ["small/ranging.csv", "small/recording.json", "small/trajectory.txt"])
    for file in memory.files {
      #expect(memory.bytes(of: file) == (try FileBytes.read(path: disk.path(file))))
    }
    func estimates(_ folder: String) throws -> [PeerEstimate] {
      var all: [PeerEstimate] = []
      _ = try RecordingReplay(RecordingReader(folder: folder)).run { all.append($2) }
      return all
    }
    #expect(try estimates(memory.path("small")) == estimates(disk.path("small")))
  }

  @Test("a recording is replaced only where that is asked for, and nothing unfinished is left")
  func replacing() throws {
    let memory = MemoryFolder()
    try RecordingWriterTests.writeSmall(memory.path("small"))
    memory.put([1, 2, 3], as: "small/notes.txt")
    let before = memory.files
    #expect(throws: RecordingError.self) {
      try RecordingWriterTests.writeSmall(memory.path("small"))
    }
    #expect(memory.files == before)
    try RecordingWriterTests.writeSmall(memory.path("small"), name: "again", replacing: true)
    #expect(memory.files == before)
    #expect(try RecordingReader(folder: memory.path("small")).manifest.name == "again")
    // Somebody else's folder is never replaced.
    memory.put([1], as: "other/file")
    #expect(throws: RecordingError.self) {
      try RecordingWriterTests.writeSmall(memory.path("other"), replacing: true)
    }
    // A writer that does not finish leaves nothing.
    do {
      var writer = try RecordingWriter(
        path: memory.path("never"), manifest: RecordingManifest(name: "never"))
      try writer.append(RecordingWriterTests.pose(0))
    }
    #expect(memory.files == (before + ["other/file"]).sorted())
  }

  @Test("what is not there is told as on the disk")
  func missing() throws {
    let memory = MemoryFolder()
    #expect(throws: RecordingError.self) { try RecordingReader(folder: memory.path("none")) }
    #expect(FileBytes.size(path: memory.path("none")) == nil)
    memory.put(Array("{}".utf8), as: "half/recording.json")
    do {
      _ = try RecordingReader(folder: memory.path("half"))
      Issue.record("half a recording is opened")
    } catch {
      #expect(error.code == .missingFile)
    }
  }

  @Test("a folder ends with the last reference to it")
  func lifetime() throws {
    var memory: MemoryFolder? = MemoryFolder()
    memory?.put([1], as: "file")
    let path = try #require(memory?.path("file"))
    #expect(FileBytes.size(path: path) == 1)
    memory = nil
    #expect(FileBytes.size(path: path) == nil)
    #expect(MemoryFolder().path != String(path.dropLast("/file".count)))
  }
}
