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
  private(set) var incumbent: Tracker?
  private(set) var convergence = Convergence.unknown
  private(set) var vertical = VerticalDirectionEstimate.unknown

  private var challenger: Tracker?
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

  /// Whether a sample is the one before it again.
  mutating func isDuplicate(_ sample: RangingSample) -> Bool {
    defer { lastSample = sample }
    return sample == lastSample
  }

  /// Whether an angle only repeats what was measured in another pose.
  mutating func isStuck(
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
    _ components: Components, at device: TrajectoryPoint, isObstructed: Bool,
    _ configuration: FusionConfiguration, into report: inout SampleReport
  ) {
    // What was known of a world that is lost says nothing in this one, and a late sample from there
    // nothing here.
    if let world, device.world < world {
      for index in 0..<3 where components[index] != nil {
        report[index].outcome = .rejected(.tooLate)
      }
      return
    }
    guard world == device.world else {
      world = device.world
      challenger = nil
      incumbent = Tracker(
        components, at: device, motion: motion, noise: noise, configuration)
      reportBirth(components, into: &report)
      return
    }
    incumbent?.step(
      components, at: device, isObstructed: isObstructed, noise: noise, configuration)
    challenge(components, at: device, isObstructed: isObstructed, configuration)
    self.report(components, configuration.features, into: &report)
  }

  /// Lets a challenger be born, grow, win or lose.
  private mutating func challenge(
    _ components: Components, at device: TrajectoryPoint, isObstructed: Bool,
    _ configuration: FusionConfiguration
  ) {
    guard let incumbent else { return }
    let isLost = incumbent.isLost
    if incumbent.isConsistent && !isLost || challenger?.isContradicted ?? false {
      challenger = nil
    }
    // What a challenger saw of a peer on its way says nothing about where the peer came to rest.
    let wasUnderway = isUnderway
    isUnderway =
      motion == .unknown
      && incumbent.bank.movingShare > (wasUnderway ? Self.stopsBelow : Self.startsAbove)
    if wasUnderway, !isUnderway { challenger = nil }
    guard challenger != nil else {
      if incumbent.isContradicted || isLost {
        challenger = Tracker(
          components, at: device, motion: motion, noise: noise, configuration)
      }
      return
    }
    challenger?.step(
      components, at: device, isObstructed: isObstructed, noise: noise, configuration)
    if incumbent.isContradicted || isLost, let challenger, challenger.isSettled,
      challenger.isConsistent,
      challenger.hasBeenTested || incumbent.rangesContradict || isLost,
      device.timestamp.seconds(since: challenger.birthDevice.timestamp) >= Self.probation
    {
      self.incumbent = challenger
      self.challenger = nil
    }
  }

  // MARK: Stage 8, reports and learning

  /// Reports what became of the components, and learns how noisy they are.
  mutating func report(
    _ components: Components, _ features: EngineFeatures, into report: inout SampleReport
  ) {
    guard let outcomes = incumbent?.outcomes else { return }
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      let outcome = outcomes[index]
      let white = noise[index].whiteVariance(stated: component.sigma)
      report[index].variance = white
      report[index].innovation = outcome.innovation
      report[index].innovationVariance = outcome.innovationVariance
      report[index].outcome =
        outcome.inlier >= 0.5
        ? .fused(weight: outcome.inlier) : .rejectedAsOutlier(weight: outcome.inlier)
      guard features.contains(.noiseLearning) else { continue }
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
  }

  /// Reports the components of the sample from which the bank was born: used, with no innovation.
  mutating func reportBirth(
    _ components: Components, into report: inout SampleReport
  ) {
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      report[index].variance = noise[index].whiteVariance(stated: component.sigma)
      report[index].innovationVariance = .infinity
      report[index].outcome = .fused(weight: 1)
    }
  }

  // MARK: Stage 9, convergence

  /// Takes note of whether anything of a sample was usable.
  mutating func noteUse(_ use: SampleReport.Use, at time: Timestamp) {
    if use != .rejected {
      unusableSince = nil
    } else if unusableSince == nil {
      unusableSince = time
    }
  }

  /// Judges convergence and the vertical direction as of the newest sample.
  mutating func assess(_ configuration: FusionConfiguration, isDark: Bool, at time: Timestamp) {
    guard let incumbent else { return }
    let view = PosteriorView(
      incumbent.bank, from: incumbent.device, drift: PosteriorView.Drift())
    convergence = judge(view, configuration, isDark: isDark, at: time).convergence
    vertical = verticalDirection(view, configuration)
  }

  private func judge(
    _ view: PosteriorView, _ configuration: FusionConfiguration, isDark: Bool, at time: Timestamp
  ) -> (convergence: Convergence, progress: ConvergenceProgress) {
    let progress = view.progress(
      configuration.convergence, spread: incumbent?.spread ?? DeviceSpread(),
      isPlanar: configuration.odometry.isPlanar)
    let unusable = unusableSince.map { time.seconds(since: $0) } ?? 0
    let isDoubted = challenger != nil && (incumbent?.rangesContradict ?? false)
    let judge = ConvergenceJudge(
      configuration: configuration.convergence, wasConverged: convergence == .converged,
      isDark: isDark,
      lacksSignal: unusable >= configuration.faults.doubtAfter || isDoubted
        || !(incumbent?.explainsWhatItSaw ?? true),
      isProven: incumbent?.isProven ?? true)
    return (judge.judge(progress), progress)
  }

  /// The word on the height, once movement and the horizontal sweep are done.
  ///
  /// Without them it would be the prior's word. A planar world has no heights.
  private func verticalDirection(
    _ view: PosteriorView, _ configuration: FusionConfiguration
  ) -> VerticalDirectionEstimate {
    if configuration.odometry.isPlanar { return .unknown }
    if case .notConverged(let reasons) = convergence,
      !reasons.isDisjoint(with: [.insufficientMovement, .insufficientHorizontalSweep])
    {
      return .unknown
    }
    let probability = view.verticalProbabilities(
      sameLevelWithin: configuration.outputs.sameLevelWithin)
    return VerticalDirectionJudge(configuration: configuration.outputs, previous: vertical)
      .judge(above: probability.above, below: probability.below)
  }

  // MARK: Outputs

  /// The estimate as seen from the device at a moment; `nil` before the first sample.
  func estimate(
    of peer: PeerID, from device: TrajectoryPoint, _ configuration: FusionConfiguration,
    isDark: Bool
  ) -> PeerEstimate? {
    guard let incumbent else { return nil }
    let isPlanar = configuration.odometry.isPlanar
    let view = PosteriorView(
      incumbent.bank(at: device, configuration), from: device,
      drift: incumbent.drift(to: device, isPlanar: isPlanar))
    let (convergence, progress) = judge(
      view, configuration, isDark: isDark, at: device.timestamp)
    let outputs = configuration.outputs

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
      verticalDirection: verticalDirection(view, configuration),
      heightDifference: isPlanar
        ? Estimated(value: nil, sigma: .infinity, unavailability: .noData)
        : .gated(height.mean, sigma: height.sigma, limit: .infinity),
      worldTransform: Estimated(
        value: isConverged ? place : nil, sigma: progress.totalSigma,
        unavailability: isConverged ? nil : .notConverged),
      meanInWorld: view.mean, covarianceInWorld: view.covariance,
      hypothesisCount: incumbent.bank.count,
      isSearching: !incumbent.isSettled)
  }
}

extension Tracker {
  /// Stages 3 to 6 for one sample.
  fileprivate mutating func step(
    _ components: Components, at device: TrajectoryPoint, isObstructed: Bool, noise: NoiseLevels,
    _ configuration: FusionConfiguration
  ) {
    predict(to: device, noise: noise, configuration)
    update(components, at: device, isObstructed: isObstructed, noise: noise, configuration)
    search(components, at: device, noise: noise, configuration)
    reduce(configuration)
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
