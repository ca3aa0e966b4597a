// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Runs the engine on a live stream, by the names of the peers.
///
/// Rows are in the frames of the manifest. If they come in the order of ``RecordingEventStream``, the results are
/// those of ``RecordingReplay``. A peer that the manifest does not declare is taken as one at rest.
///
/// ```swift
/// var run = try LiveRun(manifest: RecordingManifest(name: "living-room"))
/// run.add(PoseRow(timestamp: time, worldFromDevice: pose))
/// run.add(RangingRow(timestamp: time, peer: "keys", distance: 3.2))
/// let estimate = run.estimate(of: "keys", at: time)
/// ```
///
/// Performance: noncopyable, since copying the state of all peers takes longer than processing a
/// line.
public struct LiveRun: ~Copyable, Sendable {
  private var engine: FusionEngine
  private let manifest: RecordingManifest
  private let selection: Set<String>
  private var handles: [String: PeerID] = [:]
  /// The names of the peers, in the order of the engine's.
  public private(set) var peers: [String] = []

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - manifest: The manifest, which describes the sensors.
  ///   - configuration: The engine's settings; those of the manifest when `nil`.
  ///   - selection: The names of the peers to be located; all when empty.
  /// - Throws: The first invalid setting.
  public init(
    manifest: RecordingManifest, configuration: FusionConfiguration? = nil,
    selection: Set<String> = []
  ) throws(FusionConfigurationError) {
    engine = try FusionEngine(configuration ?? manifest.fusionConfiguration())
    self.manifest = manifest
    self.selection = selection
    for peer in manifest.peers where isSelected(peer.id) {
      handles[peer.id] = engine.addPeer(peer.motion)
      peers.append(peer.id)
    }
  }

  /// Adds a pose.
  @discardableResult
  public mutating func add(_ row: PoseRow) -> PoseOutcome {
    engine.add(row.devicePose(from: manifest.frames))
  }

  /// Adds a report of the odometry's quality.
  public mutating func add(_ row: TrackingRow) { engine.add(row.sample) }

  /// Adds a sample.
  ///
  /// - Returns: How the engine treated it and the state after it; `nil` when its peer is not
  ///   selected.
  @discardableResult
  public mutating func add(_ row: RangingRow) -> (report: SampleReport, estimate: PeerEstimate)? {
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

  /// The newest pose of the device, in the engine's frames; `nil` before the first.
  public var newestPose: DevicePose? { engine.newestPose }

  /// What is known of a peer at a moment.
  ///
  /// - Parameters:
  ///   - peer: Its name.
  ///   - time: The moment, as for `FusionEngine.estimate(of:at:)`.
  /// - Returns: The estimate, in the engine's frames; `nil` for a peer that is not known.
  public func estimate(of peer: String, at time: Timestamp) -> PeerEstimate? {
    handles[peer].map { engine.estimate(of: $0, at: time) }
  }

  /// The places where a peer may be at a moment, the most probable first.
  ///
  /// - Parameters:
  ///   - peer: Its name.
  ///   - time: The moment, as for `FusionEngine.estimate(of:at:)`.
  /// - Returns: The modes, in the engine's frames; none for a peer that is not known or not located.
  public func modes(of peer: String, at time: Timestamp) -> [PositionMode] {
    handles[peer].map { engine.modes(of: $0, at: time) } ?? []
  }

  private func isSelected(_ peer: String) -> Bool {
    selection.isEmpty || selection.contains(peer)
  }
}
