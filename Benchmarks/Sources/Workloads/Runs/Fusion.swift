// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyRecordings

/// Fusing a recording that is in memory, with an estimate after each sample.
///
/// An operation is a whole run.
struct Fusion: Workload {
  let operations = 1

  private let events: [RecordingEvent]
  private let motions: [PeerMotion]
  private let configuration: FusionConfiguration
  private var fused = 0
  private var sink = 0.0

  init(_ folder: String) throws {
    let recording = try RecordingReader(folder: folder)
    configuration = recording.manifest.fusionConfiguration()
    var stream = try recording.events()
    var events: [RecordingEvent] = []
    while let event = try stream.next() { events.append(event) }
    self.events = events
    motions = stream.peers.map(\.motion)
  }

  mutating func run() {
    (fused, sink) = fuse()
  }

  private func fuse() -> (count: Int, sum: Double) {
    var result = (count: 0, sum: 0.0)
    guard var engine = try? FusionEngine(configuration) else { return result }
    let handles = motions.map { engine.addPeer($0) }
    // Events are read in place, since they are large.
    let events = events.span
    for index in events.indices {
      switch events[index] {
      case .pose(let pose): engine.add(pose)
      case .tracking(let sample): engine.add(sample)
      case .ranging(let row):
        let peer = handles[row.peerIndex]
        engine.add(row.sample(of: peer))
        result.sum += engine.estimate(of: peer, at: row.timestamp).distance.sigma
        result.count += 1
      }
    }
    return result
  }

  func check() throws { if fused == 0 { throw WrongState("nothing was fused") } }
}
