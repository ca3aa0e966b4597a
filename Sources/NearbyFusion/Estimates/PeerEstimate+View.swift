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
  ///   - standing: What was judged at the newest sample.
  ///   - settings: The settings.
  ///   - isDark: Whether the odometry is limited or the scene dark.
  @inline(__always)
  init(
    of peer: PeerID, at timestamp: Timestamp, from view: some PosteriorView,
    spread: DeviceSpread, _ standing: Standing, _ settings: Settings, isDark: Bool
  ) {
    let isPlanar = settings.configuration.odometry.isPlanar
    let outputs = settings.configuration.outputs
    let best = view.best
    let progress = view.progress(
      best, spread: spread,
      dominantModeWeight: view.width(settings.configuration).dominantModeWeight,
      settings.configuration)
    let convergence = standing.convergenceJudge(settings, isDark: isDark, at: timestamp)
      .judge(progress)
    let isConverged = convergence == .converged
    let distance = view.distance(best)
    let direction = view.direction(best)
    let angle = view.horizontalAngle()
    let height = view.heightDifference()
    self.init(
      peer: peer, timestamp: timestamp, convergence: convergence, progress: progress,
      distance: Estimated(
        distance.mean, sigma: distance.variance.squareRoot(),
        limit: max(outputs.distanceSigmaFloor, outputs.distanceSigmaPerDistance * distance.mean)),
      direction: Estimated(
        direction.unit, sigma: direction.variance.squareRoot(), limit: outputs.directionSigmaRadians
      ),
      horizontalAngleRadians: Estimated(
        angle.mean, sigma: angle.variance.squareRoot(), limit: outputs.horizontalAngleSigmaRadians),
      verticalDirection: standing.verticalDirection(view, settings),
      heightDifference: isPlanar
        ? .noData
        : Estimated(height.mean, sigma: max(height.variance, 0).squareRoot(), limit: .infinity),
      worldTransform: Estimated(
        value: isConverged
          ? RigidTransform(rotation: .identity, translation: view.mean) : nil,
        sigma: progress.totalSigma, unavailability: isConverged ? nil : .notConverged),
      meanInWorld: view.mean, covarianceInWorld: view.covariance,
      hypothesisCount: standing.hypothesisCount, isSearching: standing.isSearching)
  }

  /// The estimate before anything is known.
  init(nothingOf peer: PeerID, at timestamp: Timestamp) {
    self.init(
      peer: peer, timestamp: timestamp, convergence: .unknown, progress: .none, distance: .noData,
      direction: .noData, horizontalAngleRadians: .noData, verticalDirection: .unknown,
      heightDifference: .noData, worldTransform: .noData, meanInWorld: nil,
      covarianceInWorld: .zero, hypothesisCount: 0, isSearching: false)
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

  fileprivate static var noData: Estimated {
    Estimated(value: nil, sigma: .infinity, unavailability: .noData)
  }
}
