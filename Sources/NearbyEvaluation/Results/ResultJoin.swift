// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Joins rows of a result with the samples of their recording, in one pass.
struct ResultJoin: ~Copyable {
  private let recording: RecordingReader
  private let configuration: FusionConfiguration
  private var truth: TruthSampler
  private var comparison: TruthComparison
  private var entries: [ResultEntry] = []
  private var entryOfPeer: [String: Int] = [:]
  private var first: Timestamp?
  private var last: Timestamp?

  init(
    _ recording: RecordingReader, _ configuration: FusionConfiguration
  ) throws(RecordingError) {
    let recording = recording.ordered(by: configuration)
    self.recording = recording
    self.configuration = configuration
    truth = try TruthSampler(recording, longestPoseGap: configuration.odometry.maximumPoseGap)
    comparison = TruthComparison(isPlanar: configuration.odometry.isPlanar)
  }

  /// Reads both to the end.
  mutating func run(
    _ rows: consuming EstimateReader, recording name: String
  ) throws(RecordingError) {
    var replay = try ResultReplay(rows, over: recording, named: name)
    while let step = try replay.next() {
      switch step {
      case .pose(let pose): truth.note(pose)
      case .sample(let sample, let row):
        first = min(first ?? sample.timestamp, sample.timestamp)
        last = max(last ?? sample.timestamp, sample.timestamp)
        if let row { try note(row, sample) }
      }
    }
  }

  private mutating func note(_ row: EstimateRow, _ sample: RangingRow) throws(RecordingError) {
    let index = index(of: sample)
    entries[index].note(row, sample)
    let place = try truth.sample(at: sample)
    let isConverged = isConverged(row, seenFrom: place?.odometryPose)
    entries[index].noteConvergence(isConverged, at: row.timestamp)
    guard let place, let mean = row.positionInWorld else {
      entries[index].notePlacement(nil)
      return
    }
    let frames = recording.manifest.frames
    let estimated = frames.engineWorldFromWorld.act(mean)
    let covariance = row.covarianceInWorld.rotated(by: frames.engineWorldFromWorld)
    comparison.add(
      TruthComparison.Sample(
        peer: index, timestamp: row.timestamp, isConverged: isConverged,
        estimatedPosition: estimated, covariance: covariance, odometryPose: place.odometryPose,
        truePosition: place.truePosition, truePose: place.truePose, outputs: PublishedOutputs(row)))
    let isPlaced = row.status == nil ? isConverged : row.hasWorldTransform
    let trueInOdometry = (place.odometryPose * place.truePose.inverse).act(place.truePosition)
    entries[index].notePlacement(isPlaced ? estimated - trueInOdometry : nil)
  }

  /// Whether a row is converged: by its status, or, without a status, by the engine's criterion.
  ///
  /// Files of other estimators may lack the mode's probability, which then counts as one, and the
  /// distance, which is then computed from the odometry's pose.
  private func isConverged(_ row: EstimateRow, seenFrom pose: RigidTransform?) -> Bool {
    if let status = row.status { return status == .converged }
    let turn = recording.manifest.frames.engineWorldFromWorld
    guard let mean = row.positionInWorld,
      let distance = row.distance ?? pose.map({ (turn.act(mean) - $0.translation).length })
    else { return false }
    let covariance = row.covarianceInWorld.rotated(by: turn)
    let variance =
      configuration.odometry.isPlanar ? covariance.xx + covariance.zz : covariance.trace
    let settings = configuration.convergence
    return row.modeProbability ?? 1 >= settings.dominantModeWeight
      && max(0, variance).squareRoot() <= settings.requiredSigma(at: distance)
  }

  private mutating func index(of sample: RangingRow) -> Int {
    if let index = entryOfPeer[sample.peer] { return index }
    entryOfPeer[sample.peer] = entries.count
    entries.append(ResultEntry(id: sample.peer, start: sample.timestamp))
    return entries.count - 1
  }

  func evaluation(
    result: String, source: ResultEvaluation.Source, recording: String
  ) -> ResultEvaluation {
    let middle = Timestamp(
      nanoseconds: first.map { first in
        first.nanoseconds + ((last ?? first).nanoseconds - first.nanoseconds) / 2
      } ?? 0)
    var peers: [ResultEvaluation.PeerFigures] = []
    var known: [ResultEntry] = []
    for (index, entry) in entries.enumerated() where truth.knows(entry.id) {
      known.append(entry)
      peers.append(
        ResultEvaluation.PeerFigures(
          id: entry.id,
          figures: ResultFigures(
            [entry], comparison.statistics(ofPeer: index, secondHalfFrom: middle))))
    }
    return ResultEvaluation(
      result: result, source: source, recording: recording, peers: peers,
      all: ResultFigures(known, comparison.statistics(secondHalfFrom: middle)))
  }
}
