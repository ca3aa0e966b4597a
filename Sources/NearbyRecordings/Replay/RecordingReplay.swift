// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry

/// Runs the engine over a recording, as if it happened now.
///
/// Each ranging row is handed on with what the engine made of it, and a summary comes at the end. The
/// recording is read in one pass; memory does not depend on its size, but for 32 bytes for each
/// sample of a recording with truth (``TruthComparison``).
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

  private let engine: FusionEngine

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - configuration: The engine's settings; those of the recording when `nil`.
  ///   - selection: The names of the peers to be located; all when empty. Rows of others are read and
  ///     left out.
  /// - Throws: The first setting that makes no sense.
  public init(
    _ recording: RecordingReader, configuration: FusionConfiguration? = nil,
    selection: Set<String> = []
  ) throws(FusionConfigurationError) {
    self.recording = recording
    self.configuration = configuration ?? recording.manifest.fusionConfiguration()
    self.selection = selection
    engine = try FusionEngine(self.configuration)
  }

  /// What a run gave.
  public struct Outcome: Sendable {
    /// The summary.
    public var summary: RunSummary
    /// The names of all peers of the recording, selected or not.
    public var peersInRecording: [String]
    /// The oddities of the recording.
    public var warnings: RecordingWarnings
  }

  /// Runs.
  ///
  /// - Parameters:
  ///   - progress: Now and then: the share of the recording that was read, and the samples so far.
  ///   - consume: Each ranging row in time order, what became of it, and the state after it.
  /// - Returns: The summary.
  /// - Throws: The first fault of the recording, or what `consume` throws.
  public func run(
    progress: (_ fraction: Double, _ samples: Int) -> Void = { _, _ in },
    _ consume: (RangingRow, SampleReport, PeerEstimate) throws(RecordingError) -> Void
  ) throws(RecordingError) -> Outcome {
    let clock = ContinuousClock()
    let start = clock.now
    var fusing = Duration.zero
    var stream = try recording.events()
    var desk = FusionDesk(engine)
    var ledger = try RunLedger(self)
    var batch = EventBatch()

    // Events are read, then fused, then handed on, a batch at a time: the clock is asked seldom.
    repeat {
      try stream.read(into: &batch)
      if stream.peerCount > desk.peerCount {
        for peer in stream.peers.dropFirst(desk.peerCount) {
          desk.add(isSelected(peer.id) ? peer : nil)
          ledger.add(isSelected(peer.id) ? peer : nil)
        }
      }

      let before = clock.now
      desk.fuse(batch)
      fusing += before.duration(to: clock.now)

      try handOn(batch, desk, &ledger, consume)
      progress(Double(stream.bytesRead) / Double(max(1, stream.totalBytes)), ledger.samples)
    } while !batch.kinds.isEmpty

    let timing = RunSummary.Timing(
      fusingSeconds: fusing.inSeconds, totalSeconds: start.duration(to: clock.now).inSeconds)
    return Outcome(
      summary: ledger.summary(timing: timing), peersInRecording: stream.peers.map(\.id),
      warnings: stream.warnings)
  }

  /// Enters a batch and what it gave into the books, and gives it away.
  private func handOn(
    _ batch: borrowing EventBatch, _ desk: borrowing FusionDesk, _ ledger: inout RunLedger,
    _ consume: (RangingRow, SampleReport, PeerEstimate) throws(RecordingError) -> Void
  ) throws(RecordingError) {
    var (poses, tracking, rows, results) = (0, 0, 0, 0)
    for kind in batch.kinds {
      switch kind {
      case .pose:
        ledger.note(batch.poses[poses])
        poses += 1
      case .tracking:
        ledger.note(batch.tracking[tracking].timestamp)
        tracking += 1
      case .ranging:
        let row = batch.ranging[rows]
        rows += 1
        ledger.note(row.timestamp)
        guard desk.handles[row.peerIndex] != nil else { continue }
        let (report, estimate) = desk.results[results]
        results += 1
        try ledger.note(row, report, estimate)
        try consume(row, report, estimate)
      }
    }
  }

  private func isSelected(_ peer: String) -> Bool {
    selection.isEmpty || selection.contains(peer)
  }
}

/// The engine with its peers by their place in the recording.
private struct FusionDesk {
  private var engine: FusionEngine
  /// The engine's handles, by ``RangingRow/peerIndex``; `nil` for peers that are not selected.
  private(set) var handles: [PeerID?] = []
  /// What the last batch gave, one for each row of a selected peer.
  private(set) var results: [(report: SampleReport, estimate: PeerEstimate)] = []

  init(_ engine: FusionEngine) { self.engine = engine }

  var peerCount: Int { handles.count }

  mutating func add(_ peer: RecordingPeer?) {
    handles.append(peer.map { engine.addPeer($0.motion) })
  }

  mutating func fuse(_ batch: borrowing EventBatch) {
    results.removeAll(keepingCapacity: true)
    var (poses, tracking, rows) = (0, 0, 0)
    for kind in batch.kinds {
      switch kind {
      case .pose:
        engine.add(batch.poses[poses])
        poses += 1
      case .tracking:
        engine.add(batch.tracking[tracking])
        tracking += 1
      case .ranging:
        let row = batch.ranging[rows]
        rows += 1
        guard let handle = handles[row.peerIndex] else { continue }
        let report = engine.add(row.sample(of: handle))
        // As seen from where the device was then, whether or not the sample was used.
        results.append((report, engine.estimate(of: handle, at: report.timestamp)))
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
