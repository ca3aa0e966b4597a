// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
import NearbyGeometry

/// The engine behind a stream of lines, which come as things happen.
///
/// In the order in which ``RecordingEventStream`` gives the events of a recording, it gives what
/// ``RecordingReplay`` gives.
///
/// Noncopyable: it holds the state of all peers, and a copy of that takes longer than a line.
package struct LiveRun: ~Copyable, Sendable {
  private var engine: FusionEngine
  private let manifest: RecordingManifest
  private let selection: Set<String>
  private var handles: [String: PeerID] = [:]

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - manifest: What is known of the sensors.
  ///   - configuration: The engine's settings.
  ///   - selection: The names of the peers to be located; all when empty.
  /// - Throws: The first setting that makes no sense.
  package init(
    manifest: RecordingManifest, configuration: FusionConfiguration, selection: Set<String> = []
  ) throws(FusionConfigurationError) {
    engine = try FusionEngine(configuration)
    self.manifest = manifest
    self.selection = selection
    for peer in manifest.peers where isSelected(peer.id) {
      handles[peer.id] = engine.addPeer(peer.motion)
    }
  }

  /// Adds a pose.
  package mutating func add(_ row: PoseRow) -> PoseOutcome {
    engine.add(row.devicePose(from: manifest.frames))
  }

  /// Adds a word on the odometry's quality.
  package mutating func add(_ row: TrackingRow) { engine.add(row.sample) }

  /// Adds a sample.
  ///
  /// - Returns: What became of it and the state after it; `nil` when its peer is not selected.
  package mutating func add(_ row: RangingRow) -> (report: SampleReport, estimate: PeerEstimate)? {
    guard isSelected(row.peer) else { return nil }
    let handle: PeerID
    if let known = handles[row.peer] {
      handle = known
    } else {
      handle = engine.addPeer(RecordingPeer(id: row.peer).motion)
      handles[row.peer] = handle
    }
    let report = engine.add(row.sample(of: handle))
    return (report, engine.estimate(of: handle, at: report.timestamp))
  }

  private func isSelected(_ peer: String) -> Bool {
    selection.isEmpty || selection.contains(peer)
  }
}
