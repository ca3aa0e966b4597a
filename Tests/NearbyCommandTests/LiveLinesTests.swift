// SPDX-License-Identifier: Apache-2.0
import CAllocationCounter
import NearbyGeometry
import NearbyRecordings
import Testing

@testable import nearby

@Suite("Live lines")
struct LiveLinesTests {
  /// The memory that a line allocates, bytes, with a number of peers of which one is measured.
  private func bytesPerLine(peers: Int) throws -> Int64 {
    var manifest = RecordingManifest(name: "crowd")
    manifest.peers = (0..<peers).map { RecordingPeer(id: "\($0)") }
    var lines = LiveLines(LivePipe())
    try lines.add(.manifest(manifest), at: 1) { _ in }
    var before: Int64 = 0
    for step in 0...20 {
      // The first samples of a peer allocate memory that later ones do not.
      if step == 10 { before = allocated_bytes() }
      let time = Timestamp(nanoseconds: Int64(step) * 100_000_000)
      let pose = PoseRow(timestamp: time, worldFromDevice: .identity)
      try lines.add(.pose(pose), at: 2) { _ in }
      var sample = RangingRow(timestamp: time, peer: "0")
      sample.distance = 3
      try lines.add(.range(sample), at: 3) { #expect(!$0.isEmpty) }
    }
    return (allocated_bytes() - before) / 20
  }

  @Test("A line takes the same memory, however many peers there are")
  func anyCrowd() throws {
    // Both numbers of peers are large enough that hypotheses are packed between samples.
    let few = try bytesPerLine(peers: 100)
    let many = try bytesPerLine(peers: 2000)
    #expect(many < few + 10_000)
  }
}
