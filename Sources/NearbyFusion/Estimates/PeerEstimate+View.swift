// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

extension PeerEstimate {
  /// Says what a view of the posterior shows.
  ///
  /// - Parameters:
  ///   - view: The posterior, as seen from the device at ``timestamp``.
  ///   - spread: Where the device has been.
  ///   - standing: What was judged at the newest sample.
  ///   - settings: The settings.
  ///   - isDark: Whether the odometry is limited or the scene dark.
  mutating func fill(
    from view: some PosteriorView, spread: DeviceSpread, _ standing: Standing,
    _ settings: Settings, isDark: Bool
  ) {
    let isPlanar = settings.configuration.odometry.isPlanar
    let outputs = settings.configuration.outputs
    progress = view.progress(
      view.width(settings.configuration), spread: spread, isPlanar: isPlanar)
    convergence = standing.convergenceJudge(settings, isDark: isDark, at: timestamp).judge(progress)
    let distance = view.distance()
    self.distance = Estimated(
      distance.mean, sigma: distance.sigma,
      limit: max(outputs.distanceSigmaFloor, outputs.distanceSigmaPerDistance * distance.mean))
    let direction = view.direction()
    self.direction = Estimated(
      direction.unit, sigma: direction.sigma, limit: outputs.directionSigmaRadians)
    let angle = view.horizontalAngle()
    horizontalAngleRadians = Estimated(
      angle.mean, sigma: angle.sigma, limit: outputs.horizontalAngleSigmaRadians)
    verticalDirection = standing.verticalDirection(view, settings)
    let height = view.heightDifference()
    heightDifference =
      isPlanar
      ? Estimated(value: nil, sigma: .infinity, unavailability: .noData)
      : Estimated(height.mean, sigma: height.sigma, limit: .infinity)
    let isConverged = convergence == .converged
    worldTransform = Estimated(
      value: isConverged
        ? RigidTransform(rotation: .identity, translation: view.mean) : nil,
      sigma: progress.totalSigma, unavailability: isConverged ? nil : .notConverged)
    meanInWorld = view.mean
    covarianceInWorld = view.covariance
    hypothesisCount = standing.hypothesisCount
    isSearching = standing.isSearching
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
