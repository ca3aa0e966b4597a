// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A track of a peer: a bank of hypotheses about where it is, and while several places may be right, the
/// search among them.
struct Track: Sendable, Codable {
  private(set) var bank: HypothesisBank
  /// The device at the newest sample: the time at which the bank stands.
  private(set) var device: TrajectoryPoint
  private(set) var spread = DeviceSpread()
  private(set) var phase = TrackPhase.initial
  /// Whether the best place takes most of the ranges so far for inliers.
  private(set) var explainsRanges = true
  /// Whether it may be believed, however narrow it is.
  private(set) var isProven = false
  /// Whether the samples agree with it.
  private(set) var consistency = TrackConsistency()
  /// The device at the first sample.
  private(set) var birthDevice: TrajectoryPoint
  /// How far the device has gone while samples contradicted the track, metres.
  private var contradictedWalk = 0.0
  /// Whether the share of the history's ranges that are too short for the place is small.
  ///
  /// Obstruction lengthens ranges and never shortens them, so a place with many short ranges is that of a
  /// reflection.
  private(set) var explainsShortRanges = true
  /// The path at which all places were last searched anew, metres.
  private var reopenedAt = -Double.infinity

  private(set) var motion: PeerMotion
  private let features: EngineFeatures
  /// The search, until one place is left and its shell is flat; empty after that.
  ///
  /// Performance: in an array, as it is large and is worked on in place.
  private var search: [TrackSearch]
  /// What has been measured of a peer at rest, once the search has ended.
  ///
  /// Performance: in an array, likewise.
  private(set) var history: [WalkHistory] = []
  /// The share of the ranges that the best place of the newest search takes for inliers; one after it.
  private var rangeInlierShare = 1.0
  /// When a peer of unknown motion may last have moved.
  private var lastMotion: Timestamp?
  /// For how long a peer of unknown motion has been at rest.
  var rest: RestAge
  /// The values measured last; NaN before the first.
  private var previousValues = PerKind(repeating: Double.nan)
  /// The distance to the peer before the last update.
  ///
  /// Performance: the next sample need not wait for the result of that update.
  private var distanceBefore = 0.0

  /// How likely a peer of unknown motion moves at first, and once it was found at rest: the samples
  /// after that must show that it rests.
  private static let movesAtFirst = 0.2
  private static let movesAfterwards = 0.2
  /// The share of the hypotheses at rest, or of those that move, below which they are left out once a place
  /// is found.
  private static let negligibleShare = 0.01
  /// A settled track that has become so many times wider than it settled is lost.
  private static let lostFactor = 2.0
  /// A bank whose spread across the line of sight is below this, as a ratio to the distance, is
  /// settled: its shell is flat within half a percent of the distance.
  private static let settledSpread = 0.1
  /// A shell is flat when it bends by less than this share of a range's sigma, and by this share of
  /// what the odometry has drifted.
  private static let flatNoiseShare = 0.1
  private static let flatDriftShare = 0.25
  /// How long the filter must have gone on alone, and a peer of unknown motion must have rested,
  /// before it is believed to be where it was found, seconds.
  private static let probation = 1.2
  /// A peer of unknown motion that moves with this probability may have been moving.
  private static let mayHaveMoved = 0.15
  /// A place whose horizontal sigma is below this, metres and as a share of the distance, is one place seen from
  /// above.
  private static let placedSigma = 0.5
  private static let placedShare = 0.1
  /// A search whose best place takes fewer of the ranges for inliers has found nothing.
  private static let leastInlierShare = 0.5
  /// A gap without samples after which a peer may have gone anywhere, seconds at least.
  private static let longGap = 2.0

  /// A place that the history refutes is searched anew after so long a walk, metres.
  private static let reopenedEvery = 5.0

  // MARK: Stage 2, initial hypotheses

  init(
    _ measurements: Measurements, at device: TrajectoryPoint, motion: PeerMotion,
    noise: NoiseLevels, _ settings: Settings
  ) {
    self.device = device
    self.motion = motion
    features = settings.configuration.features
    bank = HypothesisBank(mayMove: motion != .stationary)
    rest = RestAge(settings.motion)
    birthDevice = device
    let initial = InitialHypotheses(measurements, at: device, noise: noise, settings)
    search = [TrackSearch(measurements, at: device, initial, motion, noise, features)]
    bank.replace(with: seeds(of: initial, settings))
    distanceBefore = distance(from: device)
    takeOthers(measurements, noise, settings)
    spread.add(device.worldFromDevice.translation)
    remember(measurements)
    judge()
  }

  /// The hypotheses of a first sample, at rest and moving as far as is declared.
  private func seeds(
    of initial: InitialHypotheses, _ settings: Settings
  ) -> [HypothesisBank.Seed] {
    var seeds = initial.seeds()
    var moving: [HypothesisBank.Seed] = []
    if motion != .stationary {
      let speeds = settings.motion.speedVariances
      moving = seeds.map { $0.moving(at: speeds) }
    }
    if motion == .moving { seeds = [] }
    seeds.scaleWeights(to: 1 - Self.movesAtFirst)
    moving.scaleWeights(to: Self.movesAtFirst)
    return seeds + moving
  }

  /// Updates the hypotheses with what of the first sample they are not made of.
  private mutating func takeOthers(
    _ measurements: Measurements, _ noise: NoiseLevels, _ settings: Settings
  ) {
    var others = Measurements()
    for kind in MeasurementKind.allCases where !kind.makesHypotheses {
      others[kind] = measurements[kind]
    }
    guard !others.isEmpty else { return }
    if others.has(.heightDifference) {
      bank.addHeightOffset(variance: settings.heightOffset.variance)
    }
    var measurement = measurement(
      others, settings.configuration.errorVariances(noise), device, false, settings)
    bank.update(&measurement)
  }

  /// Whether a restored track fits the settings of a configuration.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - mayBePacked: Whether it is unpacked before anything is asked of it.
  /// - Returns: Whether it can.
  func isConsistent(with configuration: FusionConfiguration, mayBePacked: Bool) -> Bool {
    guard features == configuration.features, bank.mayMove == (motion != .stationary),
      mayBePacked || !bank.isPacked, search.count <= 1, history.count <= 1
    else { return false }
    if phase.isRefining, bank.count != 1 || motion != .stationary { return false }
    // One at rest and one that moves, which are mixed.
    if phase.isSettled, motion == .unknown, bank.count != 2 { return false }
    return search.allSatisfy { $0.isConsistent(mayBePacked: mayBePacked) }
      && history.allSatisfy(\.isConsistent)
  }

  /// Takes less memory until it is unpacked; nothing may be asked of it meanwhile.
  mutating func pack() {
    bank.pack()
    for index in search.indices { search[index].pack() }
  }

  /// Undoes ``pack()``.
  mutating func unpack() {
    bank.unpack()
    for index in search.indices { search[index].unpack() }
  }

  // MARK: Stages 3 and 4, prediction and update

  /// Predicts and updates; a late sample meets the bank as it is now, with the drift since then as
  /// noise.
  ///
  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - errors: The variances of its errors.
  ///   - device: Where the device was.
  ///   - isObstructed: Whether the radio itself calls the range obstructed.
  ///   - range: How the range met the filter of ranges alone, of a peer of unknown motion.
  ///   - settings: The settings.
  ///   - result: How the sample met the heaviest hypothesis. Performance: not returned, since it is
  ///     large.
  mutating func filter(
    _ measurements: Measurements, _ errors: PerKind<ErrorVariances>, at device: TrajectoryPoint,
    isObstructed: Bool, range: Innovation?, _ settings: Settings,
    into result: inout StepResult
  ) {
    if measurements.has(.heightDifference) {
      bank.addHeightOffset(variance: settings.heightOffset.variance)
    }
    if device.timestamp > self.device.timestamp {
      let seconds = device.timestamp.seconds(since: self.device.timestamp)
      var travel = KernelTravel(
        CorrelatedNoise.travelled(from: self.device, to: device, distance: distanceBefore),
        heights: seconds * settings.heightOffset.rate, faults: seconds * settings.faults.rate,
        errors)
      if motion == .unknown { passTime(seconds, settings.motion) }
      distanceBefore = distance(from: device)
      var measurement = measurement(measurements, errors, device, isObstructed, settings)
      var motion = KernelMotion(
        device: device.worldFromDevice.translation, seconds: seconds,
        drift: OdometryDrift(
          from: self.device, to: device, isPlanar: settings.configuration.odometry.isPlanar),
        settings.motion)
      result.decorrelation = bank.advance(&motion, &travel, to: &measurement)
      if !consistency.isConsistent { contradictedWalk += device.path - self.device.path }
      self.device = device
    } else {
      var measurement = measurement(measurements, errors, device, isObstructed, settings)
      bank.update(&measurement)
    }
    if let range { bank.reweighMoving(by: range) }
    spread.add(device.worldFromDevice.translation)
    remember(measurements)
    if bank.isColumn {
      result.takeOutcomes(of: measurements, fromColumn: bank)
    } else {
      result.takeOutcomes(of: measurements, fromHeaviestOf: bank)
    }
    if motion == .unknown, bank.movingShare > Self.mayHaveMoved { lastMotion = device.timestamp }
    consistency.add(
      &result, measurements, at: device.timestamp,
      patience: settings.configuration.faults.doubtAfter)
  }

  /// Lets a peer of unknown motion start and stop.
  private mutating func passTime(_ seconds: Double, _ motion: MotionModel) {
    rest.advance(by: seconds, movingShare: bank.movingShare, motion)
    if phase.isSettled { bank.mix(seconds: seconds, motion, after: rest) }
  }

  /// Takes a sample into the history, and judges whether that agrees with the place.
  mutating func record(_ measurements: Measurements, _ noise: NoiseLevels) {
    let isNew = history[0].add(measurements, at: device, noise, place: bank.heaviestPosition)
    if isNew, !consistency.isConsistent || !explainsShortRanges {
      explainsShortRanges = history[0].explainsShortRanges(bank.heaviestPosition, now: device)
    }
  }

  /// Takes over the history of the track that it replaces, as its place has the greater evidence there.
  mutating func inherit(historyOf other: Track) { history = other.history }

  private mutating func remember(_ measurements: Measurements) {
    // Performance: written out, as a closure copies the values that it writes to.
    if measurements.has(.range) { previousValues.range = measurements.values.range.value }
    if measurements.has(.azimuth) { previousValues.azimuth = measurements.values.azimuth.value }
    if measurements.has(.elevation) {
      previousValues.elevation = measurements.values.elevation.value
    }
    if measurements.has(.heightDifference) {
      previousValues.heightDifference = measurements.values.heightDifference.value
    }
  }

  /// What was measured, from where, and how it may be wrong.
  @inline(__always)
  private func measurement(
    _ measurements: Measurements, _ errors: PerKind<ErrorVariances>, _ device: TrajectoryPoint,
    _ isObstructed: Bool, _ settings: Settings
  ) -> KernelMeasurement {
    let rotation = device.worldFromDevice.rotation
    let (x, y, z) = (rotation.xAxis, rotation.yAxis, rotation.zAxis)
    let lever = settings.configuration.ranging.antennaInDevice
    let antenna = device.worldFromDevice.translation + lever.x * x + lever.y * y + lever.z * z

    // Noise of the pose: its interpolation, and for a late sample the drift since then.
    var pose = PoseNoise(place: device.interpolationVariance, turn: device.interpolationVariance)
    if device.timestamp < self.device.timestamp { addLateness(of: device, settings, to: &pose) }
    let angleVariance = pose.place / (distanceBefore * distanceBefore) + pose.turn

    let excess = settings.faults.rangeExcess(
      sigma: measurements.has(.range)
        ? measurements.values.range.sigma : settings.configuration.ranging.rangeSigma)
    let lastingSigma = FaultModel.lastingExcessSigma * excess
    return KernelMeasurement(
      measurements, antenna: antenna, rotation: rotation,
      // Performance: written out.
      variance: PerKind(
        range: errors.range.white + pose.place, azimuth: errors.azimuth.white + angleVariance,
        elevation: errors.elevation.white + angleVariance,
        heightDifference: errors.heightDifference.white + pose.place),
      previous: previousValues,
      onset: PerKind(
        range: isObstructed ? FaultModel.obstructedOnset : settings.faults.onset(of: .range),
        azimuth: settings.faults.onset(of: .azimuth),
        elevation: settings.faults.onset(of: .elevation),
        heightDifference: settings.faults.onset(of: .heightDifference)),
      rangeExcess: excess, lastingExcessVariance: lastingSigma * lastingSigma,
      fieldOfViewRadians: settings.configuration.ranging.fieldOfViewRadians)
  }

  /// How uncertain a device point is: its place, m² per axis, and its attitude, rad² per axis.
  private struct PoseNoise {
    var place: Double
    var turn: Double
  }

  /// A late sample meets the bank as it is now: what has happened since then is noise.
  @inline(__always)
  private func addLateness(
    of device: TrajectoryPoint, _ settings: Settings, to noise: inout PoseNoise
  ) {
    let drift = OdometryDrift(
      from: self.device, to: device, isPlanar: settings.configuration.odometry.isPlanar)
    let seconds = self.device.timestamp.seconds(since: device.timestamp)
    noise.place +=
      drift.horizontal
      + bank.movingShare * settings.motion.displacementVariances(seconds: seconds).horizontal
    noise.turn += drift.yaw
  }

  // MARK: A change of the declared motion

  /// Goes on with another declared motion, and with all that is known.
  ///
  /// A place that has been found stays: a peer that may move from now on is there, at rest or with a speed
  /// of which only the variances are known. During a search all that was measured is searched anew.
  ///
  /// - Parameters:
  ///   - motion: How the peer may move from now on.
  ///   - measurements: The newest sample.
  ///   - device: Where the device was then.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  mutating func setMotion(
    _ motion: PeerMotion, _ measurements: Measurements, at device: TrajectoryPoint,
    _ noise: NoiseLevels, _ settings: Settings
  ) {
    self.motion = motion
    birthDevice = self.device
    contradictedWalk = 0
    consistency = TrackConsistency()
    lastMotion = nil
    if phase.isSettled {
      // A place that was being refined is found; one that is lost stays lost.
      phase = phase.after(.flattened)
      convertPlace(settings)
      history = []
      endSearch()
    } else if let window = search.first?.window {
      let initial = InitialHypotheses(measurements, at: device, noise: noise, settings)
      bank = HypothesisBank(mayMove: motion != .stationary)
      bank.replace(with: seeds(of: initial, settings))
      search = [TrackSearch(window, initial, motion, features)]
      phase = .initial
      search[0].search(
        &bank, measurements, sampledAt: device, now: self.device, needsSweep: true, noise, settings)
      reduce(settings)
    }
    judge()
  }

  /// Makes the heaviest hypothesis one of a peer that moves as is declared.
  private mutating func convertPlace(_ settings: Settings) {
    var seed = bank.seed(bank.heaviest)
    seed.weight = 1
    let offset = StateIndex.wander(.heightDifference)
    if bank.stateCount <= offset {
      seed.covariance[StateIndex.packed(offset, offset)] = settings.heightOffset.variance
    }
    let speeds = settings.motion.speedVariances
    switch motion {
    case .stationary:
      bank = HypothesisBank(mayMove: false)
      bank.replace(with: [seed.resting()])
    case .moving:
      bank = HypothesisBank(mayMove: true)
      bank.replace(with: [seed.moves ? seed : seed.moving(at: speeds)])
    case .unknown:
      bank = HypothesisBank(mayMove: true)
      bank.replace(with: [seed.resting()])
      bank.pairUp(doubt: Self.movesAfterwards, speeds)
    }
  }

  // MARK: Stages 5 and 6, search and reduction

  /// Searches all places anew, by all that was ever measured.
  ///
  /// - Parameters:
  ///   - measurements: The newest sample.
  ///   - device: Where the device was then.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  mutating func reopen(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    _ settings: Settings
  ) {
    guard let window = history.first?.window, measurements.has(.range) else { return }
    let initial = InitialHypotheses(measurements, at: device, noise: noise, settings)
    history = []
    search = [TrackSearch(window, initial, motion, features)]
    phase = .initial
    birthDevice = self.device
    contradictedWalk = 0
    reopenedAt = self.device.path
    consistency = TrackConsistency()
    search[0].search(
      &bank, measurements, sampledAt: device, now: self.device, needsSweep: true, noise, settings)
    rangeInlierShare = search[0].rangeInlierShare
    reduce(settings)
  }

  /// Judges whether it explains the ranges, and whether it may be believed.
  ///
  /// A best place that calls half of the ranges faults is the best of a search in which no place fits:
  /// a peer that moves although it should rest, a pose that is wrong.
  ///
  /// A search that only refines the modes there are may have lost the right one; it is believed when
  /// two in a row of the whole prior have found the same. A place found for a peer of unknown motion is
  /// on probation at first: a search that takes it for resting finds the place where it would rest;
  /// only the filter after that tells the two apart.
  private mutating func judge() {
    explainsRanges =
      rangeInlierShare >= Self.leastInlierShare || !features.contains(.explanation)
    if motion == .unknown, features.contains(.probation) {
      isProven = !phase.isLost && phase.settledAt.map(hasRested(since:)) ?? false
    } else {
      isProven = phase.isConfirmed || !phase.isLost && !features.contains(.confirmation)
    }
  }

  private func hasRested(since settledAt: Timestamp) -> Bool {
    let since = max(settledAt, lastMotion ?? settledAt)
    return device.timestamp.seconds(since: since) >= Self.probation
  }

  /// Fits the hypotheses anew when there is something new, and reduces them; only during a search.
  ///
  /// - Parameters:
  ///   - measurements: The newest sample.
  ///   - device: Where the device was then.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  @inline(never)
  mutating func searchAndReduce(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    _ settings: Settings
  ) {
    guard !search.isEmpty else { return }
    let expectation = expectation
    let isDue = search[0].add(measurements, at: device, noise, expecting: expectation)
    let rangeSigma = settings.configuration.ranging.rangeSigma
    if phase.isRefining {
      if isDue || hasSwung(rangeSigma) {
        search[0].refine(&bank, at: self.device, noise, settings)
        if isFlat(rangeSigma) { phase = phase.after(.flattened) }
      }
    } else if isDue {
      search[0].search(
        &bank, measurements, sampledAt: device, now: self.device, needsSweep: phase.needsSweep,
        noise, settings)
    }
    rangeInlierShare = search[0].rangeInlierShare
    if !phase.isSearching { endSearch() }
    reduce(settings)
  }

  /// Where the peer is, if one place is left.
  private var expectation: ObservationWindow.Expectation? {
    guard phase.isRefining else { return nil }
    return .init(position: bank.position(0), spread: spreadAcross(negligible: true))
  }

  /// Reduces the hypotheses unless a search is on; one hypothesis of a peer at rest leaves nothing to
  /// reduce, nor anything new to judge by.
  ///
  /// Performance: mutating, since a track that is only read is copied.
  ///
  /// - Returns: Whether a search is on: ``searchAndReduce(_:at:_:_:)`` must follow.
  @inline(__always)
  mutating func reduceUnlessSearching(_ settings: Settings) -> Bool {
    if phase.isSearching { return true }
    if bank.count > 1 || motion != .stationary { reduce(settings) }
    return false
  }

  /// Prunes and merges hypotheses, and takes the track to its next phase.
  private mutating func reduce(_ settings: Settings) {
    defer { judge() }
    if bank.mayMove, phase.isSettled,
      spreadAcross(negligible: false) > Self.lostFactor * Self.settledSpread
    {
      phase = phase.after(.widened)
    }
    if phase.isSettled, motion == .unknown { return }
    bank.reduce(settings.configuration.hypotheses)
    guard !phase.isSettled else { return }
    let rangeSigma = settings.configuration.ranging.rangeSigma
    let isNarrow = isNarrow
    phase = phase.after(
      .reduced(
        TrackPhase.Reduction(
          time: device.timestamp, isNarrow: isNarrow,
          isOnePlace: isOnePlace(settings.configuration.convergence),
          wasSweep: !search.isEmpty && search.span[0].wasSweep,
          explainsRanges: rangeInlierShare >= Self.leastInlierShare
            || !features.contains(.explanation),
          needsRefinement: isNarrow && motion == .stationary && features.contains(.refinement)
            && !isFlat(rangeSigma))))
    if phase.isSettled { settle(settings) }
  }

  private mutating func endSearch() {
    if motion == .stationary, !search.isEmpty {
      history = [WalkHistory(search[0].window, at: device)]
      explainsShortRanges = history[0].explainsShortRanges(bank.heaviestPosition, now: device)
    }
    search = []
    rangeInlierShare = 1
  }

  /// The search has found one place.
  private mutating func settle(_ settings: Settings) {
    if phase.isRefining {
      for index in search.indices { search[index].keepBestPlace() }
    } else {
      endSearch()
    }
    guard motion == .unknown else { return }
    if isMovingNegligible { bank.keep(moving: false) }
    if isRestingNegligible { bank.keep(moving: true) }
    bank.pairUp(doubt: Self.movesAfterwards, settings.motion.speedVariances)
  }

  // MARK: The joint fit

  /// The share of a wandering error that the joint fit has seen in the newest samples.
  private static let seenShare = 0.9

  /// How far the device has gone since the track began, metres.
  @inline(__always)
  var walk: Double { device.path - birthDevice.path }

  /// Whether a range has been measured since the track began.
  var hasRange: Bool { !previousValues.range.isNaN }

  /// Whether an angle has been measured since the track began.
  var hasAngles: Bool { !previousValues.azimuth.isNaN || !previousValues.elevation.isNaN }

  /// How far the device has gone while the samples agreed with the track, metres.
  @inline(__always)
  var explainedWalk: Double { walk - contradictedWalk }

  /// Whether the share of too short ranges refutes the place, and the next search of the whole prior is due.
  @inline(__always)
  var isRefuted: Bool {
    !explainsShortRanges && !history.isEmpty && device.path - reopenedAt > Self.reopenedEvery
  }

  /// Goes on from what the joint fit has found.
  ///
  /// The state of the errors of angles stays as it is. The newest samples are in the fit already, with
  /// the wandering errors that the next ones will have, too: the error of the position that a wandering
  /// error w has caused is `-P Hᵀ w/R`, so the two are made correlated like that, as the same error would
  /// be counted twice otherwise.
  ///
  /// - Parameters:
  ///   - posterior: Where the peer is.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  mutating func adopt(
    _ posterior: JointPosterior, _ noise: NoiseLevels, _ settings: Settings
  ) {
    guard let mode = posterior.mode, posterior.device.timestamp >= device.timestamp else { return }
    let errors = settings.configuration.errorVariances(noise)
    let seed = seed(at: mode, posterior.device, errors, settings)
    if let rival = posterior.rival {
      bank.replace(with: [seed, self.seed(at: rival, posterior.device, errors, settings)])
    } else if bank.count == 1 {
      bank.refine(to: seed)
    } else {
      bank.replace(with: [seed])
    }
    device = posterior.device
    distanceBefore = distance(from: device)
    if posterior.explainsRanges { consistency = TrackConsistency() }
    phase = phase.after(.located(device.timestamp))
    endSearch()
    judge()
  }

  /// The hypothesis that goes on from a mode of the joint fit.
  private func seed(
    at mode: JointPosterior.Mode, _ device: TrajectoryPoint, _ errors: PerKind<ErrorVariances>,
    _ settings: Settings
  ) -> HypothesisBank.Seed {
    var seed = bank.seed(bank.heaviest)
    seed.weight = exp(mode.logWeight)
    for state in 0..<5 {
      seed.mean[state] = mode.mean[state]
      for other in 0..<bank.stateCount where other != state {
        seed.covariance[StateIndex.packed(min(state, other), max(state, other))] = 0
      }
    }
    for element in 0..<StateIndex.packed(0, 5) {
      seed.covariance[element] = mode.covariance[element]
    }
    for kind in MeasurementKind.allCases where StateIndex.wander(kind) < bank.stateCount {
      correlate(kind, errors[kind], from: device, settings, in: &seed)
    }
    return seed
  }

  /// Ties the wandering error of a kind to the position that the joint fit has found with it.
  private func correlate(
    _ kind: MeasurementKind, _ errors: ErrorVariances, from device: TrajectoryPoint,
    _ settings: Settings, in seed: inout HypothesisBank.Seed
  ) {
    let wander = StateIndex.wander(kind)
    for state in 0..<bank.stateCount where state != wander {
      seed.covariance[StateIndex.packed(min(state, wander), max(state, wander))] = 0
    }
    seed.mean[wander] = 0
    seed.covariance[StateIndex.packed(wander, wander)] = errors.wandering
    guard errors.wandering > 0, !previousValues[kind].isNaN else { return }
    let predicted = PredictedMeasurement(
      kind,
      from: AntennaPose(
        device.worldFromDevice, antennaInDevice: settings.configuration.ranging.antennaInDevice),
      peer: seed.position, rangeBias: seed.mean[StateIndex.rangeBias],
      rangeScale: seed.mean[StateIndex.rangeScale])
    let gradient = predicted.gradient
    var jacobian: InlineArray<5, Double> = [
      gradient.x, gradient.y, gradient.z, predicted.scaleDerivative, 0,
    ]
    if kind == .range { jacobian[StateIndex.rangeBias] = 1 }
    var gain = InlineArray<5, Double>(repeating: 0)
    var predictedVariance = 0.0
    for row in 0..<5 {
      for column in 0..<5 {
        gain[row] +=
          seed.covariance[StateIndex.packed(min(row, column), max(row, column))] * jacobian[column]
      }
      predictedVariance += gain[row] * jacobian[row]
    }
    // No larger than a covariance can be.
    let most =
      predictedVariance > 0
      ? (Self.seenShare * errors.wandering / predictedVariance).squareRoot() : 0
    let share = min(Self.seenShare * errors.wandering / (errors.wandering + errors.white), most)
    for state in 0..<5 {
      seed.covariance[StateIndex.packed(state, wander)] = -share * gain[state]
    }
  }

  // MARK: The shape of the posterior

  /// Whether the place has moved so far since it was last fitted that the shell's bend matters.
  ///
  /// Samples since then are linearised somewhere else than those before.
  private func hasSwung(_ rangeSigma: Double) -> Bool {
    guard
      let swing = search.span[0].swing(
        of: bank.position(0), from: device.worldFromDevice.translation)
    else { return false }
    return 0.5 * swing.across * swing.across
      > Self.flatNoiseShare * rangeSigma * swing.distance
  }

  /// Whether the shell that the ranges make bends by less, within the spread across, than matters, or
  /// the odometry has drifted by more than the spread.
  private func isFlat(_ rangeSigma: Double) -> Bool {
    let distance = (bank.heaviestPosition - device.worldFromDevice.translation).length
    let spread = spreadAcross(negligible: true)
    let drift = OdometryDrift(from: birthDevice, to: device, isPlanar: false)
    if drift.horizontal / (distance * distance) + drift.yaw > spread * spread { return true }
    return 0.5 * spread * spread * distance
      < Self.flatNoiseShare * rangeSigma + Self.flatDriftShare * drift.horizontal.squareRoot()
  }

  private var isMovingNegligible: Bool { bank.movingShare < Self.negligibleShare }
  private var isRestingNegligible: Bool { bank.movingShare > 1 - Self.negligibleShare }

  /// Whether one hypothesis is left, or one of each motion, narrow enough for its linearisation.
  private var isNarrow: Bool {
    let moving = (0..<bank.count).count { bank.moves($0) }
    let resting = bank.count - moving
    guard resting <= 1 || isRestingNegligible, moving <= 1 || isMovingNegligible else {
      return false
    }
    return spreadAcross(negligible: isMovingNegligible) < Self.settledSpread
  }

  /// Whether the hypotheses together are as narrow as convergence asks for.
  private func isOnePlace(_ convergence: ConvergenceConfiguration) -> Bool {
    let (mean, p) = bank.positionMoments()
    let distance = (mean - device.worldFromDevice.translation).length
    let required = convergence.requiredSigma(at: distance)
    return p.trace <= required * required
  }

  /// Whether the hypotheses are one place seen from above: they may differ in height.
  var isOnePlaceFromAbove: Bool {
    let (mean, p) = bank.positionMoments()
    let sight = mean - device.worldFromDevice.translation
    let limit = max(Self.placedSigma, Self.placedShare * sight.length)
    return p.xx + p.zz < limit * limit
  }

  /// The spread across the line of sight, as a ratio to the distance.
  ///
  /// - Parameter negligible: Whether what moves is left out.
  /// - Returns: The ratio.
  private func spreadAcross(negligible: Bool) -> Double {
    let (mean, p) =
      negligible
      ? (bank.heaviestPosition, bank.positionCovariance(bank.heaviest))
      : bank.positionMoments()
    let line = mean - device.worldFromDevice.translation
    let distance = max(line.length, 1e-3)
    return max(p.trace - p.quadraticForm(line / distance), 0).squareRoot() / distance
  }

  /// From a device point to the heaviest hypothesis; 0.3 m at least, for what is divided by it.
  @inline(__always)
  private func distance(from device: TrajectoryPoint) -> Double {
    max((bank.heaviestPosition - device.worldFromDevice.translation).length, 0.3)
  }

  /// Whether another track should be tried.
  @inline(__always)
  var isDoubted: Bool { consistency.isContradicted || phase.isLost }

  /// Whether the place of another track is one of its hypotheses', as far as their covariances tell.
  func includes(_ other: Track) -> Bool {
    let (place, covariance) = (
      other.bank.heaviestPosition, other.bank.positionCovariance(other.bank.heaviest)
    )
    return (0..<bank.count).contains { index in
      !PlaceDifference(
        offset: bank.position(index) - place,
        covariance: covariance + bank.positionCovariance(index)
      ).isSignificant
    }
  }

  // MARK: Later

  /// The bank at another device point: a peer that moves has gone on.
  ///
  /// Drift since is not in it; the view adds that.
  @inline(__always)
  func bank(at device: TrajectoryPoint, _ settings: Settings) -> HypothesisBank {
    let seconds = device.timestamp.seconds(since: self.device.timestamp)
    guard bank.mayMove, seconds > 0 else { return bank }
    var later = bank
    var motion = KernelMotion(
      device: device.worldFromDevice.translation, seconds: seconds, drift: nil, settings.motion)
    later.propagate(&motion)
    return later
  }

  /// Whether a peer that may move can by now be on any side of the device.
  ///
  /// It has not been heard for a while, and the place where it may have got to is as wide as it is far
  /// away. Then a linearised update with the old place is worth less than none.
  ///
  /// - Parameters:
  ///   - device: The device at the next sample.
  ///   - range: The range measured there, metres.
  ///   - settings: The settings.
  /// - Returns: Whether it can.
  func isForgotten(at device: TrajectoryPoint, range: Double, _ settings: Settings) -> Bool {
    guard device.timestamp.seconds(since: self.device.timestamp) > Self.longGap else {
      return false
    }
    let (mean, p) = bank(at: device, settings).positionMoments()
    let line = mean - device.worldFromDevice.translation
    let distance = max(line.length, 1e-3)
    let across = max(p.trace - p.quadraticForm(line / distance), 0).squareRoot()
    return across >= range && across > Self.lostFactor * Self.settledSpread * distance
  }
}

extension HypothesisBank.Seed {
  /// The same for a peer that has come to rest.
  fileprivate func resting() -> Self {
    var seed = self
    seed.moves = false
    for axis in 0..<3 {
      let velocity = StateIndex.velocity(axis)
      seed.mean[velocity] = 0
      for state in 0..<StateIndex.movingCount {
        seed.covariance[StateIndex.packed(min(state, velocity), max(state, velocity))] = 0
      }
    }
    return seed
  }

  /// The same for a peer that moves, of whose speed only the variances are known.
  func moving(at speedVariances: InlineArray<3, Double>) -> Self {
    var seed = self
    seed.moves = true
    for axis in 0..<3 {
      let state = StateIndex.velocity(axis)
      seed.covariance[StateIndex.packed(state, state)] = speedVariances[axis]
    }
    return seed
  }
}
