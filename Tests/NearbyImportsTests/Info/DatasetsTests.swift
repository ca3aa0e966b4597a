// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyImports
import NearbyRecordings
import Testing

/// The recordings that come with the package.
enum Datasets {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Datasets")
}

@Suite("The recordings in Datasets")
struct DatasetsTests {
  @Test("Nothing about them is suspicious", arguments: ["plaza1", "plaza2"])
  func findings(name: String) throws {
    let folder = Datasets.folder.appending(path: name).path(percentEncoded: false)
    let findings = try RecordingReader(folder: folder).info().findings
    #expect(findings.map(\.kind) == [.overlap], "\(findings)")
  }

  @Test(
    "The Plaza runs can be read and are complete",
    arguments: [("plaza1", 3529, 6524, 6661, 1933.4), ("plaza2", 1816, 2349, 2459, 409.5)])
  func plaza(
    name: String, samples: Int, poses: Int, truePoses: Int, seconds: Double
  ) throws {
    let folder = Datasets.folder.appending(path: name).path(percentEncoded: false)
    let recording = try RecordingReader(folder: folder)
    #expect(recording.manifest.name == name)
    #expect(recording.manifest.peers.map(\.id) == [0, 1, 5, 6].map { "beacon-\($0)" })
    #expect(recording.warnings.isEmpty)
    #expect(recording.hasTruth)

    var ranging = try recording.ranging()
    var counts = [0, 0, 0, 0]
    while let row = try ranging.next() {
      counts[row.peerIndex] += 1
      #expect(row.distance != nil)
    }
    #expect(counts.reduce(0, +) == samples)
    #expect(ranging.warnings.isEmpty)

    var files = [(path: "trajectory.txt", expected: poses)]
    files.append((path: "truth/trajectory.txt", expected: truePoses))
    for (path, expected) in files {
      var trajectory = try TrajectoryReader(path: "\(folder)/\(path)")
      var (count, latest) = (0, 0.0)
      while let row = try trajectory.next() {
        count += 1
        // The engine interpolates over at most two seconds.
        #expect(row.timestamp.seconds - latest <= 1)
        latest = row.timestamp.seconds
      }
      #expect(count == expected)
      #expect(abs(latest - seconds) < 0.1)
      #expect(trajectory.warnings.isEmpty)
    }
  }
}
