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
  /// The incumbent and after it, while there is one, the challenger; empty before the second sample.
  ///
  /// In an array because an account is worked on where it is: it is too large to be copied with every
  /// sample.
  private var accounts: [Tracker] = []
  /// What the account is born of again whenever it is asked for, from its first sample to the second.
  ///
  /// Hypotheses all over a sphere take sixty kilobytes, and most devices in a crowd are never heard
  /// twice.
  private var firstComponents: Components?
  /// Whether the accounts must be woken up, or born again, before anything is asked of them.
  private var isAsleep = false
  private(set) var standing = Standing()
  private(set) var posterior = RestingPosterior()

  /// The distance from ranges alone; only while ranges come that cannot be held against a place, or
  /// are too short for the one that is published.
  private(set) var ranges: RangeTracker?

  /// Whether a peer of unknown motion is on its way.
  private var isUnderway = false
  /// The world that the accounts are about.
  private var world: Int?
  private var noise: NoiseLevels
  private var lastSample: RangingSample?
  private var azimuthRun = StuckAngle()
  private var elevationRun = StuckAngle()

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

  /// Stages 1 to 9: takes one sample into account.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - device: Where the device was; not looked at when there is a reason.
  ///   - reason: Why nothing of it can be used, if so.
  ///   - odometry: How the odometry is doing.
  ///   - settings: The settings.
  ///   - isInCrowd: Whether there are so many peers that memory counts for more than time.
  ///   - report: What becomes of the components.
  /// - Returns: Whether any of it could be used.
  mutating func add(
    _ sample: RangingSample, at device: TrajectoryPoint,
    rejecting reason: ComponentReport.Rejection?, _ odometry: OdometryState, _ settings: Settings,
    isInCrowd: Bool, into report: inout PerComponent<ComponentReport>
  ) -> Bool {
    let components = judge(
      sample, at: device.worldFromDevice, rejecting: reason, settings, into: &report)
    var newborn = isAsleep ? wake(settings) : nil
    if !components.isEmpty {
      let isBorn = fuse(
        components, at: device, isObstructed: sample.isNonLineOfSight ?? false, odometry, settings,
        into: &report)
      newborn = isBorn ? components : nil
    } else if let reason, reason.isForLackOfPose {
      standing.outage.addSampleWithoutPose(isOutage: odometry.isSilent)
      followRange(of: sample, report.range, settings)
    }
    assess(settings, odometry, isUsed: report.isUsed, at: sample.timestamp)
    if newborn != nil {
      layAside(newborn)
    } else if isInCrowd, standing.hypothesisCount > Self.fewHypotheses || hasChallenger {
      sleep()
    }
    return !components.isEmpty
  }

  // MARK: Sleep between samples

  /// So many hypotheses are not worth packing.
  private static let fewHypotheses = 8

  /// Whether there is an account, or what it is born of.
  var hasAccount: Bool { firstComponents != nil || !accounts.isEmpty }

  /// The account that is published; `nil` before the first sample.
  func incumbent(_ settings: Settings) -> Tracker? {
    guard isAsleep else { return accounts.first }
    var awake = self
    awake.wake(settings)
    return awake.accounts.first
  }

  /// Keeps only what a newborn account was born of.
  @inline(never)
  private mutating func layAside(_ components: Components?) {
    firstComponents = components
    accounts = []
    isAsleep = true
  }

  @inline(never)
  private mutating func sleep() {
    for index in accounts.indices { accounts[index].sleep() }
    isAsleep = true
  }

  /// Wakes the accounts up, or lets the first be born again as it was: nothing has been learnt since.
  ///
  /// - Returns: What it was born of, if so.
  @inline(never)
  @discardableResult
  private mutating func wake(_ settings: Settings) -> Components? {
    isAsleep = false
    guard let components = firstComponents else {
      for index in accounts.indices { accounts[index].wake() }
      return nil
    }
    firstComponents = nil
    accounts = [born(of: components, at: posterior.device, settings)]
    return components
  }

  // MARK: Ranges alone

  /// Filters the range of a sample for which there is no pose.
  private mutating func followRange(
    of sample: RangingSample, _ report: ComponentReport, _ settings: Settings
  ) {
    guard case .rejected(let rejection) = report.outcome, rejection.isForLackOfPose else { return }
    var ranges = ranges ?? RangeTracker(settings.configuration)
    if self.ranges == nil, !accounts.isEmpty {
      // The first of them is filtered like any other: it may be a fault.
      let known = view(from: posterior.device, settings)
      let (distance, variance) = known.distance(known.best)
      ranges.begin(distance, variance, at: posterior.device.timestamp)
    }
    ranges.add(
      report.value, sigma: sample.distanceSigma,
      isNonLineOfSight: sample.isNonLineOfSight ?? false, at: sample.timestamp)
    self.ranges = ranges
  }

  /// Filters ranges by themselves while they are too short for the place that is published.
  ///
  /// A range cannot be obstructed to be shorter: whatever is wrong with the place, the peer is no
  /// farther than that.
  private mutating func followShortRanges(
    _ range: Components.Measured, at time: Timestamp, _ settings: Settings
  ) {
    guard accounts[0].rangesAreTooShort else {
      ranges = nil
      return
    }
    ranges = ranges ?? RangeTracker(settings.configuration)
    ranges?.add(range.value, sigma: range.sigma, at: time)
  }

  // MARK: Stage 1, judging the sample

  /// The components that may be used; what became of the others stands in the report.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - worldFromDevice: Where the device was; not looked at when there is a reason.
  ///   - reason: Why nothing of it can be used, if so.
  ///   - settings: The settings.
  ///   - report: What becomes of the components.
  /// - Returns: What may be used.
  @inline(__always)
  private mutating func judge(
    _ sample: RangingSample, at worldFromDevice: RigidTransform,
    rejecting reason: ComponentReport.Rejection?, _ settings: Settings,
    into report: inout PerComponent<ComponentReport>
  ) -> Components {
    let reason = isDuplicate(sample) ? .duplicate : reason
    var components = Components()
    components[0] = judged(
      .range, sample, at: worldFromDevice, rejecting: reason, settings, into: &report.range)
    components[1] = judged(
      .azimuth, sample, at: worldFromDevice, rejecting: reason, settings, into: &report.azimuth)
    components[2] = judged(
      .elevation, sample, at: worldFromDevice, rejecting: reason, settings,
      into: &report.elevation)
    return components
  }

  @inline(__always)
  private mutating func judged(
    _ component: Component, _ sample: RangingSample, at worldFromDevice: RigidTransform,
    rejecting reason: ComponentReport.Rejection?, _ settings: Settings,
    into report: inout ComponentReport
  ) -> MeasuredComponent? {
    guard
      let measured = MeasuredComponent(component, of: sample, settings.configuration.ranging)
    else { return nil }
    var rejection = measured.rejection ?? reason
    if rejection == nil, settings.configuration.features.contains(.stuckAngles),
      isStuck(component, measured.value, at: worldFromDevice)
    {
      rejection = .stuck
    }
    guard let rejection else { return measured }
    report.value = measured.value
    report.outcome = .rejected(rejection)
    return nil
  }

  /// Whether a sample is the one before it again.
  @inline(__always)
  private mutating func isDuplicate(_ sample: RangingSample) -> Bool {
    let isDuplicate = sample.timestamp == lastSample?.timestamp && sample == lastSample
    lastSample = sample
    return isDuplicate
  }

  /// Whether an angle only repeats what was measured in another pose.
  @inline(__always)
  private mutating func isStuck(
    _ component: Component, _ value: Double, at worldFromDevice: RigidTransform
  ) -> Bool {
    switch component {
    case .range: false
    case .azimuth: azimuthRun.isStuck(value, at: worldFromDevice)
    case .elevation: elevationRun.isStuck(value, at: worldFromDevice)
    }
  }

  // MARK: Stages 2 to 7

  /// Fuses the usable components of a sample.
  ///
  /// - Returns: Whether the account is born of them.
  private mutating func fuse(
    _ components: Components, at device: TrajectoryPoint, isObstructed: Bool,
    _ odometry: OdometryState, _ settings: Settings,
    into report: inout PerComponent<ComponentReport>
  ) -> Bool {
    // What was known of a world that is lost says nothing in this one, and a late sample from there
    // nothing here.
    if let world, device.world < world {
      for index in 0..<3 where components.has(index) {
        report[index].value = components.measured[index].value
        report[index].outcome = .rejected(.tooLate)
      }
      return false
    }
    guard world == device.world, !isForgotten(components, at: device, settings) else {
      world = device.world
      accounts = [born(of: components, at: device, settings)]
      ranges = nil
      standing.outage = .none
      standing.resumedAt = odometry.resumedAt
      reportBirth(components, into: &report)
      return true
    }
    let variances = variances(of: components, settings)
    step(0, components, variances, at: device, isObstructed: isObstructed, settings)
    if hasChallenger || motion == .unknown || accounts[0].isDoubted {
      challenge(components, variances, at: device, isObstructed: isObstructed, settings)
    }
    if ranges != nil || accounts[0].rangesAreTooShort, components.has(0) {
      followShortRanges(components.measured.range, at: device.timestamp, settings)
    }
    self.report(components, variances, settings, into: &report)
    return false
  }

  /// Whether the account says nothing any more of a peer that may move, after a gap without samples.
  @inline(__always)
  private func isForgotten(
    _ components: Components, at device: TrajectoryPoint, _ settings: Settings
  ) -> Bool {
    motion != .stationary && components.has(0)
      && accounts[0].isForgotten(
        at: device, range: components.measured.range.value, settings)
  }

  /// What is assumed of the noise of a sample.
  @inline(__always)
  private func variances(of components: Components, _ settings: Settings) -> NoiseVariances {
    NoiseVariances(
      white: PerComponent(
        range: noise.range.whiteVariance(stated: components.measured.range.sigma),
        azimuth: noise.azimuth.whiteVariance(stated: components.measured.azimuth.sigma),
        elevation: noise.elevation.whiteVariance(stated: components.measured.elevation.sigma)),
      wandering: ErrorVariances(noise, settings.configuration).wandering)
  }

  private func born(
    of components: Components, at device: TrajectoryPoint, _ settings: Settings
  ) -> Tracker {
    Tracker(components, at: device, motion: motion, noise: noise, settings.configuration)
  }

  /// Stages 3 to 6 for one account.
  @inline(__always)
  private mutating func step(
    _ index: Int, _ components: Components, _ variances: NoiseVariances,
    at device: TrajectoryPoint, isObstructed: Bool, _ settings: Settings
  ) {
    if accounts[index].isSearching {
      accounts[index].searchingStep(
        components, variances, at: device, noise: noise, isObstructed: isObstructed, settings)
    } else {
      accounts[index].step(
        components, variances, at: device, isObstructed: isObstructed, settings)
    }
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
    let isDoubted = accounts[0].isDoubted
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
    into report: inout PerComponent<ComponentReport>
  ) {
    let learns = settings.configuration.features.contains(.noiseLearning)
    // Of several hypotheses no residual is that of the place where the peer is.
    let isClear = accounts[0].outcomesWeight > 0.9
    let novelty = accounts[0].novelty
    if components.has(0) {
      report.range = Self.report(
        accounts[0].outcomes.range, components, 0, variances, novelty: novelty.range,
        learns: learns, isClear: isClear, &noise.range)
    }
    if components.has(1) {
      report.azimuth = Self.report(
        accounts[0].outcomes.azimuth, components, 1, variances, novelty: novelty.angle,
        learns: learns, isClear: isClear, &noise.azimuth)
    }
    if components.has(2) {
      report.elevation = Self.report(
        accounts[0].outcomes.elevation, components, 2, variances, novelty: novelty.angle,
        learns: learns, isClear: isClear, &noise.elevation)
    }
  }

  /// Says what became of one component, and learns from it.
  @inline(__always)
  private static func report(
    _ outcome: Tracker.Outcome, _ components: Components, _ index: Int,
    _ variances: NoiseVariances, novelty: Double, learns: Bool, isClear: Bool,
    _ noise: inout NoiseLevel
  ) -> ComponentReport {
    let measured = components.measured[index]
    let white = variances.white[index]
    let isInlier = outcome.inlier >= 0.5
    if learns, isClear, isInlier {
      let taken =
        outcome.inlier * max(outcome.innovationVariance - white, 0) / outcome.innovationVariance
      let after = outcome.innovation * (1 - taken)
      noise.observe(
        NoiseLevel.Observation(
          before: outcome.innovation, after: after, withoutWander: after + outcome.poseDependent,
          novelty: novelty, sigma: measured.sigma))
    } else if learns {
      noise.forgetLast()
    }
    return ComponentReport(
      value: measured.value, variance: white, innovation: outcome.innovation,
      innovationVariance: outcome.innovationVariance,
      outcome: isInlier
        ? .fused(weight: outcome.inlier) : .rejectedAsOutlier(weight: outcome.inlier))
  }

  /// Reports the components of the sample from which the bank was born: used, with no innovation.
  private mutating func reportBirth(
    _ components: Components, into report: inout PerComponent<ComponentReport>
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
  private mutating func assess(
    _ settings: Settings, _ odometry: OdometryState, isUsed: Bool, at time: Timestamp
  ) {
    if isUsed {
      standing.unusableSince = nil
    } else if standing.unusableSince == nil, !odometry.hasNoPose {
      standing.unusableSince = time
    }
    guard !accounts.isEmpty else {
      if standing.outage == .ongoing { standing.convergence = .notConverged(.insufficientLighting) }
      return
    }
    standing.hypothesisCount = accounts[0].bank.count
    standing.isSearching = !accounts[0].isSettled
    standing.isDoubtful =
      hasChallenger && accounts[0].rangesContradict || !accounts[0].explainsWhatItSaw
    standing.isProven = accounts[0].isProven
    if isUsed, standing.outage != .none || standing.resumedAt != odometry.resumedAt {
      confirmPoses(odometry, at: time, probation: settings.configuration.faults.doubtAfter)
    }
    posterior.isSingle =
      standing.hypothesisCount == 1 && motion == .stationary && ranges == nil
    posterior.device = accounts[0].device
    posterior.spread = accounts[0].spread
    (posterior.mean, posterior.covariance) = accounts[0].bank.positionMoments()
    let isConverged =
      standing.hypothesisCount == 1 && confirm(settings, isDark: odometry.isDark, at: time)
    if !isConverged { judgePosterior(settings, isDark: odometry.isDark, at: time) }
  }

  /// Takes note that a sample was used while the odometry's world is yet to be confirmed.
  private mutating func confirmPoses(
    _ odometry: OdometryState, at time: Timestamp, probation: Double
  ) {
    // A late sample from before the outage confirms nothing.
    if let resumedAt = odometry.resumedAt, time < resumedAt { return }
    standing.outage.addSampleWithPose(
      at: time, hasResumed: standing.resumedAt != odometry.resumedAt,
      isContradicted: standing.isDoubtful, probation: probation)
    standing.resumedAt = odometry.resumedAt
  }

  /// The posterior, while there is a single hypothesis, as of the newest sample.
  @inline(__always)
  private var singleView: GaussianView {
    GaussianView(
      posterior.mean, posterior.covariance, from: accounts[0].device.worldFromDevice)
  }

  /// Judges a single hypothesis, if it has converged: in line, as most have.
  @inline(__always)
  private mutating func confirm(_ settings: Settings, isDark: Bool, at time: Timestamp) -> Bool {
    let view = singleView
    return standing.confirm(
      view, view.width(settings.configuration), settings, isDark: isDark, at: time)
  }

  /// Judges whatever there is: several hypotheses, or one that has not converged.
  @inline(never)
  private mutating func judgePosterior(_ settings: Settings, isDark: Bool, at time: Timestamp) {
    if standing.hypothesisCount == 1 {
      let view = singleView
      standing.explain(
        view, view.width(settings.configuration), spread: posterior.spread, settings,
        isDark: isDark, at: time)
      return
    }
    let view = view(from: posterior.device, settings)
    let width = view.width(settings.configuration)
    if !standing.confirm(view, width, settings, isDark: isDark, at: time) {
      standing.explain(
        view, width, spread: posterior.spread, settings, isDark: isDark, at: time)
    }
  }

  /// The posterior as seen from the device at a moment; there must be an account.
  ///
  /// - Parameters:
  ///   - device: Where the device was, as far as a pose has told.
  ///   - unseen: For how long after that it has moved unseen, seconds.
  ///   - settings: The settings.
  /// - Returns: The view.
  func view(
    from device: TrajectoryPoint, unseen: Double = 0, _ settings: Settings
  ) -> MixtureView {
    guard !isAsleep else {
      var awake = self
      awake.wake(settings)
      return awake.view(from: device, unseen: unseen, settings)
    }
    let isPlanar = settings.configuration.odometry.isPlanar
    var drift = OdometryDrift(from: accounts[0].device, to: device, isPlanar: isPlanar)
    if unseen > 0 {
      drift.addUnseenMotion(
        seconds: unseen, settings.configuration.motion, isPlanar: isPlanar)
    }
    return MixtureView(
      accounts[0].bank(at: device, settings), from: device.worldFromDevice, drift: drift)
  }
}
