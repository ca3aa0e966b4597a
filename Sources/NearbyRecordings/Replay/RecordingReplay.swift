// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry

/// Runs the engine over a recording, as if it were live.
///
/// With a `clockOffset` among the settings samples are fused at their times by the poses' clock, and delivered
/// with those of the file.
///
/// Each ranging row is delivered with the engine's report and estimate, and a summary comes at the
/// end. The recording is read in one pass. Memory does not depend on its size, except for 32 bytes
/// per sample of a recording with truth (``TruthComparison``).
///
/// ```swift
/// var distances: [Double?] = []
/// let recording = try RecordingReader(folder: "Datasets/plaza2")
/// let replay = try RecordingReplay(recording)
/// let outcome = try replay.run { row, report, estimate in
///   distances.append(estimate.distance.value)
/// }
/// ```
public struct RecordingReplay: Sendable {
  /// The recording.
  public let recording: RecordingReader
  /// The engine's settings.
  public let configuration: FusionConfiguration
  /// The names of the peers to be located; all when empty.
  public let selection: Set<String>
  /// Whether the modes of peers that may be in several places are computed.
  public var tellsModes = false

  private let engine: FusionEngine

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - configuration: The engine's settings; those of the recording when `nil`.
  ///   - selection: The names of the peers to be located; all when empty. Rows of others are read and
  ///     left out.
  /// - Throws: The first invalid setting.
  public init(
    _ recording: RecordingReader, configuration: FusionConfiguration? = nil,
    selection: Set<String> = []
  ) throws(FusionConfigurationError) {
    self.configuration = configuration ?? recording.manifest.fusionConfiguration()
    self.recording = recording.ordered(by: self.configuration)
    self.selection = selection
    engine = try FusionEngine(self.configuration)
  }

  /// The results of a run.
  public struct Outcome: Sendable {
    /// The summary.
    public var summary: RunSummary
    /// The names of all peers of the recording, selected or not.
    public var peersInRecording: [String]
    /// The warnings about the recording.
    public var warnings: RecordingWarnings
  }

  /// Runs the engine over the whole recording.
  ///
  /// - Parameters:
  ///   - progress: Called from time to time with the share of the recording that was read and the
  ///     number of samples so far.
  ///   - consumePose: Called for each pose in time order, with where the odometry's world lay in the
  ///     map; `nil` before peers have told.
  ///   - consumeModes: Called before `consume` for each row after which its peer may be in several places, if
  ///     ``tellsModes``.
  ///   - consume: Called for each ranging row in time order, with the engine's report and the state
  ///     after it.
  /// - Returns: The summary.
  /// - Throws: The first fault of the recording, or what the functions throw.
  public func run(
    progress: (_ fraction: Double, _ samples: Int) -> Void = { _, _ in },
    poses consumePose: (DevicePose, MapAlignment?) throws(RecordingError) -> Void = { _, _ in },
    modes consumeModes: (RangingRow, [PositionMode]) throws(RecordingError) -> Void = { _, _ in },
    _ consume: (RangingRow, SampleReport, PeerEstimate) throws(RecordingError) -> Void
  ) throws(RecordingError) -> Outcome {
    var engine = engine
    return try run(
      through: &engine, progress: progress, poses: consumePose, modes: consumeModes, consume)
  }

  /// Runs an estimator over the whole recording, in place of an engine of the replay's own.
  ///
  /// A smoother takes the recording in this way while its engine gives the estimates, so that the files
  /// are read once and one engine runs.
  ///
  /// - Parameters:
  ///   - estimator: An estimator that has seen nothing, with the replay's ``configuration``. Its peers
  ///     are afterwards the selected ones, in the recording's order.
  ///   - progress: Called from time to time with the share of the recording that was read and the
  ///     number of samples so far.
  ///   - consumePose: Called for each pose in time order, with where the odometry's world lay in the
  ///     map; `nil` before peers have told.
  ///   - consumeModes: Called before `consume` for each row after which its peer may be in several places, if
  ///     ``tellsModes``.
  ///   - consume: Called for each ranging row in time order, with the report and the state after it.
  /// - Returns: The summary.
  /// - Throws: The first fault of the recording, or what the functions throw.
  public func run<Estimator: SequentialEstimator>(
    through estimator: inout Estimator,
    progress: (_ fraction: Double, _ samples: Int) -> Void = { _, _ in },
    poses consumePose: (DevicePose, MapAlignment?) throws(RecordingError) -> Void = { _, _ in },
    modes consumeModes: (RangingRow, [PositionMode]) throws(RecordingError) -> Void = { _, _ in },
    _ consume: (RangingRow, SampleReport, PeerEstimate) throws(RecordingError) -> Void
  ) throws(RecordingError) -> Outcome {
    let clock = ContinuousClock()
    let start = clock.now
    var fusing = Duration.zero
    var stream = try recording.events()
    var pass = ReplayPass(keepsModes: tellsModes)
    var ledger = try RunLedger(self)
    var batch = EventBatch()

    // Performance: events are read, fused and delivered in batches, so that the clock is read
    // rarely.
    repeat {
      try stream.read(into: &batch)
      while pass.peerCount < stream.peerCount {
        let peer = stream.peer(at: pass.peerCount)
        try pass.add(isSelected(peer.id) ? peer : nil, to: &estimator)
        ledger.add(isSelected(peer.id) ? peer : nil)
      }

      let before = clock.now
      pass.fuse(batch, &estimator)
      fusing += before.duration(to: clock.now)

      try deliver(batch, pass, &ledger, consumePose, consumeModes, consume)
      progress(Double(stream.bytesRead) / Double(max(1, stream.totalBytes)), ledger.samples)
    } while !batch.kinds.isEmpty

    let timing = RunSummary.Timing(
      fusingSeconds: fusing.inSeconds, totalSeconds: start.duration(to: clock.now).inSeconds)
    return Outcome(
      summary: ledger.summary(timing: timing), peersInRecording: stream.peers.map(\.id),
      warnings: stream.warnings)
  }

  /// Adds a batch and its results to the ledger, and passes them to the consumer.
  private func deliver(
    _ batch: borrowing EventBatch, _ pass: borrowing ReplayPass,
    _ ledger: inout RunLedger,
    _ consumePose: (DevicePose, MapAlignment?) throws(RecordingError) -> Void,
    _ consumeModes: (RangingRow, [PositionMode]) throws(RecordingError) -> Void,
    _ consume: (RangingRow, SampleReport, PeerEstimate) throws(RecordingError) -> Void
  ) throws(RecordingError) {
    var (poses, tracking, rows, results) = (0, 0, 0, 0)
    for kind in batch.kinds {
      switch kind {
      case .pose:
        ledger.note(batch.poses[poses])
        try consumePose(batch.poses[poses], pass.alignments[poses])
        poses += 1
      case .tracking:
        ledger.note(batch.tracking[tracking].timestamp)
        tracking += 1
      case .ranging:
        let row = batch.ranging[rows]
        rows += 1
        ledger.note(row.timestamp)
        guard pass.handles[row.peerIndex] != nil else { continue }
        let (report, estimate, modes) = pass.results[results]
        results += 1
        try ledger.note(row, report, estimate)
        if modes.count > 1 { try consumeModes(row, modes) }
        try consume(row, report, estimate)
      }
    }
  }

  private func isSelected(_ peer: String) -> Bool {
    selection.isEmpty || selection.contains(peer)
  }
}

/// The estimator's peers by their index in the recording, and the results of a batch of events.
private struct ReplayPass {
  /// Whether the modes of a peer with several hypotheses are computed.
  private let keepsModes: Bool
  /// The estimator's handles, by ``RangingRow/peerIndex``; `nil` for peers that are not selected.
  private(set) var handles: [PeerID?] = []
  /// The results of the last batch, one for each row of a selected peer.
  private(set) var results:
    [(report: SampleReport, estimate: PeerEstimate, modes: [PositionMode])] =
      []
  /// The map as of each pose of the last batch.
  private(set) var alignments: [MapAlignment?] = []

  init(keepsModes: Bool) { self.keepsModes = keepsModes }

  var peerCount: Int { handles.count }

  mutating func add(
    _ peer: RecordingPeer?, to estimator: inout some SequentialEstimator
  ) throws(RecordingError) {
    guard let peer else {
      handles.append(nil)
      return
    }
    do {
      handles.append(try estimator.addPeer(peer.motion, named: peer.id))
    } catch {
      throw RecordingError(
        .valueOutOfRange, error.description, file: RecordingManifest.fileName,
        remedy: "give each peer a name of its own")
    }
  }

  mutating func fuse(
    _ batch: borrowing EventBatch, _ estimator: inout some SequentialEstimator
  ) {
    results.removeAll(keepingCapacity: true)
    alignments.removeAll(keepingCapacity: true)
    var (poses, tracking, rows) = (0, 0, 0)
    for kind in batch.kinds {
      switch kind {
      case .pose:
        estimator.add(batch.poses[poses])
        alignments.append(estimator.mapAlignment)
        poses += 1
      case .tracking:
        estimator.add(batch.tracking[tracking])
        tracking += 1
      case .ranging:
        let row = batch.ranging[rows]
        rows += 1
        guard let handle = handles[row.peerIndex] else { continue }
        let report = estimator.add(row.sample(of: handle))
        // The estimate relative to the device's pose at the sample, whether or not the sample was
        // used.
        let estimate = estimator.estimate(of: handle, at: report.timestamp)
        let modes =
          keepsModes && estimate.hypothesisCount > 1
          ? estimator.modes(of: handle, at: report.timestamp) : []
        results.append((report, estimate, modes))
      }
    }
  }
}

extension Duration {
  /// The duration in seconds.
  fileprivate var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
