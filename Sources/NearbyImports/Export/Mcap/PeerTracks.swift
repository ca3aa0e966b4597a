// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Writes the messages of the peers, estimate by estimate.
struct PeerTracks {
  /// The probabilities of the ellipsoids: 1 sigma, and 3.4 sigma, the bound of a false convergence.
  private static let shells: [(sigmas: Double, opacity: Double)] = [(1, 0.45), (3.4, 0.12)]

  private struct Track {
    var number: Int
    var first: Timestamp
    var topic: String
    var numbers: UInt16
    var scene: UInt16
    var pose: UInt16
    var truth: UInt16?
    var modes: UInt16?
    var isConverged = false
    /// Whether several modes are shown.
    var showsModes = false
  }

  private let frames: FrameConvention
  private let isPlanar: Bool
  private var tracks: [String: Track] = [:]

  init(frames: FrameConvention, isPlanar: Bool) {
    self.frames = frames
    self.isPlanar = isPlanar
  }

  /// Writes all messages of an estimate.
  ///
  /// - Parameters:
  ///   - row: The estimate.
  ///   - sample: The sample that it is of.
  ///   - place: The truth at the sample, if it is known.
  ///   - modes: The modes, if there are several.
  ///   - comparison: The comparison, which knows the degrees of freedom of an error.
  ///   - log: Where.
  /// - Throws: When the file cannot be written.
  mutating func write(
    _ row: EstimateRow, _ sample: RangingRow, _ place: TruthSampler.Sample?, _ modes: [ModeRow],
    _ comparison: TruthComparison, to log: inout McapLog
  ) throws(RecordingError) {
    var track: Track
    if let known = tracks[row.peer] {
      track = known
    } else {
      track = try Self.track(row, tracks.count, &log)
    }
    let time = row.timestamp
    let numbers = numbers(row, sample, place, comparison)
    try log.write(numbers, to: track.numbers, at: time)
    if let mean = row.positionInWorld {
      try log.write(
        .scene(entity(row, mean, track), at: time), to: track.scene, at: time)
      if row.hasWorldTransform {
        let pose = RigidTransform(rotation: .identity, translation: mean)
        try log.write(.pose(pose, in: McapLog.world, at: time), to: track.pose, at: time)
      }
    }
    if let place { try write(place, &track, row, to: &log) }
    try write(modes, &track, row, to: &log)
    try writeEvent(row, &track, to: &log)
    tracks[row.peer] = track
  }

  private static func track(
    _ row: EstimateRow, _ number: Int, _ log: inout McapLog
  ) throws(RecordingError) -> Track {
    let topic = log.topic(ofPeer: row.peer)
    return Track(
      number: number, first: row.timestamp, topic: topic,
      numbers: try log.addChannel("\(topic)/numbers", .peerNumbers, peer: row.peer),
      scene: try log.addChannel("\(topic)/scene", .sceneUpdate, peer: row.peer),
      pose: try log.addChannel("\(topic)/pose", .poseInFrame, peer: row.peer))
  }

  // MARK: Messages

  private func numbers(
    _ row: EstimateRow, _ sample: RangingRow, _ place: TruthSampler.Sample?,
    _ comparison: TruthComparison
  ) -> FoxgloveMessage {
    var message = FoxgloveMessage(at: row.timestamp)
    if let status = row.status {
      message.add("converged", status == .converged)
      message.add("status", status.rawValue)
    }
    message.add("distance", row.distance)
    message.add("distance_sigma", row.distanceSigma)
    message.add("measured_distance", sample.distance)
    message.add("horizontal_angle_degrees", row.horizontalAngleRadians?.radiansAsDegrees)
    message.add("horizontal_angle_sigma_degrees", row.horizontalAngleSigmaRadians?.radiansAsDegrees)
    let turn = frames.engineWorldFromWorld
    let covariance = row.covarianceInWorld.rotated(by: turn)
    if row.positionInWorld != nil {
      let variance = isPlanar ? covariance.xx + covariance.zz : covariance.trace
      message.add("sigma", max(0, variance).squareRoot())
    }
    message.add("nis", row.normalizedInnovationSquared)
    if let hypotheses = row.hypotheses { message.add("hypotheses", hypotheses) }
    if let use = row.use { message.add("used", use.rawValue) }
    guard let place else { return message }
    let inDevice = place.truePose.inverse.act(place.truePosition)
    if let mean = row.positionInWorld {
      let error = turn.act(mean) - place.odometryPose.act(inDevice)
      message.add("error", error.length)
      message.add("nees", comparison.normalizedNEES(of: error, covariance: covariance))
    }
    if let distance = row.distance { message.add("distance_error", distance - inDevice.length) }
    if let angle = row.horizontalAngleRadians {
      let bearing = Heading(place.truePose.rotation)
        .bearing(of: place.truePose.rotation.act(inDevice))
      message.add("horizontal_angle_error_degrees", (angle - bearing).wrappedAngle.radiansAsDegrees)
    }
    return message
  }

  private func entity(_ row: EstimateRow, _ mean: Vector3, _ track: Track) -> FoxgloveEntity {
    var text = row.peer
    if let distance = row.distance { text += " \(distance.fixed(decimals: 2)) m" }
    if let sigma = row.distanceSigma, sigma.isFinite { text += " ±\(sigma.fixed(decimals: 2))" }
    if !row.hasWorldTransform { text += " ?" }
    return FoxgloveEntity(
      id: row.peer, frame: McapLog.world,
      ellipsoids: Self.shells.map { shell in
        FoxgloveEntity.Ellipsoid(
          mean: mean, covariance: row.covarianceInWorld, sigmas: shell.sigmas,
          colour: .ofPeer(
            track.number, opacity: row.hasWorldTransform ? shell.opacity : shell.opacity / 3))
      },
      labels: [
        FoxgloveEntity.Label(
          place: mean, text: text, colour: .ofPeer(track.number, opacity: 1))
      ])
  }

  private func write(
    _ place: TruthSampler.Sample, _ track: inout Track, _ row: EstimateRow, to log: inout McapLog
  ) throws(RecordingError) {
    let channel: UInt16
    if let known = track.truth {
      channel = known
    } else {
      channel = try log.addChannel("\(track.topic)/true", .poseInFrame, peer: row.peer)
      track.truth = channel
    }
    let inOdometry = place.odometryPose.act(place.truePose.inverse.act(place.truePosition))
    let pose = RigidTransform(
      rotation: .identity, translation: frames.worldVector(fromEngine: inOdometry))
    try log.write(
      .pose(pose, in: McapLog.world, at: row.timestamp), to: channel, at: row.timestamp)
  }

  /// Writes several modes, or removes them when there is one again.
  private func write(
    _ modes: [ModeRow], _ track: inout Track, _ row: EstimateRow, to log: inout McapLog
  ) throws(RecordingError) {
    guard !modes.isEmpty || track.showsModes else { return }
    let channel: UInt16
    if let known = track.modes {
      channel = known
    } else {
      channel = try log.addChannel("\(track.topic)/modes", .sceneUpdate, peer: row.peer)
      track.modes = channel
    }
    track.showsModes = !modes.isEmpty
    let id = "\(row.peer) modes"
    if modes.isEmpty {
      return try log.write(
        .removal(of: id, at: row.timestamp), to: channel, at: row.timestamp)
    }
    let number = track.number
    let entity = FoxgloveEntity(
      id: id, frame: McapLog.world,
      ellipsoids: modes.map { mode in
        FoxgloveEntity.Ellipsoid(
          mean: mode.mean, covariance: mode.covariance, sigmas: 1,
          colour: .ofPeer(number, opacity: 0.1 + 0.6 * min(1, max(0, mode.weight))))
      },
      labels: modes.map { mode in
        FoxgloveEntity.Label(
          place: mode.mean, text: "\(row.peer) \((100 * mode.weight).fixed(decimals: 0)) %",
          colour: .ofPeer(number, opacity: 0.8))
      })
    try log.write(.scene(entity, at: row.timestamp), to: channel, at: row.timestamp)
  }

  /// Writes that the peer has converged, or that this is lost and why.
  private func writeEvent(
    _ row: EstimateRow, _ track: inout Track, to log: inout McapLog
  ) throws(RecordingError) {
    let isConverged = row.status == .converged
    guard isConverged != track.isConverged else { return }
    track.isConverged = isConverged
    let after = row.timestamp.seconds(since: track.first).fixed(decimals: 1)
    var said = "\(row.peer): \(isConverged ? "converged" : "convergence lost") after \(after) s"
    if isConverged, let distance = row.distance {
      said += ", \(distance.fixed(decimals: 2)) m away"
      if let sigma = row.distanceSigma { said += " ± \(sigma.fixed(decimals: 2)) m" }
    } else if !isConverged {
      let reasons = ConvergenceReasons.all
        .filter(row.reasons.contains).map(\.description)
      said += reasons.isEmpty ? "" : ": \(reasons.joined(separator: ", "))"
    }
    try log.writeEvent(said, of: row.peer, isWarning: !isConverged, at: row.timestamp)
  }
}
