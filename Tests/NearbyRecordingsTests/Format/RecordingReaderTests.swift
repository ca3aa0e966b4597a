// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct RecordingReaderTests {
  @Test func folderAndManifestPathOpenTheSame() throws {
    let recording = try TemporaryRecording()
    let reader = try RecordingReader(folder: recording.path)
    #expect(reader.manifest.name == "test")
    #expect(try RecordingReader(folder: recording.path + "/recording.json") == reader)
    #expect(try RecordingReader(folder: recording.path + "/").manifest == reader.manifest)
  }

  @Test func missingFolderIsNamed() {
    let error = #expect(throws: RecordingError.self) {
      try RecordingReader(folder: "/no/such/folder")
    }
    #expect(error?.code == .missingFolder)
    #expect(error?.description == "/no/such/folder: there is no such folder; check the path")
  }

  @Test func anyOtherFileIsNoRecording() throws {
    let recording = try TemporaryRecording()
    let error = #expect(throws: RecordingError.self) {
      try RecordingReader(folder: recording.path + "/ranging.csv")
    }
    #expect(error?.code == .missingFolder)
    #expect(error?.message == "is a file, not a recording")
  }

  @Test(arguments: ["recording.json", "trajectory.txt", "ranging.csv"])
  func missingFileIsNamed(name: String) throws {
    let recording = try TemporaryRecording()
    try FileManager.default.removeItem(atPath: recording.path + "/" + name)
    let error = #expect(throws: RecordingError.self) {
      try RecordingReader(folder: recording.path)
    }
    #expect(error?.code == .missingFile)
    #expect(error?.message == "\(name) is missing")
    #expect(error?.remedy == "a recording needs recording.json, trajectory.txt and ranging.csv")
  }

  @Test func folderInPlaceOfAFileIsNamed() throws {
    let recording = try TemporaryRecording()
    let error = #expect(throws: RecordingError.self) {
      _ = try TrajectoryReader(path: recording.path + "/truth", file: "truth")
    }
    #expect(error?.description == "truth: is a folder; put a regular file in its place")
    let missing = #expect(throws: RecordingError.self) {
      _ = try TrajectoryReader(path: recording.path + "/none")
    }
    #expect(missing?.code == .missingFile)
  }

  @Test func optionalFilesMayBeMissing() throws {
    let recording = try TemporaryRecording()
    let reader = try RecordingReader(folder: recording.path)
    #expect(!reader.hasTruth)
    let hasTracking = try reader.tracking() != nil
    let hasTruePoses = try reader.truthTrajectory() != nil
    let hasTruePeers = try reader.truthPeers() != nil
    #expect(!hasTracking && !hasTruePoses && !hasTruePeers)
  }
}
