// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry

/// Runs the engine on a live stream of lines.
///
/// If the lines come in the order of ``RecordingEventStream``, the results are those of
/// ``RecordingReplay``.
///
/// Performance: noncopyable, since copying the state of all peers takes longer than processing a
/// line.
package struct LiveRun: ~Copyable, Sendable {
  private var engine: FusionEngine
  private let manifest: RecordingManifest
  private let selection: Set<String>
  private var handles: [String: PeerID] = [:]
  /// The names of the peers, in the order of the engine's.
  package private(set) var peers: [String] = []

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - manifest: The manifest, which describes the sensors.
  ///   - configuration: The engine's settings.
  ///   - selection: The names of the peers to be located; all when empty.
  /// - Throws: The first invalid setting.
  package init(
    manifest: RecordingManifest, configuration: FusionConfiguration, selection: Set<String> = []
  ) throws(FusionConfigurationError) {
    engine = try FusionEngine(configuration)
    self.manifest = manifest
    self.selection = selection
    for peer in manifest.peers where isSelected(peer.id) {
      handles[peer.id] = engine.addPeer(peer.motion)
      peers.append(peer.id)
    }
  }

  /// Adds a pose.
  package mutating func add(_ row: PoseRow) -> PoseOutcome {
    engine.add(row.devicePose(from: manifest.frames))
  }

  /// Adds a report of the odometry's quality.
  package mutating func add(_ row: TrackingRow) { engine.add(row.sample) }

  /// Adds a sample.
  ///
  /// - Returns: How the engine treated it and the state after it; `nil` when its peer is not
  ///   selected.
  package mutating func add(_ row: RangingRow) -> (report: SampleReport, estimate: PeerEstimate)? {
    guard isSelected(row.peer) else { return nil }
    let handle: PeerID
    if let known = handles[row.peer] {
      handle = known
    } else {
      handle = engine.addPeer(RecordingPeer(id: row.peer).motion)
      handles[row.peer] = handle
      peers.append(row.peer)
    }
    let report = engine.add(row.sample(of: handle))
    return (report, engine.estimate(of: handle, at: report.timestamp))
  }

  /// What is known of a peer at a moment.
  ///
  /// - Parameters:
  ///   - peer: Its index in ``peers``.
  ///   - time: The moment, as for ``FusionEngine/estimate(of:at:)``.
  /// - Returns: The estimate, and the places where the peer may be, the most probable first.
  package func knowledge(
    of peer: Int, at time: Timestamp
  ) -> (estimate: PeerEstimate, modes: [PositionMode]) {
    let handle = engine.peerIDs[peer]
    let estimate = engine.estimate(of: handle, at: time)
    return (estimate, estimate.hypothesisCount > 1 ? engine.modes(of: handle, at: time) : [])
  }

  private func isSelected(_ peer: String) -> Bool {
    selection.isEmpty || selection.contains(peer)
  }
}
