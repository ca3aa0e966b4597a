// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// What the engine knows of one peer.
///
/// The incumbent is the account that is published. When the samples keep contradicting it, a
/// challenger is born from them and runs beside it, until one of the two proves right.
struct PeerFilter: Sendable {
  let motion: PeerMotion
  /// The incumbent and after it, while there is one, the challenger; empty before the first sample.
  ///
  /// In an array because an account is worked on where it is: it is too large to be copied with every
  /// sample.
  private(set) var accounts: [Tracker] = []
  private(set) var convergence = Convergence.unknown
  private(set) var vertical = VerticalDirectionEstimate.unknown

  /// Whether a peer of unknown motion is on its way.
  private var isUnderway = false
  /// The world that the accounts are about.
  private var world: Int?
  private var noise: NoiseLevels
  private var lastSample: RangingSample?
  private var azimuthRun = StuckAngle()
  private var elevationRun = StuckAngle()
  /// Since when no component of any sample has been usable.
  private var unusableSince: Timestamp?

  init(motion: PeerMotion, _ ranging: RangingConfiguration) {
    self.motion = motion
    noise = NoiseLevels(ranging)
  }

  /// A challenger must have been right for so long before it takes over, seconds.
  private static let probation = 1.0
  /// A peer of unknown motion is on its way from when it moves with the first of these probabilities
  /// until it does with less than the second.
  private static let startsAbove = 0.5
  private static let stopsBelow = 0.2

  // MARK: Stage 1, judging the sample

  /// The components that may be used; what became of the others stands in the report.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - device: Where the device was.
  ///   - reason: Why nothing of it can be used, if so.
  ///   - settings: The settings.
  ///   - report: What becomes of the components.
  /// - Returns: What may be used.
  mutating func judge(
    _ sample: RangingSample, at device: TrajectoryPoint?,
    rejecting reason: ComponentReport.Rejection?, _ settings: Settings,
    into report: inout SampleReport
  ) -> Components {
    let reason = isDuplicate(sample) ? .duplicate : reason
    return [
      judged(.range, sample, at: device, rejecting: reason, settings, into: &report.range),
      judged(.azimuth, sample, at: device, rejecting: reason, settings, into: &report.azimuth),
      judged(.elevation, sample, at: device, rejecting: reason, settings, into: &report.elevation),
    ]
  }

  @inline(__always)
  private mutating func judged(
    _ component: Component, _ sample: RangingSample, at device: TrajectoryPoint?,
    rejecting reason: ComponentReport.Rejection?, _ settings: Settings,
    into report: inout ComponentReport
  ) -> MeasuredComponent? {
    guard
      let measured = MeasuredComponent(component, of: sample, settings.configuration.ranging)
    else { return nil }
    var rejection = measured.rejection ?? reason
    if rejection == nil, let device, settings.configuration.features.contains(.stuckAngles),
      isStuck(component, measured.value, at: device)
    {
      rejection = .stuck
    }
    guard let rejection else { return measured }
    report.value = measured.value
    report.outcome = .rejected(rejection)
    return nil
  }

  /// Whether a sample is the one before it again.
  private mutating func isDuplicate(_ sample: RangingSample) -> Bool {
    let isDuplicate = sample.timestamp == lastSample?.timestamp && sample == lastSample
    lastSample = sample
    return isDuplicate
  }

  /// Whether an angle only repeats what was measured in another pose.
  @inline(__always)
  private mutating func isStuck(
    _ component: Component, _ value: Double, at device: TrajectoryPoint
  ) -> Bool {
    switch component {
    case .range: false
    case .azimuth: azimuthRun.isStuck(value, at: device.worldFromDevice)
    case .elevation: elevationRun.isStuck(value, at: device.worldFromDevice)
    }
  }

  // MARK: Stages 2 to 7

  /// Fuses the usable components of a sample.
  mutating func fuse(
    _ components: Components, at device: TrajectoryPoint, isObstructed: Bool, _ settings: Settings,
    into report: inout SampleReport
  ) {
    // What was known of a world that is lost says nothing in this one, and a late sample from there
    // nothing here.
    if let world, device.world < world {
      for index in 0..<3 where components[index] != nil {
        report[index].value = components[index]?.value ?? 0
        report[index].outcome = .rejected(.tooLate)
      }
      return
    }
    guard world == device.world else {
      world = device.world
      accounts = [born(of: components, at: device, settings)]
      reportBirth(components, into: &report)
      return
    }
    let variances = NoiseVariances(noise, of: components, settings)
    step(0, components, variances, at: device, isObstructed: isObstructed, settings)
    challenge(components, variances, at: device, isObstructed: isObstructed, settings)
    self.report(components, variances, settings, into: &report)
  }

  private func born(
    of components: Components, at device: TrajectoryPoint, _ settings: Settings
  ) -> Tracker {
    Tracker(components, at: device, motion: motion, noise: noise, settings.configuration)
  }

  /// Stages 3 to 6 for one account.
  private mutating func step(
    _ index: Int, _ components: Components, _ variances: NoiseVariances,
    at device: TrajectoryPoint, isObstructed: Bool, _ settings: Settings
  ) {
    accounts[index].predict(to: device, variances, settings)
    accounts[index].update(
      components, variances, at: device, isObstructed: isObstructed, settings)
    if accounts[index].isSearching {
      accounts[index].search(components, at: device, noise: noise, settings.configuration)
    }
    accounts[index].reduce(settings)
  }

  private var hasChallenger: Bool { accounts.count > 1 }

  private mutating func dropChallenger() {
    if hasChallenger { accounts.removeLast() }
  }

  /// Lets a challenger be born, grow, win or lose.
  private mutating func challenge(
    _ components: Components, _ variances: NoiseVariances, at device: TrajectoryPoint,
    isObstructed: Bool, _ settings: Settings
  ) {
    let isLost = accounts[0].isLost
    if accounts[0].isConsistent && !isLost || hasChallenger && accounts[1].isContradicted {
      dropChallenger()
    }
    // What a challenger saw of a peer on its way says nothing about where the peer came to rest.
    let wasUnderway = isUnderway
    isUnderway =
      motion == .unknown
      && accounts[0].bank.movingShare > (wasUnderway ? Self.stopsBelow : Self.startsAbove)
    if wasUnderway, !isUnderway { dropChallenger() }
    let isDoubted = accounts[0].isContradicted || isLost
    guard hasChallenger else {
      if isDoubted { accounts.append(born(of: components, at: device, settings)) }
      return
    }
    step(1, components, variances, at: device, isObstructed: isObstructed, settings)
    if isDoubted, accounts[1].isSettled, accounts[1].isConsistent,
      accounts[1].hasBeenTested || accounts[0].rangesContradict || isLost,
      device.timestamp.seconds(since: accounts[1].birthDevice.timestamp) >= Self.probation
    {
      accounts.removeFirst()
    }
  }

  // MARK: Stage 8, reports and learning

  /// Reports what became of the components, and learns how noisy they are.
  private mutating func report(
    _ components: Components, _ variances: NoiseVariances, _ settings: Settings,
    into report: inout SampleReport
  ) {
    let learns = settings.configuration.features.contains(.noiseLearning)
    self.report(0, components[0], variances.white[0], learns: learns, into: &report.range)
    self.report(1, components[1], variances.white[1], learns: learns, into: &report.azimuth)
    self.report(2, components[2], variances.white[2], learns: learns, into: &report.elevation)
  }

  @inline(__always)
  private mutating func report(
    _ index: Int, _ component: MeasuredComponent?, _ white: Double, learns: Bool,
    into report: inout ComponentReport
  ) {
    guard let component else { return }
    let outcome = accounts[0].outcomes[index]
    report = ComponentReport(
      value: component.value, variance: white, innovation: outcome.innovation,
      innovationVariance: outcome.innovationVariance,
      outcome: outcome.inlier >= 0.5
        ? .fused(weight: outcome.inlier) : .rejectedAsOutlier(weight: outcome.inlier))
    guard learns else { return }
    if outcome.weight > 0.9, outcome.inlier >= 0.5 {
      let taken =
        outcome.inlier * max(outcome.innovationVariance - white, 0) / outcome.innovationVariance
      let after = outcome.innovation * (1 - taken)
      noise[index].observe(
        NoiseLevel.Observation(
          before: outcome.innovation, after: after, withoutWander: after + outcome.poseDependent,
          novelty: outcome.novelty, sigma: component.sigma))
    } else {
      noise[index].forgetLast()
    }
  }

  /// Reports the components of the sample from which the bank was born: used, with no innovation.
  private mutating func reportBirth(
    _ components: Components, into report: inout SampleReport
  ) {
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      report[index] = ComponentReport(
        value: component.value, variance: noise[index].whiteVariance(stated: component.sigma),
        innovation: 0, innovationVariance: .infinity, outcome: .fused(weight: 1))
    }
  }

  // MARK: Stage 9, convergence

  /// Judges convergence and the vertical direction as of the newest sample.
  mutating func assess(
    _ settings: Settings, use: SampleReport.Use, isDark: Bool, at time: Timestamp
  ) {
    if use != .rejected {
      unusableSince = nil
    } else if unusableSince == nil {
      unusableSince = time
    }
    guard !accounts.isEmpty else { return }
    let view = PosteriorView(
      accounts[0].bank, from: accounts[0].device.worldFromDevice, drift: PosteriorView.Drift())
    let judge = convergenceJudge(settings, isDark: isDark, at: time)
    let width = view.width(settings.configuration)
    convergence = judge.holds(width) ? .converged : judge.judge(progress(view, width, settings))
    vertical = verticalDirection(view, settings)
  }

  @inline(__always)
  private func progress(
    _ view: PosteriorView, _ width: PosteriorView.Width, _ settings: Settings
  ) -> ConvergenceProgress {
    view.progress(
      width, spread: accounts[0].spread, isPlanar: settings.configuration.odometry.isPlanar)
  }

  @inline(__always)
  private func convergenceJudge(
    _ settings: Settings, isDark: Bool, at time: Timestamp
  ) -> ConvergenceJudge {
    let unusable = unusableSince.map { time.seconds(since: $0) } ?? 0
    return ConvergenceJudge(
      configuration: settings.configuration.convergence, wasConverged: convergence == .converged,
      isDark: isDark,
      lacksSignal: unusable >= settings.configuration.faults.doubtAfter
        || hasChallenger && accounts[0].rangesContradict || !accounts[0].explainsWhatItSaw,
      isProven: accounts[0].isProven)
  }

  /// The word on the height, once movement and the horizontal sweep are done.
  ///
  /// Without them it would be the prior's word. A planar world has no heights.
  @inline(__always)
  private func verticalDirection(
    _ view: PosteriorView, _ settings: Settings
  ) -> VerticalDirectionEstimate {
    if settings.configuration.odometry.isPlanar { return .unknown }
    if case .notConverged(let reasons) = convergence,
      !reasons.isDisjoint(with: [.insufficientMovement, .insufficientHorizontalSweep])
    {
      return .unknown
    }
    let probability = view.verticalProbabilities(
      sameLevelWithin: settings.configuration.outputs.sameLevelWithin)
    return VerticalDirectionJudge(
      configuration: settings.configuration.outputs, previous: vertical
    )
    .judge(above: probability.above, below: probability.below)
  }

  // MARK: Outputs

  /// The estimate as seen from the device at a moment; there must be an account.
  @inline(__always)
  func estimate(
    of peer: PeerID, from device: TrajectoryPoint, _ settings: Settings, isDark: Bool
  ) -> PeerEstimate {
    let isPlanar = settings.configuration.odometry.isPlanar
    let view = PosteriorView(
      accounts[0].bank(at: device, settings), from: device.worldFromDevice,
      drift: accounts[0].drift(to: device, isPlanar: isPlanar))
    let progress = progress(view, view.width(settings.configuration), settings)
    let convergence = convergenceJudge(settings, isDark: isDark, at: device.timestamp)
      .judge(progress)
    let outputs = settings.configuration.outputs

    let distance = view.distance()
    let distanceLimit = max(
      outputs.distanceSigmaFloor, outputs.distanceSigmaPerDistance * distance.mean)
    let angle = view.horizontalAngle()
    let direction = view.direction()
    let height = view.heightDifference()
    let isConverged = convergence == .converged
    let place = RigidTransform(rotation: .identity, translation: view.mean)
    return PeerEstimate(
      peer: peer, timestamp: device.timestamp, convergence: convergence, progress: progress,
      distance: .gated(distance.mean, sigma: distance.sigma, limit: distanceLimit),
      direction: .gated(
        direction.unit, sigma: direction.sigma, limit: outputs.directionSigmaRadians),
      horizontalAngleRadians: .gated(
        angle.mean, sigma: angle.sigma, limit: outputs.horizontalAngleSigmaRadians),
      verticalDirection: verticalDirection(view, settings),
      heightDifference: isPlanar
        ? Estimated(value: nil, sigma: .infinity, unavailability: .noData)
        : .gated(height.mean, sigma: height.sigma, limit: .infinity),
      worldTransform: Estimated(
        value: isConverged ? place : nil, sigma: progress.totalSigma,
        unavailability: isConverged ? nil : .notConverged),
      meanInWorld: view.mean, covarianceInWorld: view.covariance,
      hypothesisCount: accounts[0].bank.count,
      isSearching: !accounts[0].isSettled)
  }
}

extension Estimated {
  /// A value that is published when its standard deviation is within a limit.
  fileprivate static func gated(_ value: Value, sigma: Double, limit: Double) -> Estimated {
    let isKnown = sigma <= limit
    return Estimated(
      value: isKnown ? value : nil, sigma: sigma, unavailability: isKnown ? nil : .tooUncertain)
  }
}
