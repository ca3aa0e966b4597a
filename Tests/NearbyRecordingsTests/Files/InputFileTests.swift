// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

/// Items that are not regular files never block a reader, and no file takes more memory than its
/// limit.
@Suite("Opening input files", .timeLimit(.minutes(1)))
struct InputFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Creates an item at a path that is not a regular file.
  private func make(_ kind: String, at path: String) throws {
    switch kind {
    case "a named pipe": try #require(unsafe mkfifo(path, 0o600) == 0)
    case "a device":
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: "/dev/zero")
    default: Issue.record("there is no such kind")
    }
  }

  @Test(
    "A file of a recording that is a pipe or a device is an error that names it",
    arguments: [
      "recording.json", "trajectory.txt", "ranging.csv", "tracking.csv", "truth/trajectory.txt",
      "truth/peers.csv",
    ],
    ["a named pipe", "a device"])
  func recording(file: String, kind: String) throws {
    let recording = try TemporaryRecording(others: [
      "tracking.csv": "timestamp,state,reason,ambient_intensity\n0,normal,,\n",
      "truth/trajectory.txt": TemporaryRecording.pose,
      "truth/peers.csv": "timestamp,peer,x,y,z\n0,a,1,0,0\n",
    ])
    let path = "\(recording.path)/\(file)"
    try FileManager.default.removeItem(atPath: path)
    try make(kind, at: path)
    let error = recordingError {
      let reader = try RecordingReader(folder: recording.path)
      var events = try reader.events()
      while try events.next() != nil {}
      var poses = try reader.truthTrajectory()
      while try poses?.next() != nil {}
      var places = try reader.truthPeers()
      while try places?.next() != nil {}
    }
    #expect(error?.file == file)
    #expect(error?.code == .unreadableFile || error?.code == .missingFile)
  }

  @Test("A source of an importer that is a pipe is an error, not a wait")
  func importers() throws {
    let pipe = folder.path("pipe")
    try make("a named pipe", at: pipe)
    let openings: [() throws -> Void] = [
      { _ = try LineReader(path: pipe, file: pipe) }, { _ = try BinaryReader(path: pipe) },
      { _ = try FileBytes.read(path: pipe) },
    ]
    for open in openings {
      #expect(recordingError(open)?.description.hasPrefix("\(pipe): is a named pipe; ") == true)
    }
  }

  @Test("A file is read in pieces, or only its beginning")
  func pieces() throws {
    let bytes = (0..<2_500_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try folder.write(bytes, to: "file")
    var read: [UInt8] = []
    try FileBytes.forEachPiece(path: folder.path("file")) { read += $0 }
    #expect(read == bytes)
    #expect(try FileBytes.beginning(path: folder.path("file"), count: 10) == Array(bytes[..<10]))
    #expect(FileBytes.size(path: folder.path("file")) == bytes.count)
    #expect(FileBytes.size(path: folder.path("none")) == nil)
    try folder.write([1, 2], to: "short")
    #expect(try FileBytes.beginning(path: folder.path("short"), count: 10) == [1, 2])
    try make("a named pipe", at: folder.path("pipe"))
    #expect(throws: RecordingError.self) {
      try FileBytes.beginning(path: folder.path("pipe"), count: 10)
    }
  }

  @Test("A small file is read as a whole, up to its limit and not beyond")
  func limit() throws {
    try folder.write(Array(repeating: 7, count: 1 << 20), to: "file")
    #expect(try FileBytes.read(path: folder.path("file"), limit: 1 << 20).count == 1 << 20)
    let error = try #require(throws: RecordingError.self) {
      try FileBytes.read(path: folder.path("file"), limit: 1 << 20 - 1)
    }
    #expect(error.message == "is larger than 0 MiB")
    try folder.write([UInt8](), to: "empty")
    #expect(try FileBytes.read(path: folder.path("empty")).isEmpty)
    // It reports size zero and is not empty.
    #expect(try !FileBytes.read(path: "/proc/self/maps").isEmpty)
  }

  @Test("Settings of a gigabyte are refused before they are read")
  func settings() throws {
    let path = folder.path("settings.json")
    try folder.write("{", to: "settings.json")
    // A sparse file, which takes no space on the disk.
    try #require(unsafe truncate(path, 1 << 30) == 0)
    let before = residentBytes
    let error = recordingError {
      _ = try ConfigurationFile.read(path: path, over: FusionConfiguration())
    }
    #expect(error?.message == "is larger than 16 MiB")
    #expect(residentBytes - before < 200 << 20)
  }

  /// The peak resident memory of this process, bytes.
  private var residentBytes: Int {
    var usage = rusage()
    _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss << 10
  }
}
