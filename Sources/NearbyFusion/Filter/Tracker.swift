// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// One account of where a peer is: a bank of hypotheses, and while it still searches, the window of
/// all that it has seen.
struct Tracker: Sendable {
  private(set) var bank: HypothesisBank
  /// The device at the newest sample: the time at which the bank stands.
  private(set) var device: TrajectoryPoint
  private(set) var spread = DeviceSpread()
  private var rangeMonitor = ContradictionMonitor()
  private var angleMonitor = ContradictionMonitor()
  /// How many ranges in a row were far too short for the heaviest hypothesis.
  private var shortRanges = 0
  /// How the newest sample met the heaviest hypothesis.
  private(set) var outcomes = PerComponent(
    range: Outcome(), azimuth: Outcome(), elevation: Outcome())
  /// The share of that hypothesis.
  private(set) var outcomesWeight = 1.0
  /// The device at the first sample.
  let birthDevice: TrajectoryPoint
  /// Whether one hypothesis is left, or one of each motion, and is narrow enough for its
  /// linearisation: from then on the filter goes on alone.
  var isSettled: Bool { settledAt != nil }

  /// Whether it is still fitted anew to all that has been seen.
  var isSearching: Bool { !isSettled || isRefining }

  private let motion: PeerMotion
  private let features: EngineFeatures
  private var window: ObservationWindow
  /// Searches for a peer at rest and for a moving one; `nil` for what the peer cannot do.
  private var restingModes: ModeSearch?
  private var movingModes: ModeSearch?
  /// The share of the window's ranges that the best place takes for honest.
  private var honestRanges = 1.0
  /// Whether the best place takes most of the ranges so far for honest.
  private(set) var explainsWhatItSaw = true
  /// Whether it may be believed.
  private(set) var isProven = false
  private var settledAt: Timestamp?
  /// When a peer of unknown motion may last have moved.
  private var lastMotion: Timestamp?
  /// Whether the one place that is left is still fitted to all that has been seen.
  private var isRefining = false
  /// Where that fit has last found it.
  private var refinedPlace: Vector3?
  /// Whether the peer may move, and the account has settled and become too wide for its linearisation
  /// since: from then on it is no more than a guess, however narrow it may become again.
  private(set) var isLost = false
  private var searches = 0
  private var newKeyframes = 0
  private var isSweep = false
  /// Whether the next search is to look everywhere: it may be the last one, or say that it converged.
  private var needsSweep = false
  /// Whether the last search that looked everywhere found the peer in one place, and whether the last
  /// two did.
  private var wasPlace = false
  private var isConfirmed = false
  private var previousValues: InlineArray<3, Double>
  /// How much of the wandering errors the last prediction renewed.
  private(set) var novelty = (range: 0.0, angle: 0.0)
  /// How far away the peer was held to be before the last update: next time there is no need to wait
  /// for what that one made of it.
  private var distanceBefore = 0.0

  /// How one component of a sample met a hypothesis.
  ///
  /// What a report has side by side does not stand so here: it is written one by one, and to read it
  /// in pairs would be to wait until both are in the cache.
  struct Outcome {
    var innovation = 0.0
    /// The probability that the value was no outlier.
    var inlier = 1.0
    var innovationVariance = Double.infinity
    /// The hypothesis' estimate of the component's pose-dependent error.
    var poseDependent = 0.0

    init() {}

    /// As it stands in the fields of a hypothesis; a range's constant error depends on no pose.
    @inline(__always)
    fileprivate init(_ component: Int, _ field: (HypothesisBank.Field) -> Double) {
      innovation = field(.innovation(component))
      innovationVariance = field(.innovationVariance(component))
      inlier = field(.inlier(component))
      poseDependent = field(.mean(Int(NEARBY_STATE_RANGE_WANDER) + component))
      if component > 0 {
        poseDependent += field(.mean(Int(NEARBY_STATE_RANGE_BIAS) + component))
      }
    }
  }

  private static let wander = WanderModel()
  /// How likely a peer of unknown motion moves at first, and once it was found at rest.
  private static let movesAtFirst = 0.2
  private static let movesAfterwards = 0.01
  /// Neither motion is ever ruled out while the search lasts.
  private static let leastShare = 0.005
  /// A settled account that has become so many times wider than it settled is lost.
  private static let lostFactor = 2.0
  /// How likely a range is faulty that the radio itself calls obstructed.
  private static let obstructedOnset = 0.5
  /// How far an excess that lasts strays while it lasts, in mean excesses.
  private static let lastingWander = 0.2
  /// A bank whose spread across the line of sight is below this, as a ratio to the distance, is
  /// settled: its shell is flat within half a percent of the distance.
  private static let settledSpread = 0.1
  /// A shell is flat when it bends by less than this share of a range's sigma, and by this share of
  /// what the odometry has drifted.
  private static let flatNoiseShare = 0.1
  private static let flatDriftShare = 0.25
  /// Angles are wrong in a row more often than ranges: they must be so for this many times as long.
  private static let anglePatience = 2.0
  /// How long the filter must have gone on alone, and a peer of unknown motion must have rested,
  /// before it is believed to be where it was found, seconds.
  private static let probation = 1.5
  /// A peer of unknown motion that moves with this probability may have been moving.
  private static let mayHaveMoved = 0.1
  /// A search whose best place takes fewer of the ranges for honest has found nothing.
  private static let leastHonestRanges = 0.5
  private static let testRadians = 0.3
  /// One search in so many looks everywhere; the others refine the modes there are.
  private static let searchesPerSweep = 6
  private static let keyframesPerSearch = 12

  // MARK: Stage 2, birth

  init(
    _ components: Components, at device: TrajectoryPoint, motion: PeerMotion, noise: NoiseLevels,
    _ configuration: FusionConfiguration
  ) {
    self.device = device
    self.motion = motion
    features = configuration.features
    bank = HypothesisBank(mayMove: motion != .stationary)
    window = ObservationWindow(mayMove: motion != .stationary)
    birthDevice = device
    previousValues = InlineArray(repeating: .nan)
    let birth = Birth(
      components, at: device, noise: noise, configuration,
      maximumCount: configuration.hypotheses.maximumCount)
    restingModes = motion == .moving ? nil : ModeSearch(birth, moves: false, features)
    movingModes = motion == .stationary ? nil : ModeSearch(birth, moves: true, features)
    var seeds: [HypothesisBank.Seed] = []
    if motion != .moving { seeds += birth.seeds().weighted(to: 1 - Self.movesAtFirst) }
    if motion != .stationary {
      let speeds = configuration.speedVariances
      seeds += birth.seeds().weighted(to: Self.movesAtFirst).map { $0.moving(at: speeds) }
    }
    bank.replace(with: seeds)
    distanceBefore = distance(from: device)
    _ = window.add(components, at: device, noise: noise, expecting: nil)
    spread.add(device.worldFromDevice.translation)
    remember(components)
    judgeItself()
  }

  /// Takes less memory until it is woken up; nothing may be asked of it meanwhile.
  mutating func sleep() {
    bank.pack()
    restingModes?.sleep()
    movingModes?.sleep()
  }

  /// Undoes ``sleep()``.
  mutating func wake() {
    bank.unpack()
    restingModes?.wake()
    movingModes?.wake()
  }

  /// Stages 3, 4 and 6: takes one sample into account, when it does not search.
  mutating func step(
    _ components: Components, _ variances: NoiseVariances, at device: TrajectoryPoint,
    isObstructed: Bool, _ settings: Settings
  ) {
    fuse(components, variances, at: device, isObstructed: isObstructed, settings)
    // One hypothesis of a peer at rest: there is nothing to reduce, nor anything new to judge by.
    if bank.count > 1 || motion != .stationary { reduce(settings) }
  }

  /// Stages 3 to 6: the same when it does, with how noisy the components are.
  mutating func searchingStep(
    _ components: Components, _ variances: NoiseVariances, at device: TrajectoryPoint,
    noise: NoiseLevels, isObstructed: Bool, _ settings: Settings
  ) {
    fuse(components, variances, at: device, isObstructed: isObstructed, settings)
    search(components, at: device, noise: noise, settings.configuration)
    reduce(settings)
  }

  // MARK: Stage 3, what a prediction asks of the way

  /// What becomes of a bank on the way to a later device point, but for what depends on how far it was.
  @inline(__always)
  private func kernelMotion(
    to device: TrajectoryPoint, seconds: Double, _ settings: Settings
  ) -> nearby_motion {
    let drift = OdometryDrift(
      from: self.device, to: device, isPlanar: settings.configuration.odometry.isPlanar)
    var motion = nearby_motion(
      moving: settings, seconds: seconds, device: device.worldFromDevice.translation)
    motion.horizontal_diffusion = drift.horizontal
    motion.vertical_diffusion = drift.vertical
    motion.yaw_diffusion = drift.yaw
    return motion
  }

  /// How far it is to a later device point, for wandering errors and for faults that last.
  @inline(__always)
  private func kernelTravel(
    to device: TrajectoryPoint, seconds: Double, _ variances: NoiseVariances, _ settings: Settings
  ) -> nearby_travel {
    let forgotten = Self.wander.travelled(from: self.device, to: device, distance: distanceBefore)
    return nearby_travel(
      range: forgotten.range, range_variance: variances.wandering.range, angle: forgotten.angle,
      azimuth_variance: variances.wandering.azimuth, fault: seconds * settings.faultRate,
      elevation_variance: variances.wandering.elevation)
  }

  /// The bank at another device point: a peer that moves has gone on.
  ///
  /// Drift since is not in it; the view adds that.
  @inline(__always)
  func bank(at device: TrajectoryPoint, _ settings: Settings) -> HypothesisBank {
    let seconds = device.timestamp.seconds(since: self.device.timestamp)
    guard bank.mayMove, seconds > 0 else { return bank }
    var later = bank
    var motion = nearby_motion(
      moving: settings, seconds: seconds, device: device.worldFromDevice.translation)
    later.propagate(&motion)
    return later
  }

  /// A gap without samples after which a peer may have gone anywhere, seconds at least.
  private static let longGap = 2.0

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

  /// From a device point to the heaviest hypothesis; 0.3 m at least, for what is divided by it.
  @inline(__always)
  private func distance(from device: TrajectoryPoint) -> Double {
    max((bank.heaviestPosition - device.worldFromDevice.translation).length, 0.3)
  }

  // MARK: Stages 3 and 4, prediction and update

  /// Predicts and updates; a late sample meets the bank as it is now, with the drift since then as
  /// noise.
  private mutating func fuse(
    _ components: Components, _ variances: NoiseVariances, at device: TrajectoryPoint,
    isObstructed: Bool, _ settings: Settings
  ) {
    if device.timestamp > self.device.timestamp {
      let seconds = device.timestamp.seconds(since: self.device.timestamp)
      var travel = kernelTravel(to: device, seconds: seconds, variances, settings)
      if isSettled, motion == .unknown { bank.mix(seconds: seconds, settings.configuration) }
      distanceBefore = distance(from: device)
      var measurement = measurement(components, variances, device, isObstructed, settings)
      var motion = kernelMotion(to: device, seconds: seconds, settings)
      let decays = bank.advance(&motion, &travel, to: &measurement)
      novelty = (1 - decays.range * decays.range, 1 - decays.angle * decays.angle)
      self.device = device
    } else {
      var measurement = measurement(components, variances, device, isObstructed, settings)
      measurement.lasting_range_variance = 0
      bank.update(&measurement)
      novelty = (0, 0)
    }
    spread.add(device.worldFromDevice.translation)
    remember(components)
    if bank.isColumn {
      takeNote(components)
    } else {
      takeNoteOfHeaviest(components)
    }
    if motion == .unknown, bank.movingShare > Self.mayHaveMoved { lastMotion = device.timestamp }
    watch(components, at: device.timestamp, patience: settings.configuration.faults.doubtAfter)
  }

  /// Takes note of how the components met the only hypothesis.
  @inline(__always)
  private mutating func takeNote(_ components: Components) {
    outcomesWeight = 1
    if components.has(0) { outcomes.range = Outcome(0) { bank.only($0) } }
    if components.has(1) { outcomes.azimuth = Outcome(1) { bank.only($0) } }
    if components.has(2) { outcomes.elevation = Outcome(2) { bank.only($0) } }
  }

  /// Takes note of how they met the heaviest of several.
  @inline(never)
  private mutating func takeNoteOfHeaviest(_ components: Components) {
    let best = bank.heaviest
    outcomesWeight = bank.weight(best)
    for component in 0..<3 where components.has(component) {
      outcomes[component] = Outcome(component) { bank[$0, best] }
    }
  }

  private mutating func remember(_ components: Components) {
    if components.has(0) { previousValues[0] = components.measured.range.value }
    if components.has(1) { previousValues[1] = components.measured.azimuth.value }
    if components.has(2) { previousValues[2] = components.measured.elevation.value }
  }

  /// Takes note of which components contradict the heaviest hypothesis.
  @inline(__always)
  private mutating func watch(_ components: Components, at time: Timestamp, patience: Double) {
    if components.has(0) {
      let contradicts = outcomes.range.inlier < 0.5
      rangeMonitor.add(contradicts: contradicts, at: time, patience: patience)
      if contradicts {
        countShortRange()
      } else {
        shortRanges = 0
      }
    }
    if components.has(1) || components.has(2) {
      let isFaulty =
        components.has(1) && outcomes.azimuth.inlier < 0.5
        || components.has(2) && outcomes.elevation.inlier < 0.5
      angleMonitor.add(
        contradicts: isFaulty, at: time, patience: Self.anglePatience * patience)
    }
  }

  /// So many sigmas below the prediction a range is far too short, and so many in a row convince.
  private static let shortSigmas = 5.0
  private static let convincingShortRanges = 3

  @inline(never)
  private mutating func countShortRange() {
    let range = outcomes.range
    let isShort =
      outcomesWeight > 0.9 && range.innovation < 0
      && range.innovation * range.innovation
        > Self.shortSigmas * Self.shortSigmas * range.innovationVariance
    shortRanges = isShort ? shortRanges + 1 : 0
  }

  /// Whether several ranges in a row were far too short: no obstacle makes a range shorter, so the peer
  /// is nearer than this account has it.
  var rangesAreTooShort: Bool { shortRanges >= Self.convincingShortRanges }
  /// Whether the ranges lately contradict this account.
  var rangesContradict: Bool { rangeMonitor.isContradicted || rangesAreTooShort }
  /// Whether the ranges or, for longer, the angles contradict it.
  var isContradicted: Bool { rangesContradict || angleMonitor.isContradicted }
  /// Whether another account should be tried.
  var isDoubted: Bool { isContradicted || isLost }
  /// Whether all agree with it.
  var isConsistent: Bool {
    rangeMonitor.isConsistent && angleMonitor.isConsistent && !rangesAreTooShort
  }
  /// Whether the device has since birth seen the peer from another side: an angle that is stuck
  /// would have shown.
  var hasBeenTested: Bool {
    device.turn - birthDevice.turn + (device.path - birthDevice.path) / distance(from: device)
      > Self.testRadians
  }

  /// What was measured, from where, and how it may be wrong, but for what depends on how much time
  /// has passed: as if none had.
  @inline(__always)
  private func measurement(
    _ components: Components, _ variances: NoiseVariances, _ device: TrajectoryPoint,
    _ isObstructed: Bool, _ settings: Settings
  ) -> nearby_measurement {
    let rotation = device.worldFromDevice.rotation
    let (x, y, z) = (rotation.xAxis, rotation.yAxis, rotation.zAxis)
    let lever = settings.configuration.ranging.antennaInDevice
    let antenna = device.worldFromDevice.translation + lever.x * x + lever.y * y + lever.z * z

    // Noise of the pose: its interpolation, and for a late sample the drift since then.
    var pose = PoseNoise(place: device.interpolationVariance, turn: device.interpolationVariance)
    if device.timestamp < self.device.timestamp { addLateness(of: device, settings, to: &pose) }
    let angleVariance = pose.place / (distanceBefore * distanceBefore) + pose.turn

    let excess = max(
      settings.configuration.faults.rangeExcess,
      5
        * (components.has(0)
          ? components.measured.range.sigma : settings.configuration.ranging.rangeSigma))
    let wander = Self.lastingWander * excess
    return nearby_measurement(
      antenna_in_world: (antenna.x, antenna.y, antenna.z),
      device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z),
      present: components.present,
      value: (
        components.measured.range.value, components.measured.azimuth.value,
        components.measured.elevation.value
      ),
      variance: (
        variances.white.range + pose.place, variances.white.azimuth + angleVariance,
        variances.white.elevation + angleVariance
      ),
      previous: (previousValues[0], previousValues[1], previousValues[2]),
      fault_onset: (
        isObstructed ? Self.obstructedOnset : settings.configuration.faults.rangeOnset,
        settings.configuration.faults.angleOnset, settings.configuration.faults.angleOnset
      ),
      // The bank of a late sample stands still: a fault is what it was.
      fault_persistence: 1, range_excess: excess,
      // By which an excess strays in the long run; the way since says how much of it applies.
      lasting_range_variance: wander * wander,
      field_of_view: settings.configuration.ranging.fieldOfViewRadians)
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
      + bank.movingShare * settings.configuration.motion.strayingVariance(seconds: seconds)
    noise.turn += drift.yaw
  }

  // MARK: Stage 5, search

  /// While the posterior is still bent: fits the hypotheses anew to all that has been seen, whenever
  /// there is something new in it.
  private mutating func search(
    _ components: Components, at device: TrajectoryPoint, noise: NoiseLevels,
    _ configuration: FusionConfiguration
  ) {
    guard isSearching else { return }
    let isNew = window.add(components, at: device, noise: noise, expecting: expectation)
    // The more has been seen, the less one keyframe more can change.
    if isNew { newKeyframes += 1 }
    let isDue = isNew && newKeyframes > window.count / Self.keyframesPerSearch
    guard isDue || isRefining && hasSwung(configuration.ranging.rangeSigma) else { return }
    newKeyframes = 0
    if isRefining {
      refine(noise, configuration)
      return
    }
    isSweep = searches % Self.searchesPerSweep == 0 || needsSweep
    searches += 1
    // Where a peer that moves was at first says nothing about where it is after a while.
    if isSweep, movingModes != nil, components[0] != nil {
      let birth = Birth(
        components, at: device, noise: noise, configuration,
        maximumCount: configuration.hypotheses.maximumCount)
      movingModes = ModeSearch(birth, moves: true, features)
    }
    let resting = seedsAtRest(noise, configuration)
    var modes = movingModes.take()
    let moving = seeds(&modes, motion: configuration.motion, noise, configuration)
    movingModes = modes
    honestRanges = restingModes?.honestRanges ?? movingModes?.honestRanges ?? 1
    // How much of the weight is the moving ones' is for the samples to say, one by one as each was
    // predicted: a window's evidence depends too much on how its drift was approximated.
    let movingShare = min(max(bank.movingShare, Self.leastShare), 1 - Self.leastShare)
    let seeds =
      resting.weighted(to: 1 - movingShare)
      + moving.weighted(to: movingShare)
    if !seeds.isEmpty { bank.replace(with: seeds) }
  }

  /// Where the peer is, if one place is left.
  private var expectation: ObservationWindow.Expectation? {
    guard isRefining else { return nil }
    return .init(position: bank.position(0), spread: spreadAcross(negligible: true))
  }

  /// Fits the place that is left anew.
  ///
  /// While its shell still bends by more than the ranges' noise, a filter that linearises sample by
  /// sample, each time somewhere else, would gain information that is not there (Huang, Mourikis and
  /// Roumeliotis 2010); a fit linearises all samples at one place.
  private mutating func refine(_ noise: NoiseLevels, _ configuration: FusionConfiguration) {
    let seeds = seedsAtRest(noise, configuration)
    honestRanges = restingModes?.honestRanges ?? 1
    if let seed = seeds.first { bank.refine(to: seed) }
    refinedPlace = bank.position(0)
    if isFlat(configuration.ranging.rangeSigma) { finishSearch() }
  }

  private mutating func seedsAtRest(
    _ noise: NoiseLevels, _ configuration: FusionConfiguration
  ) -> [HypothesisBank.Seed] {
    // Taken out, so that the pieces are not copied as long as another holds them.
    var modes = restingModes.take()
    defer { restingModes = modes }
    return seeds(&modes, motion: nil, noise, configuration)
  }

  /// What one search makes of the window.
  private func seeds(
    _ modes: inout ModeSearch?, motion: MotionConfiguration?, _ noise: NoiseLevels,
    _ configuration: FusionConfiguration
  ) -> [HypothesisBank.Seed] {
    guard modes != nil else { return [] }
    let ranging = configuration.ranging
    let keyframes = window.kernelKeyframes(
      now: device, antennaInDevice: ranging.antennaInDevice, wander: Self.wander,
      isPlanar: configuration.odometry.isPlanar, motion: motion,
      faultSeconds: configuration.features.contains(.faultChains)
        ? configuration.faults.lastingSeconds : 1e-3)
    return modes?.seeds(
      keyframes, isSweep: isSweep,
      antennaInWorld: device.worldFromDevice.act(ranging.antennaInDevice),
      ErrorVariances(noise, configuration), configuration) ?? []
  }

  /// Judges how far the account may be believed, after each step.
  ///
  /// A best place that calls half of the ranges faults is the best of a search in which no place fits:
  /// a peer that moves although it should rest, a pose that is wrong.
  ///
  /// A search that only refines the modes there are may have lost the right one; what it says is
  /// believed when two in a row that looked everywhere said so too. A place found for a peer of unknown
  /// motion is on probation at first: a search that takes it for resting finds the place where it would
  /// rest; only the filter after that tells the two apart.
  private mutating func judgeItself() {
    explainsWhatItSaw = isMostlyHonest
    if isLost {
      isProven = false
    } else if motion == .unknown, features.contains(.probation) {
      isProven = settledAt.map(hasRested(since:)) ?? false
    } else {
      isProven = isSettled || isConfirmed || !features.contains(.confirmation)
    }
  }

  private func hasRested(since settledAt: Timestamp) -> Bool {
    let since = max(settledAt, lastMotion ?? settledAt)
    return device.timestamp.seconds(since: since) >= Self.probation
  }

  private var isMostlyHonest: Bool {
    !features.contains(.explanation) || honestRanges >= Self.leastHonestRanges
  }

  // MARK: Stage 6, reduction

  private mutating func reduce(_ settings: Settings) {
    defer { judgeItself() }
    if isSettled, bank.mayMove,
      spreadAcross(negligible: false) > Self.lostFactor * Self.settledSpread
    {
      isLost = true
    }
    if isSettled, motion == .unknown { return }
    bank.reduce(settings.configuration.hypotheses)
    guard !isSettled else { return }
    let isNarrow = isNarrow
    let isPlace = isOnePlace(settings.configuration.convergence)
    if isSweep {
      isConfirmed = isPlace && wasPlace
      wasPlace = isPlace
    }
    needsSweep = isNarrow || isPlace && !isConfirmed
    // Only a search that has looked everywhere may be the last one.
    if isNarrow, isSweep, isMostlyHonest { settle(settings.configuration) }
    isSweep = false
  }

  private mutating func settle(_ configuration: FusionConfiguration) {
    settledAt = device.timestamp
    isRefining =
      motion == .stationary && features.contains(.refinement)
      && !isFlat(configuration.ranging.rangeSigma)
    if isRefining {
      restingModes?.keepBest()
    } else {
      finishSearch()
    }
    guard motion == .unknown else { return }
    if isMovingNegligible { bank.removeMoving() }
    bank.pairUp(doubt: Self.movesAfterwards, configuration.speedVariances)
  }

  /// Whether the place has moved so far since it was last fitted that the shell's bend matters.
  ///
  /// Samples since then are linearised somewhere else than those before. Not before the first fit,
  /// which keeps the pace of the search.
  private func hasSwung(_ rangeSigma: Double) -> Bool {
    guard let refinedPlace else { return false }
    let swing = (bank.position(0) - refinedPlace).length
    let distance = (refinedPlace - device.worldFromDevice.translation).length
    return 0.5 * swing * swing > Self.flatNoiseShare * rangeSigma * distance
  }

  /// Leaves the filter alone.
  private mutating func finishSearch() {
    isRefining = false
    window = ObservationWindow(mayMove: motion != .stationary)
    restingModes = nil
    movingModes = nil
    honestRanges = 1
  }

  /// Whether the shell that the ranges make bends by less, within the spread across, than matters, or
  /// the odometry has drifted by more than the spread.
  private func isFlat(_ rangeSigma: Double) -> Bool {
    let distance = (bank.heaviestPosition - device.worldFromDevice.translation).length
    let spread = spreadAcross(negligible: true)
    let drift = device.positionDriftVariance - birthDevice.positionDriftVariance
    let yaw = device.yawDriftVariance - birthDevice.yawDriftVariance
    if drift / (distance * distance) + yaw > spread * spread { return true }
    return 0.5 * spread * spread * distance
      < Self.flatNoiseShare * rangeSigma + Self.flatDriftShare * drift.squareRoot()
  }

  private var isMovingNegligible: Bool { bank.movingShare < Self.movesAfterwards }

  /// Whether one hypothesis is left, or one of each motion, narrow enough for its linearisation.
  private var isNarrow: Bool {
    let resting = (0..<bank.count).count { !bank.moves($0) }
    let moving = isMovingNegligible ? 0 : bank.count - resting
    guard resting <= 1, moving <= 1 else { return false }
    return spreadAcross(negligible: isMovingNegligible) < Self.settledSpread
  }

  /// Whether the hypotheses together are as narrow as convergence asks for.
  private func isOnePlace(_ convergence: ConvergenceConfiguration) -> Bool {
    let (mean, p) = bank.positionMoments()
    let distance = (mean - device.worldFromDevice.translation).length
    let required = max(convergence.sigmaFloor, convergence.sigmaPerDistance * distance)
    return p.trace <= required * required
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
}

extension nearby_motion {
  /// What a peer that moves does in a time; no drift, and all wandering errors as they were.
  fileprivate init(moving settings: Settings, seconds: Double, device: Vector3) {
    self.init()
    let speeds = settings.speedVariances
    device_in_world = (device.x, device.y, device.z)
    (range_wander_decay, azimuth_wander_decay, elevation_wander_decay) = (1, 1, 1)
    self.seconds = seconds
    horizontal_speed_variance = speeds[0]
    vertical_speed_variance = speeds[1]
    velocity_seconds = settings.configuration.motion.velocitySeconds
  }
}

extension [HypothesisBank.Seed] {
  /// The same with weights that have another sum.
  fileprivate func weighted(to sum: Double) -> Self {
    let total = reduce(0) { $0 + $1.weight }
    return map { seed in
      var seed = seed
      seed.weight *= sum / total
      return seed
    }
  }
}

extension HypothesisBank.Seed {
  /// The same for a peer that moves, of whose speed only the variances are known.
  fileprivate func moving(at speedVariances: InlineArray<3, Double>) -> Self {
    var seed = self
    seed.moves = true
    for axis in 0..<3 {
      let state = Int(NEARBY_STATE_VELOCITY) + axis
      seed.covariance[HypothesisBank.packed(state, state)] = speedVariances[axis]
    }
    return seed
  }
}
