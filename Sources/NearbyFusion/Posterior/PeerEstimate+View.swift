// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

extension PeerEstimate {
  /// What a view of the posterior shows.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - timestamp: The moment.
  ///   - view: The posterior, as seen from the device at that moment.
  ///   - spread: Where the device has been.
  ///   - state: What was judged at the newest sample.
  ///   - settings: The settings.
  ///   - odometryLimits: What limits the odometry.
  ///   - lacksPoses: Whether poses have been missing since the newest sample.
  @inline(__always)
  init(
    of peer: PeerID, at timestamp: Timestamp, from view: some PosteriorView,
    spread: DeviceSpread, _ state: ConvergenceState, _ settings: Settings,
    odometryLimits: ConvergenceReasons, lacksPoses: Bool
  ) {
    let best = view.best
    let progress = view.progress(
      best, spread: spread,
      dominantModeWeight: view.width(settings.configuration).dominantModeWeight,
      settings.configuration)
    let convergence = state.convergenceJudge(
      settings, odometryLimits: odometryLimits, lacksPoses: lacksPoses, at: timestamp
    )
    .judge(progress)
    let isConverged = convergence.isConverged
    let outputs = RelativeOutputs(view, best, state, settings)
    self.init(
      peer: peer, timestamp: timestamp, convergence: convergence, progress: progress,
      distance: outputs.distance, direction: outputs.direction,
      horizontalAngleRadians: outputs.horizontalAngle, verticalDirection: outputs.vertical,
      heightDifference: outputs.height,
      worldTransform: Estimated(
        value: isConverged
          ? RigidTransform(rotation: .identity, translation: view.mean) : nil,
        sigma: progress.totalSigma, unavailability: isConverged ? nil : .notConverged),
      positionInWorld: view.mean, covarianceInWorld: view.covariance,
      hypothesisCount: state.tracks.hypothesisCount, isSearching: state.tracks.isSearching)
    // The world of poses that have come back may be another one, in which the peer is elsewhere.
    if lacksPoses || !state.outage.isNone { withholdDirection() }
  }

  /// Puts other outputs in the place of those that are relative to the device.
  ///
  /// - Parameters:
  ///   - view: The posterior, with the device's unseen motion.
  ///   - state: What was judged at the newest sample.
  ///   - settings: The settings.
  mutating func setOutputs(
    from view: some PosteriorView, _ state: ConvergenceState, _ settings: Settings
  ) {
    let outputs = RelativeOutputs(view, view.best, state, settings)
    distance = outputs.distance
    direction = outputs.direction
    horizontalAngleRadians = outputs.horizontalAngle
    // A height that the device's motion has made wide is on neither side with any certainty.
    verticalDirection = outputs.vertical == .aboveOrBelow ? .unknown : outputs.vertical
    heightDifference = outputs.height
  }

  /// Withholds what depends on the direction to a peer: only its distance is known.
  mutating func withholdDirection() {
    direction.value = nil
    direction.unavailability = .notConverged
    horizontalAngleRadians.value = nil
    horizontalAngleRadians.unavailability = .notConverged
    verticalDirection = .unknown
    heightDifference.value = nil
    heightDifference.unavailability = .notConverged
  }

  /// Withholds what is relative to a device of which the pose is not known, or to a peer that has gone on since.
  mutating func withholdOutputs() {
    distance = .noData
    direction = .noData
    horizontalAngleRadians = .noData
    verticalDirection = .unknown
    heightDifference = .noData
  }

  /// Puts a distance from ranges alone in the place of the posterior's.
  ///
  /// Where the ranges to a peer at rest are longer than its place has it, either the peer was moved or the ranges are
  /// obstructed, with the probability p of a fault: p Δ² is added to the variance, with Δ as the difference.
  ///
  /// - Parameters:
  ///   - range: What the ranges alone say.
  ///   - place: The distance to the peer's place, metres; `nil` where that says nothing of the ranges.
  ///   - settings: The settings.
  mutating func setDistance(
    _ range: RangeEstimate, toPlace place: Double? = nil, _ settings: Settings
  ) {
    let excess = max(0, range.distance - (place ?? .infinity))
    let share = settings.faults.outlierShare(of: .range)
    let variance = range.distanceSigma * range.distanceSigma + share * excess * excess
    distance = Estimated(
      distance: range.distance, sigma: variance.squareRoot(), settings.configuration.outputs)
  }

  /// Puts an angle from azimuths alone in the place of the posterior's.
  mutating func setHorizontalAngle(_ radians: Double, sigma: Double, _ settings: Settings) {
    horizontalAngleRadians = Estimated(
      radians, sigma: sigma, limit: settings.configuration.outputs.horizontalAngleSigmaRadians)
  }

  /// The estimate before any place is known.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - timestamp: The moment.
  ///   - convergence: What stands in the way, if that is known.
  init(nothingOf peer: PeerID, at timestamp: Timestamp, _ convergence: Convergence) {
    self.init(
      peer: peer, timestamp: timestamp, convergence: convergence, progress: .none,
      distance: .noData, direction: .noData, horizontalAngleRadians: .noData,
      verticalDirection: .unknown, heightDifference: .noData, worldTransform: .noData,
      positionInWorld: nil, covarianceInWorld: .zero, hypothesisCount: 0, isSearching: false)
  }

  /// The estimate of a peer that the engine does not know.
  @inline(never)
  init(strange peer: PeerID, at timestamp: Timestamp) {
    self.init(nothingOf: peer, at: timestamp, .unknown)
    distance.unavailability = .unknownPeer
    direction.unavailability = .unknownPeer
    horizontalAngleRadians.unavailability = .unknownPeer
    heightDifference.unavailability = .unknownPeer
    worldTransform.unavailability = .unknownPeer
  }
}

/// The outputs that are relative to the device, each behind its gate.
private struct RelativeOutputs {
  let distance: Estimated<Double>
  let direction: Estimated<Vector3>
  let horizontalAngle: Estimated<Double>
  let vertical: VerticalDirectionEstimate
  let height: Estimated<Double>

  @inline(__always)
  init(
    _ view: some PosteriorView, _ best: LineOfSight, _ state: ConvergenceState, _ settings: Settings
  ) {
    let outputs = settings.configuration.outputs
    let distance = view.distance(best)
    let direction = view.direction(best)
    let angle = view.horizontalAngle()
    let height = view.heightDifference()
    self.distance = Estimated(
      distance: distance.mean, sigma: distance.variance.squareRoot(), outputs)
    self.direction = Estimated(
      direction.unit, sigma: direction.variance.squareRoot(), limit: outputs.directionSigmaRadians)
    horizontalAngle = Estimated(
      angle.mean, sigma: angle.variance.squareRoot(), limit: outputs.horizontalAngleSigmaRadians)
    vertical = state.verticalDirection(view, settings)
    self.height =
      settings.configuration.odometry.isPlanar
      ? .noData
      : Estimated(height.mean, sigma: max(height.variance, 0).squareRoot(), limit: .infinity)
  }
}

extension Estimated<Double> {
  /// A distance behind its gate.
  @inline(__always)
  fileprivate init(distance: Double, sigma: Double, _ outputs: OutputConfiguration) {
    self.init(
      distance, sigma: sigma,
      limit: max(outputs.distanceSigmaFloor, outputs.distanceSigmaPerDistance * distance))
  }
}

extension Estimated {
  /// A value that is published when its standard deviation is within a limit.
  @inline(__always)
  fileprivate init(_ value: Value, sigma: Double, limit: Double) {
    let isKnown = sigma <= limit
    self.init(
      value: isKnown ? value : nil, sigma: sigma, unavailability: isKnown ? nil : .tooUncertain)
  }
}
