// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyImports
import NearbyRecordings
import Testing

/// Real recordings beside the package, in `../shared/data`, where they exist.
enum SharedData {
  static let recordings: [String] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "../shared/data").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().map { "\(folder)/\($0)" }.filter {
      FileManager.default.fileExists(atPath: $0 + "/recording.json")
    }
  }()
}

@Suite(.enabled(if: !SharedData.recordings.isEmpty)) struct SharedDataTests {
  /// Lines as `wc -l` counts them, less the header or comment.
  private func rowCount(_ path: String) throws -> Int {
    try Data(contentsOf: URL(filePath: path)).count { $0 == UInt8(ascii: "\n") } - 1
  }

  @Test(arguments: SharedData.recordings)
  func everyRowIsRead(folder: String) throws {
    let info = try RecordingReader(folder: folder).info()
    let poses = try rowCount(folder + "/trajectory.txt")
    #expect(
      info.trajectory.poseCount + info.warnings.count(of: .duplicateTimestamp) == poses)
    #expect(
      info.peers.map(\.sampleCount).reduce(0, +) == (try rowCount(folder + "/ranging.csv")))
    #expect(info.truth?.poseCount == (try rowCount(folder + "/truth/trajectory.txt")))
    #expect(info.truth?.peerCount == info.peers.count)
    #expect(info.warnings.isEmpty)
    var faults = info.faults
    // A phone whose path ends before its last scan.
    if folder.contains("/rtt-") { faults.afterLastPose = 0 }
    #expect(faults == RecordingInfo.Faults(), "\(info.text())")
  }

  @Test(arguments: SharedData.recordings)
  func manifestReadsBackAsWritten(folder: String) throws {
    let manifest = try RecordingReader(folder: folder).manifest
    var warnings = RecordingWarnings()
    #expect(
      try RecordingManifest(json: Array(manifest.json.utf8), warnings: &warnings) == manifest)
    try manifest.fusionConfiguration().validate()
  }
}
