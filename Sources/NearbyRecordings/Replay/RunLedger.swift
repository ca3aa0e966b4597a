// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// Collects the summary of a run: convergence of each peer, and errors against the truth.
struct RunLedger: ~Copyable {
  /// The record of one peer.
  fileprivate struct PeerEntry {
    var summary: PeerSummary
    var firstSample: Timestamp?
    var lastEstimate: PeerEstimate?
  }

  /// How many samples were added.
  private(set) var samples = 0

  private let recording: RecordingReader
  private let configuration: FusionConfiguration
  private var entries: [PeerEntry?] = []
  private var events: [RunEvent] = []
  private var firstEvent: Timestamp?
  private var lastEvent: Timestamp?
  private var firstSample: Timestamp?
  private var lastSample: Timestamp?
  private var truth: TruthSampler
  private var comparison: TruthComparison

  init(_ replay: RecordingReplay) throws(RecordingError) {
    recording = replay.recording
    configuration = replay.configuration
    truth = try TruthSampler(
      recording, longestPoseGap: configuration.odometry.maximumPoseGap)
    comparison = TruthComparison(isPlanar: configuration.odometry.isPlanar)
  }

  /// Adds the next peer in the recording's order; `nil` when it is not selected.
  mutating func add(_ peer: RecordingPeer?) {
    entries.append(peer.map { PeerEntry(summary: PeerSummary(id: $0.id, motion: $0.motion)) })
  }

  /// Adds the time of an event of any kind.
  mutating func note(_ time: Timestamp) {
    firstEvent = min(firstEvent ?? time, time)
    lastEvent = max(lastEvent ?? time, time)
  }

  /// Adds the odometry's next pose.
  mutating func note(_ pose: DevicePose) {
    note(pose.timestamp)
    truth.note(pose)
  }

  /// Adds a sample of a selected peer with its report and estimate.
  mutating func note(
    _ row: RangingRow, _ report: SampleReport, _ estimate: PeerEstimate
  ) throws(RecordingError) {
    guard entries[row.peerIndex] != nil else { return }
    samples += 1
    firstSample = min(firstSample ?? row.timestamp, row.timestamp)
    lastSample = max(lastSample ?? row.timestamp, row.timestamp)
    entries[row.peerIndex]?.note(row.timestamp, report, estimate)
    if let event = report.event, let peer = entries[row.peerIndex]?.summary.id {
      events.append(
        RunEvent(event, of: peer, at: row.timestamp, since: firstEvent ?? row.timestamp))
    }
    try compare(row, estimate)
  }

  private mutating func compare(
    _ row: RangingRow, _ estimate: PeerEstimate
  ) throws(RecordingError) {
    guard let sample = try truth.sample(at: row), let position = estimate.positionInWorld else {
      return
    }
    comparison.add(
      TruthComparison.Sample(
        peer: row.peerIndex, timestamp: row.timestamp,
        isConverged: estimate.convergence == .converged, estimatedPosition: position,
        covariance: estimate.covarianceInWorld, odometryPose: sample.odometryPose,
        truePosition: sample.truePosition, truePose: sample.truePose,
        outputs: PublishedOutputs(estimate)))
  }

  /// The summary of everything that was added.
  func summary(timing: RunSummary.Timing) -> RunSummary {
    let middle = Timestamp(
      nanoseconds: firstSample.map { first in
        first.nanoseconds + ((lastSample ?? first).nanoseconds - first.nanoseconds) / 2
      } ?? 0)
    var peers: [PeerSummary] = []
    for (index, entry) in entries.enumerated() {
      guard let entry else { continue }
      var peer = entry.closed(frames: recording.manifest.frames)
      if truth.knows(peer.id) {
        peer.errors = comparison.statistics(ofPeer: index, secondHalfFrom: middle)
      }
      peers.append(peer)
    }
    return RunSummary(
      name: recording.manifest.name, recording: recording.folder, samples: samples,
      samplesRejected: peers.reduce(0) { $0 + $1.samplesRejected },
      duration: firstEvent.flatMap { lastEvent?.exactSeconds(since: $0) } ?? 0, peers: peers,
      events: events,
      errors: truth.hasTruth ? comparison.statistics(secondHalfFrom: middle) : nil,
      engine: RunSummary.Engine(version: NearbyVersion.current, settings: configuration),
      timing: timing)
  }
}

extension RunLedger.PeerEntry {
  /// Adds a sample with its report and estimate.
  fileprivate mutating func note(
    _ time: Timestamp, _ report: SampleReport, _ estimate: PeerEstimate
  ) {
    summary.samples += 1
    if report.use == .rejected { summary.samplesRejected += 1 }
    let first = firstSample ?? time
    firstSample = first
    let wasConverged = lastEstimate?.convergence == .converged
    let isConverged = estimate.convergence == .converged
    if isConverged && summary.secondsToFirstConvergence == nil {
      summary.secondsToFirstConvergence = time.exactSeconds(since: first)
    }
    if wasConverged && !isConverged { summary.lossesOfConvergence += 1 }
    // A sample that comes late has the state of an earlier moment.
    if lastEstimate.map({ estimate.timestamp >= $0.timestamp }) ?? true { lastEstimate = estimate }
  }

  /// The peer's summary, with its last state in the recording's frames.
  fileprivate func closed(frames: FrameConvention) -> PeerSummary {
    guard let last = lastEstimate else { return summary }
    var summary = summary
    summary.status = ConvergenceStatus(last.convergence)
    if case .notConverged(let reasons) = last.convergence { summary.reasons = reasons.names }
    // JSON has no numbers that are not finite.
    if let mean = last.positionInWorld, mean.isFinite, last.covarianceInWorld.trace.isFinite {
      summary.positionInWorld = frames.worldVector(fromEngine: mean)
      summary.covarianceInWorld = frames.worldCovariance(fromEngine: last.covarianceInWorld)
    }
    summary.distance = last.distance.value?.finite
    summary.distanceSigma = last.distance.sigma.finite
    summary.hypotheses = last.hypothesisCount
    return summary
  }
}

extension Timestamp {
  /// The seconds since another time as the nearest double, so that they print with few digits.
  func exactSeconds(since other: Timestamp) -> Double {
    Double(nanoseconds - other.nanoseconds) / 1e9
  }
}
