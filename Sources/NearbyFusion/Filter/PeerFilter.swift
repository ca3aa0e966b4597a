// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// What the engine knows of one peer.
///
/// The incumbent track is the one that is published. When the samples keep contradicting it, a
/// challenger is born from them and runs beside it (``Challenge``).
struct PeerFilter: Sendable, Codable {
  /// How the peer may move; a change takes effect with the next sample that is used.
  var motion: PeerMotion
  /// The incumbent and after it, while there is one, the challenger; empty before the second sample.
  ///
  /// Performance: in an array because a track is worked on in place; it is too large to be copied with
  /// every sample.
  private var tracks: [Track] = []
  /// The former incumbent, while it may be the right one.
  private var dormant: [DormantTrack] = []
  /// How they are kept between samples.
  private var storage = Storage.ready
  /// In a crowd of peers, what the only track was born of while nothing has been learnt since.
  private var birthMeasurements: [Measurements] = []
  private(set) var convergence = ConvergenceState()
  private(set) var posterior = RestingPosterior()

  /// The filter of ranges alone: of a peer that may move, and of one at rest while its ranges cannot be held
  /// against a place, or the place that is published does not tell the distance.
  private var ranges: RangeTracker? {
    get { rangeTrackers.first }
    set {
      // Performance: in place, as ranges are followed anew after every outlier.
      guard let newValue else { return rangeTrackers.removeAll(keepingCapacity: true) }
      if rangeTrackers.isEmpty {
        rangeTrackers.append(newValue)
      } else {
        rangeTrackers[0] = newValue
      }
    }
  }
  /// Whether the distance that is published is that of the ranges alone.
  private var publishesRanges = false
  /// The distance that is published in the place of the posterior's; `nil` when that is the posterior's.
  var publishedRanges: RangeTracker? { publishesRanges ? rangeTrackers.first : nil }
  /// Performance: in an array, since a test for `nil` copies a large optional.
  private var rangeTrackers: [RangeTracker] = []
  /// Whether ranges are filtered by themselves.
  @inline(__always)
  private var hasRanges: Bool { !rangeTrackers.isEmpty }

  /// The filter of azimuths alone, while there are no poses.
  ///
  /// Performance: in an array, as it is large and rare.
  private var azimuthTrackers: [AzimuthTracker] = []
  /// The bearing by azimuths alone; `nil` when there are poses, or no azimuths.
  func azimuth(at time: Timestamp) -> (azimuthRadians: Double, sigma: Double)? {
    azimuthTrackers.first?.estimate(at: time)
  }

  /// Whether a peer of unknown motion is on its way.
  private var isUnderway = false
  /// When an azimuth was last used; only of a peer of unknown motion.
  private var lastAzimuth: Timestamp?
  /// The age of the newest azimuth, seconds, up to which the direction to a peer of unknown motion is
  /// published.
  private static let azimuthSeconds = 1.5
  /// The world that the tracks are in.
  private var world: Int?
  private(set) var noise: NoiseLevels
  /// The ratio of the published covariance to the filter's, of a peer at rest.
  private var inflation = VarianceInflation()
  private var screening = SampleScreening()
  /// What may be claimed along the direction that the walk does not tell.
  private var claim = WeakDirectionClaim.resolved
  /// The walk, as far as it matters for that.
  private var walk = AssessedWalk()

  /// The shape of the walk as it was last assessed.
  private struct AssessedWalk: Codable {
    /// Whether an azimuth has been measured.
    var hasAzimuths = false
    var isFlat = true
    var isLine = true
    /// Whether the weak direction is that of gravity rather than a horizontal one; that of the last flat
    /// walk.
    var isAlongGravity = true
    /// The device's path up to which that holds, metres.
    var assessedPath = -Double.infinity
  }

  /// How tracks are kept between samples: as they are worked on unless there is a crowd of peers.
  private enum Storage: Codable {
    /// As they are worked on.
    case ready
    /// With the hypotheses packed, and what the joint fit asks of them, once they are one place.
    ///
    /// Performance: in an array, as it is large and rare.
    case packed([JointCandidate])
    /// Only what the first track is born of (``birthMeasurements``), again whenever it is asked for, from
    /// its first sample to the second: nothing is learnt meanwhile. Hypotheses all over a sphere take
    /// sixty kilobytes, and most devices in a crowd are never heard twice.
    case unborn
  }

  init(motion: PeerMotion, _ ranging: RangingConfiguration) {
    self.motion = motion
    noise = NoiseLevels(ranging)
  }

  /// Whether a restored filter fits the settings of a configuration.
  func isConsistent(with configuration: FusionConfiguration) -> Bool {
    guard tracks.count <= 2, dormant.count <= 1, rangeTrackers.count <= 1,
      azimuthTrackers.count <= 1,
      birthMeasurements.count <= 1, birthMeasurements.allSatisfy(\.isConsistent),
      rangeTrackers.allSatisfy({ $0.isConsistent(with: configuration) }),
      azimuthTrackers.allSatisfy({ $0.isConsistent(with: configuration) })
    else { return false }
    let mayBePacked: Bool
    switch storage {
    case .ready:
      guard !tracks.isEmpty || world == nil && birthMeasurements.isEmpty else { return false }
      mayBePacked = false
    case .packed(let candidates):
      guard !tracks.isEmpty, candidates.count <= 1 else { return false }
      mayBePacked = true
    case .unborn:
      guard tracks.isEmpty, dormant.isEmpty, birthMeasurements.count == 1 else { return false }
      mayBePacked = true
    }
    return tracks.allSatisfy { $0.isConsistent(with: configuration, mayBePacked: mayBePacked) }
      && dormant.allSatisfy { $0.isConsistent(with: configuration, mayBePacked: mayBePacked) }
  }

  /// Begins with the noise that has been learnt of other peers, before the first sample is used: the
  /// device's own antenna and radio have the larger part in it.
  mutating func beginNoise(_ ranging: RangingConfiguration, learnt others: [NoiseLevels]) {
    noise = NoiseLevels(ranging, learnt: others)
  }

  /// A peer of unknown motion is on its way from when it moves with the first of these probabilities
  /// until it does with less than the second.
  private static let startsAbove = 0.5
  private static let stopsBelow = 0.2
  /// The time after an outage of the poses in which their world may still differ from the former one,
  /// seconds.
  private static let newWorldSeconds = 10.0

  /// Stages 1 to 9: takes one sample into account.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - device: Where the device was; not read when there is no pose.
  ///   - hasPose: Whether there is one near enough.
  ///   - newestSampleTime: The newest sample of any peer that was used.
  ///   - odometry: How the odometry is doing.
  ///   - settings: The settings.
  ///   - isAlone: Whether no other peer is heard.
  ///   - packsHypotheses: Whether hypotheses are stored packed until the next sample. Performance: half of
  ///     the memory for a tenth of a sample's time.
  ///   - reports: What becomes of the measurements.
  ///   - event: What the sample reveals of the past; stays as it is when that is nothing.
  /// - Returns: What could be used of it.
  mutating func add(
    _ sample: RangingSample, at device: TrajectoryPoint, hasPose: Bool,
    newestSampleTime: Timestamp?, _ odometry: OdometryState, _ settings: Settings,
    isAlone: Bool, packsHypotheses: Bool, into reports: inout PerKind<ComponentReport>,
    _ event: inout SampleEvent?
  ) -> Measurements {
    let rejection = SampleScreening.rejection(
      of: sample, at: device, hasPose: hasPose, newestSampleTime: newestSampleTime, world: world,
      settings)
    let measurements = screening.screen(
      sample, at: device.worldFromDevice, rejecting: rejection, settings, into: &reports)
    unpack(settings)
    var isBorn = false
    if !measurements.isEmpty {
      isBorn = fuse(
        measurements, at: device, isObstructed: sample.isNonLineOfSight ?? false, odometry,
        settings, into: &reports, &event)
    } else if let rejection, rejection.isForLackOfPose {
      convergence.outage.addSampleWithoutPose(isOutage: odometry.isSilent)
      followRange(of: sample, reports.range, settings)
      followAzimuth(of: sample, reports.azimuth, settings)
    }
    updateClaim(measurements, isAlone: isAlone, settings)
    assess(
      settings, odometry, isUsed: reports.usesRadio,
      isSilent: rejection?.saysNothingOfRadio ?? false || !sample.hasRadio,
      at: max(sample.timestamp, posterior.device.timestamp))
    if packsHypotheses {
      if isBorn {
        birthMeasurements = [measurements]
      } else if !measurements.isEmpty {
        birthMeasurements = []
      }
      pack()
    }
    return measurements
  }

  // MARK: The joint fit

  /// Takes note of what tells the place along the direction that the walk does not tell.
  @inline(__always)
  private mutating func updateClaim(
    _ measurements: Measurements, isAlone: Bool, _ settings: Settings
  ) {
    guard claim != .measured, motion == .stationary,
      settings.configuration.features.isSuperset(of: [.jointFit, .verification])
    else { return }
    MeasurementKind.each { kind in
      if kind.tellsHeight, measurements.has(kind) { claim = claim.after(.measured) }
    }
    guard claim != .measured else { return }
    if measurements.has(.azimuth) { walk.hasAzimuths = true }
    guard !settings.configuration.odometry.isPlanar, !tracks.isEmpty else { return }
    if tracks[0].device.path >= walk.assessedPath { assessWalk(isAlone: isAlone) }
    claim = claim.after(
      .walked(
        isFlat: walk.isFlat, azimuthsTell: walk.hasAzimuths && tracks[0].walk < FlatWalk.long))
  }

  /// Judges whether the walk tells the place in all directions.
  @inline(never)
  private mutating func assessWalk(isAlone: Bool) {
    // Performance: no list of the directions, as that would be allocated.
    // It is the errors of ranges that ask more of a walk.
    let shape = tracks[0].spread.shape(isAlone: isAlone && tracks[0].hasRange)
    walk.isFlat = shape.isFlat
    walk.isLine = shape.isLine
    if walk.isFlat { walk.isAlongGravity = shape.hides(Vector3(0, 1, 0)) }
    walk.assessedPath = tracks[0].device.path + FlatWalk.assessed
  }

  /// Whether the joint fit can tell more of the peer than its filter, though there is no other peer.
  @inline(__always)
  var needsJointFit: Bool { claim.isFromFlatWalk }

  /// When the track of a peer at rest began and where it has the peer; `nil` of other peers.
  var restingPlace: (birth: Timestamp, place: Vector3)? {
    guard motion == .stationary else { return nil }
    if case .packed(let candidates) = storage {
      return candidates.first.map { ($0.birth, $0.place) }
    }
    guard case .ready = storage, let track = tracks.first else { return nil }
    return (track.birthDevice.timestamp, track.bank.heaviestPosition)
  }

  /// What the joint fit asks; `nil` when there is nothing to be fitted.
  var jointCandidate: JointCandidate? {
    guard motion == .stationary else { return nil }
    if case .packed(let candidates) = storage { return candidates.first }
    guard case .ready = storage, let track = tracks.first else { return nil }
    return JointCandidate(
      birth: track.birthDevice.timestamp, place: track.bank.heaviestPosition,
      device: track.device, covariance: track.bank.positionMoments().covariance,
      isPlaced: track.isOnePlaceFromAbove && !track.isDoubted && !hasChallenger
        && track.explainsRanges,
      isSingle: track.bank.count == 1, isDoubted: track.isDoubted, claim: claim)
  }

  /// Goes on from what the joint fit has found, unless the samples contradict it.
  ///
  /// The estimate is that of the joint fit at once, as of the fit's device point.
  ///
  /// - Parameters:
  ///   - joint: What the joint fit has found.
  ///   - odometry: How the odometry is doing.
  ///   - settings: The settings.
  ///   - packsHypotheses: Whether hypotheses are stored packed until the next sample.
  mutating func adopt(
    _ joint: JointPosterior, _ odometry: OdometryState, _ settings: Settings,
    packsHypotheses: Bool
  ) {
    unpack(settings)
    if world == joint.device.world, !tracks.isEmpty {
      if joint.mode == nil {
        claim = claim.after(.examined(joint.verdict))
      } else if joint.overrulesDoubt || !hasChallenger && !tracks[0].isDoubted,
        joint.device.timestamp >= tracks[0].device.timestamp
      {
        if joint.overrulesDoubt { dropChallenger() }
        tracks[0].adopt(joint, noise, settings)
        claim = claim.after(.examined(joint.verdict))
      }
      assess(settings, odometry, isUsed: false, isSilent: true, at: joint.device.timestamp)
    }
    if packsHypotheses { pack() }
  }

  // MARK: Memory between samples

  /// So many hypotheses are not worth packing.
  private static let fewHypotheses = 8

  /// Whether the direction to the peer may be published at a time.
  ///
  /// Ranges from a line are the same all around it, to the left of it and to the right. And for many seconds the
  /// ranges to a walking peer fit a resting peer at another place, so that ranges alone determine no direction
  /// to a peer of unknown motion that has not been found at rest. A place that samples contradict tells none, and
  /// after it the next one only once that has converged.
  func tellsDirection(at time: Timestamp) -> Bool {
    if convergence.tracks.hasOpenBearing || convergence.tracks.isDisbelieved { return false }
    return switch motion {
    case .stationary: !awaitsNextPlace
    case .moving: true
    case .unknown:
      convergence.tracks.isProven
        || lastAzimuth.map { time.seconds(since: $0) < Self.azimuthSeconds } ?? false
    }
  }

  /// Whether a former place was given up, and the next one has not converged.
  private var awaitsNextPlace: Bool { !dormant.isEmpty && !convergence.verdict.isConverged }

  /// Whether there is a track, or what it is born of.
  var hasTrack: Bool { !tracks.isEmpty || !birthMeasurements.isEmpty }
  /// Whether samples contradict the published place.
  @inline(__always)
  var isContradicted: Bool { convergence.tracks.isContradicted }
  /// Whether anything measured of the peer has ever been used.
  @inline(__always)
  var isHeard: Bool { world != nil }

  /// The track that is published; `nil` before the first sample.
  func incumbent(_ settings: Settings) -> Track? {
    if case .ready = storage { return tracks.first }
    var ready = self
    ready.unpack(settings)
    return ready.tracks.first
  }

  /// Takes less memory until the next sample.
  @inline(never)
  private mutating func pack() {
    if !birthMeasurements.isEmpty {
      storage = .unborn
      tracks = []
    } else if convergence.tracks.hypothesisCount > Self.fewHypotheses || hasChallenger {
      let candidate = jointCandidate
      for index in tracks.indices { tracks[index].pack() }
      for index in dormant.indices { dormant[index].track.pack() }
      storage = .packed(candidate.map { $0.isPlaced ? [$0] : [] } ?? [])
    }
  }

  /// Makes the tracks ready.
  @inline(__always)
  private mutating func unpack(_ settings: Settings) {
    if case .ready = storage { return }
    unpackStored(settings)
  }

  @inline(never)
  private mutating func unpackStored(_ settings: Settings) {
    if case .unborn = storage {
      tracks = [track(bornOf: birthMeasurements[0], at: posterior.device, settings)]
    } else {
      for index in tracks.indices { tracks[index].unpack() }
      for index in dormant.indices { dormant[index].track.unpack() }
    }
    storage = .ready
  }

  // MARK: Ranges alone

  /// Filters the range of a sample for which there is no pose.
  private mutating func followRange(
    of sample: RangingSample, _ report: ComponentReport, _ settings: Settings
  ) {
    guard case .rejected(let rejection) = report.outcome, rejection.isForLackOfPose else { return }
    var ranges = ranges ?? rangesFromPlace(settings)
    publishesRanges = true
    ranges.add(
      report.value, sigma: sample.distanceSigma,
      isNonLineOfSight: sample.isNonLineOfSight ?? false, at: sample.timestamp)
    self.ranges = ranges
  }

  /// Filters the azimuth of a sample for which there is no pose.
  private mutating func followAzimuth(
    of sample: RangingSample, _ report: ComponentReport, _ settings: Settings
  ) {
    guard case .rejected(let rejection) = report.outcome, rejection.isForLackOfPose else { return }
    if azimuthTrackers.isEmpty { azimuthTrackers = [AzimuthTracker(settings.configuration)] }
    azimuthTrackers[0].add(
      report.value, sigma: sample.azimuthSigmaRadians, at: sample.timestamp)
  }

  /// A filter of ranges that begins with the distance to the place that is known, as of the newest sample: the
  /// first range is filtered like any other, as it may be a fault.
  private func rangesFromPlace(_ settings: Settings) -> RangeTracker {
    var ranges = RangeTracker(settings.configuration)
    if !tracks.isEmpty {
      let known = view(from: posterior.device, settings)
      let (distance, variance) = known.distance(known.best)
      ranges.begin(distance, variance, at: posterior.device.timestamp)
    }
    return ranges
  }

  /// Filters the ranges to a peer of unknown motion, and of others while ranges contradict the place.
  ///
  /// Their filter gives the distance while the place may not be believed, and from when it differs from the
  /// place's: a peer that is carried away is farther off before enough samples have contradicted its place.
  private mutating func followRanges(
    _ range: Measurements.Value, at device: TrajectoryPoint, _ settings: Settings
  ) {
    // Short ranges are believed at once, and no outliers of what came before: a range cannot be obstructed to be
    // shorter.
    if !publishesRanges, tracks[0].consistency.rangesAreTooShort {
      ranges = RangeTracker(settings.configuration)
    }
    guard needsRanges || motion == .unknown || !tracks[0].consistency.hasNoRangeOutlier else {
      ranges = nil
      publishesRanges = false
      return
    }
    var ranges =
      ranges
      ?? (motion == .stationary
        ? rangesFromPlace(settings) : RangeTracker(settings.configuration))
    ranges.add(range.value, sigma: range.sigma, at: device.timestamp)
    publishesRanges =
      needsRanges || motion == .stationary && differsFromPlace(ranges, at: device)
    self.ranges = ranges
  }

  /// Whether the ranges have the peer at another distance than its place.
  private func differsFromPlace(_ ranges: RangeTracker, at device: TrajectoryPoint) -> Bool {
    let (mean, covariance) = tracks[0].bank.positionMoments()
    let sight = mean - device.worldFromDevice.translation
    let distance = sight.length
    guard distance > 0 else { return false }
    let variance = covariance.quadraticForm(sight / distance)
    return ranges.differs(from: distance, variance: max(variance, 0))
  }

  /// Whether the distance must be that of the ranges alone.
  @inline(__always)
  private var needsRanges: Bool {
    tracks[0].consistency.rangesAreTooShort || motion == .moving
      || tracks[0].consistency.contradictedSince != nil || convergence.tracks.isDisbelieved
      || motion == .stationary && awaitsNextPlace
      || motion == .unknown
        && (!tracks[0].isProven || tracks[0].consistency.rangesContradict)
  }

  // MARK: Stages 2 to 7

  /// Fuses the usable measurements of a sample, and notes what they reveal of the past.
  ///
  /// - Returns: Whether the track is born of them.
  private mutating func fuse(
    _ measurements: Measurements, at device: TrajectoryPoint, isObstructed: Bool,
    _ odometry: OdometryState, _ settings: Settings, into reports: inout PerKind<ComponentReport>,
    _ event: inout SampleEvent?
  ) -> Bool {
    if !azimuthTrackers.isEmpty { azimuthTrackers = [] }
    // What was known of a world that is lost says nothing in this one.
    guard world == device.world, !isForgotten(measurements, at: device, settings), !hasStopped
    else {
      world = device.world
      tracks = [track(bornOf: measurements, at: device, settings)]
      dormant = []
      ranges = nil
      publishesRanges = false
      claim = .resolved
      walk = AssessedWalk()
      convergence.outage = .none
      convergence.resumedAt = odometry.resumedAt
      reportBirth(measurements, into: &reports)
      return true
    }
    if tracks[0].motion != motion { changeMotion(measurements, at: device, settings) }
    let errors = errors(of: measurements, settings)
    var result = StepResult()
    step(0, measurements, errors, at: device, isObstructed: isObstructed, settings, &result)
    if hasChallenger || motion == .unknown || tracks[0].isDoubted || !dormant.isEmpty {
      challenge(
        measurements, errors, at: device, isObstructed: isObstructed, settings, &result, &event)
    }
    if tracks[0].isRefuted, settings.configuration.features.contains(.reopening) {
      keepDormant(tracks[0], settings)
      tracks[0].reopen(measurements, at: device, noise, settings)
      dropChallenger()
      claim = claim.after(.replaced)
      walk.assessedPath = -.infinity
    }
    if motion == .unknown, measurements.has(.azimuth) { lastAzimuth = device.timestamp }
    if measurements.has(.range),
      motion == .unknown || hasRanges || needsRanges || !tracks[0].consistency.hasNoRangeOutlier
    {
      followRanges(measurements.values.range, at: device, settings)
    }
    report(&result, measurements, errors, settings, into: &reports)
    return false
  }

  /// Goes on with another declared motion.
  @inline(never)
  private mutating func changeMotion(
    _ measurements: Measurements, at device: TrajectoryPoint, _ settings: Settings
  ) {
    dropChallenger()
    dormant = []
    isUnderway = false
    claim = .resolved
    walk = AssessedWalk()
    tracks[0].setMotion(motion, measurements, at: device, noise, settings)
  }

  /// Whether the peer was declared moving until now, is declared at rest, and is not located.
  ///
  /// A track of a moving peer that has not converged is bent along the ranges' sphere, and its Gaussian is too
  /// narrow. At rest it would keep that: the angle's median error was 0.24 rad in the 10 s after the change, and
  /// 0.03 rad for a track that begins anew (ten walks among tags that stop, ranges alone).
  @inline(__always)
  private var hasStopped: Bool {
    motion == .stationary && tracks[0].motion == .moving && convergence.verdict != .converged
  }

  /// Whether the track says nothing any more of a peer that may move, after a gap without samples.
  @inline(__always)
  private func isForgotten(
    _ measurements: Measurements, at device: TrajectoryPoint, _ settings: Settings
  ) -> Bool {
    motion != .stationary && measurements.has(.range)
      && tracks[0].isForgotten(
        at: device, range: measurements.values.range.value, settings)
  }

  /// The variances that are assumed of a sample's errors.
  @inline(__always)
  private func errors(
    of measurements: Measurements, _ settings: Settings
  ) -> PerKind<ErrorVariances> {
    let values = measurements.values
    // Performance: written out, as a closure over the filter copies what it reads.
    return PerKind(
      range: settings.configuration.errorVariances(
        of: .range, noise.range, stated: values.range.sigma),
      azimuth: settings.configuration.errorVariances(
        of: .azimuth, noise.azimuth, stated: values.azimuth.sigma),
      elevation: settings.configuration.errorVariances(
        of: .elevation, noise.elevation, stated: values.elevation.sigma),
      // Most samples have no height difference, and then its variances are not read.
      heightDifference: measurements.has(.heightDifference)
        ? settings.configuration.errorVariances(
          of: .heightDifference, noise.heightDifference, stated: values.heightDifference.sigma)
        : ErrorVariances(white: 1, wandering: settings.heightOffset.variance))
  }

  /// Stages 3 to 6 for one track.
  @inline(__always)
  private mutating func step(
    _ index: Int, _ measurements: Measurements, _ errors: PerKind<ErrorVariances>,
    at device: TrajectoryPoint, isObstructed: Bool, _ settings: Settings,
    _ result: inout StepResult
  ) {
    tracks[index].filter(
      measurements, errors, at: device, isObstructed: isObstructed,
      range: rangeInnovation(of: measurements, at: device), settings, into: &result)
    if tracks[index].reduceUnlessSearching(settings) {
      tracks[index].searchAndReduce(measurements, at: device, noise, settings)
    } else if !tracks[index].history.isEmpty {
      tracks[index].record(measurements, noise)
    }
  }

  /// How a range meets the filter of ranges alone, of a peer of unknown motion.
  @inline(__always)
  private func rangeInnovation(
    of measurements: Measurements, at device: TrajectoryPoint
  ) -> Innovation? {
    guard motion == .unknown, measurements.has(.range), let ranges else { return nil }
    let range = measurements.values.range
    return ranges.innovation(of: range.value, sigma: range.sigma, at: device.timestamp)
  }

  private func track(
    bornOf measurements: Measurements, at device: TrajectoryPoint, _ settings: Settings
  ) -> Track {
    Track(measurements, at: device, motion: motion, noise: noise, settings)
  }

  private var hasChallenger: Bool { tracks.count > 1 }

  private mutating func dropChallenger() {
    if hasChallenger { tracks.removeLast() }
  }

  /// Whether an outage of the poses has ended lately: in a new world the incumbent's place and the walk that
  /// it has explained are void.
  private func hasNewWorld(at time: Timestamp) -> Bool {
    !convergence.outage.isNone
      || convergence.resumedAt.map { time.seconds(since: $0) < Self.newWorldSeconds } ?? false
  }

  /// Keeps a track that is given up; of two that with the longer walk, as the other one is that of a peer on
  /// its way.
  private mutating func keepDormant(_ former: Track, _ settings: Settings) {
    guard motion == .stationary, settings.configuration.features.contains(.dormantTracks),
      former.explainedWalk > dormant.first?.track.explainedWalk ?? 0
    else { return }
    dormant = [DormantTrack(former)]
  }

  /// Compares a sample with the former incumbent: whether the peer has left its place, or is there after all.
  ///
  /// - Returns: Whether the former incumbent is the incumbent again: the ranges agree with it, and the samples
  ///   contradict the present one.
  private mutating func wakesDormant(
    _ measurements: Measurements, at device: TrajectoryPoint, isDoubted: Bool,
    _ settings: Settings, _ event: inout SampleEvent?
  ) -> Bool {
    guard !dormant.isEmpty else { return false }
    dormant[0].add(measurements, at: device, settings)
    if dormant[0].isOutweighed(by: tracks[0]) {
      dormant = []
      return false
    }
    guard isDoubted, dormant[0].isConsistent else {
      if let since = dormant[0].departure(to: tracks[0], noise, settings) {
        event = .peerMoved(since: since)
      }
      return false
    }
    // A peer that was not reported to have left has not come back.
    if dormant[0].wasLeft { event = .peerReturned }
    let woken = dormant[0].track
    dormant = [DormantTrack(tracks[0])]
    tracks = [woken]
    claim = claim.after(.replaced)
    walk.assessedPath = -.infinity
    return true
  }

  /// Lets a challenger be born, grow, win or lose.
  ///
  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - errors: The variances of its errors.
  ///   - device: Where the device was.
  ///   - isObstructed: Whether the radio itself calls the range obstructed.
  ///   - settings: The settings.
  ///   - result: How the sample met the incumbent; how it met the challenger, if that wins.
  ///   - event: What that says of the past.
  private mutating func challenge(
    _ measurements: Measurements, _ errors: PerKind<ErrorVariances>, at device: TrajectoryPoint,
    isObstructed: Bool, _ settings: Settings, _ result: inout StepResult,
    _ event: inout SampleEvent?
  ) {
    var incumbent = tracks[0].asIncumbent
    if hasNewWorld(at: device.timestamp) {
      incumbent.forgetWalk()
      dormant = []
    }
    if wakesDormant(
      measurements, at: device, isDoubted: incumbent.isDoubted, settings, &event)
    {
      return
    }
    if hasChallenger, Challenge.ends(tracks[1].asChallenger(of: tracks[0], at: device), incumbent) {
      dropChallenger()
    }
    // What a challenger saw of a peer on its way says nothing about where the peer came to rest.
    let wasUnderway = isUnderway
    isUnderway =
      motion == .unknown
      && tracks[0].bank.movingShare > (wasUnderway ? Self.stopsBelow : Self.startsAbove)
    if wasUnderway, !isUnderway { dropChallenger() }
    guard hasChallenger else {
      if incumbent.isDoubted {
        var challenger = track(bornOf: measurements, at: device, settings)
        challenger.rest = tracks[0].rest
        tracks.append(challenger)
      }
      return
    }
    var challengerResult = StepResult()
    step(
      1, measurements, errors, at: device, isObstructed: isObstructed, settings,
      &challengerResult)
    var challenger = tracks[1].asChallenger(of: tracks[0], at: device)
    if let history = tracks[0].history.first, tracks[1].phase.isSettled, incumbent.isDoubted,
      settings.configuration.features.contains(.walkHistory)
    {
      challenger.logEvidenceRatio = history.logEvidenceRatio(
        of: tracks[1].bank.heaviestPosition, over: tracks[0].bank.heaviestPosition, now: device,
        noise, settings)
    }
    if Challenge.wins(challenger, incumbent) {
      let former = tracks.removeFirst()
      if challenger.logEvidenceRatio > 0 { tracks[0].inherit(historyOf: former) }
      keepDormant(former, settings)
      result = challengerResult
      claim = claim.after(.replaced)
      walk.assessedPath = -.infinity
    }
  }

  // MARK: Stage 8, reports and learning

  /// Reports what became of the measurements, and learns how noisy they are.
  ///
  /// Performance: the result is `inout` only to pass by reference.
  private mutating func report(
    _ result: inout StepResult, _ measurements: Measurements, _ errors: PerKind<ErrorVariances>,
    _ settings: Settings, into reports: inout PerKind<ComponentReport>
  ) {
    let learns = settings.configuration.features.contains(.noiseLearning)
    // Of several hypotheses no residual is that of the place where the peer is.
    let isClear = result.weight > 0.9
    // Performance: written out, as in ``errors(of:_:)``.
    if measurements.has(.range) {
      reports.range = Self.report(
        result.outcomes.range, measurements.values.range, white: errors.range.white,
        decorrelation: result.decorrelation(of: .range), learns: learns, isClear: isClear,
        learnsShort: learns && result.outcomes.range.inlier < 0.5
          && !hasNewWorld(at: tracks[0].device.timestamp), &noise.range)
      if isClear, result.outcomes.range.isMostlyNoise(errors.range),
        settings.configuration.features.contains(.inflation)
      {
        recordResidual(result, measurements.values.range, errors.range)
      }
    }
    if measurements.has(.azimuth) {
      reports.azimuth = Self.report(
        result.outcomes.azimuth, measurements.values.azimuth, white: errors.azimuth.white,
        decorrelation: result.decorrelation(of: .azimuth), learns: learns, isClear: isClear,
        &noise.azimuth)
    }
    if measurements.has(.elevation) {
      reports.elevation = Self.report(
        result.outcomes.elevation, measurements.values.elevation, white: errors.elevation.white,
        decorrelation: result.decorrelation(of: .elevation), learns: learns, isClear: isClear,
        &noise.elevation)
    }
    if measurements.has(.heightDifference) {
      reports.heightDifference = Self.report(
        result.outcomes.heightDifference, measurements.values.heightDifference,
        white: errors.heightDifference.white,
        decorrelation: result.decorrelation(of: .heightDifference), learns: learns,
        isClear: isClear, &noise.heightDifference)
    }
  }

  /// Adds the residual of a range to the variance inflation; outliers that are too long are left out, as
  /// obstruction makes them.
  @inline(__always)
  private mutating func recordResidual(
    _ result: borrowing StepResult, _ measured: Measurements.Value, _ errors: ErrorVariances
  ) {
    let innovation = result.outcomes.range.innovation
    guard result.outcomes.range.inlier >= 0.5 || innovation < 0,
      innovation > -NoiseLevel.mostShortSigmas * measured.sigma
    else { return }
    inflation.add(
      result.outcomes.range.innovationAfter(white: errors.white)
        + result.outcomes.range.poseDependent, errors,
      decorrelation: result.decorrelation(of: .range))
  }

  /// Says what became of one measurement, and learns from it.
  @inline(__always)
  private static func report(
    _ outcome: StepResult.Outcome, _ measured: Measurements.Value, white: Double,
    decorrelation: Double, learns: Bool, isClear: Bool, learnsShort: Bool = false,
    _ noise: inout NoiseLevel
  ) -> ComponentReport {
    let isInlier = outcome.inlier >= 0.5
    if learns, isClear, isInlier {
      let after = outcome.innovationAfter(white: white)
      noise.observe(
        NoiseLevel.Observation(
          before: outcome.innovation, after: after, withoutWander: after + outcome.poseDependent,
          decorrelation: decorrelation, sigma: measured.sigma))
    } else if learns {
      if isClear, learnsShort {
        noise.observeShort(
          outcome.innovation + outcome.poseDependent, decorrelation: decorrelation,
          sigma: measured.sigma)
      }
      noise.forgetLast()
    }
    return ComponentReport(
      value: measured.value, variance: white, innovation: outcome.innovation,
      innovationVariance: outcome.innovationVariance,
      outcome: isInlier
        ? .fused(weight: outcome.inlier) : .rejectedAsOutlier(weight: outcome.inlier))
  }

  /// Reports the measurements of which the track was born: used, with no innovation.
  private mutating func reportBirth(
    _ measurements: Measurements, into reports: inout PerKind<ComponentReport>
  ) {
    for kind in MeasurementKind.allCases {
      guard let measured = measurements[kind] else { continue }
      reports[kind] = ComponentReport(
        value: measured.value, variance: noise[kind].whiteVariance(stated: measured.sigma),
        innovation: 0, innovationVariance: .infinity, outcome: .fused(weight: 1))
    }
  }

  // MARK: Stage 9, convergence

  /// The ratio of the published covariance to the filter's.
  ///
  /// It is one for a moving peer: process noise dominates there.
  @inline(__always)
  private var covarianceFactor: Double { motion == .moving ? 1 : inflation.factor }

  /// Judges convergence and the vertical direction as of the newest sample.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - odometry: How the odometry is doing.
  ///   - isUsed: Whether anything that the radio measured was used.
  ///   - isSilent: Whether the sample says nothing of the radio: it has no pose, or no radio values.
  ///   - time: The sample's time.
  private mutating func assess(
    _ settings: Settings, _ odometry: OdometryState, isUsed: Bool, isSilent: Bool,
    at time: Timestamp
  ) {
    if isUsed {
      convergence.unusableSince = nil
    } else if convergence.unusableSince == nil, !isSilent {
      convergence.unusableSince = time
    }
    guard !tracks.isEmpty else {
      if convergence.outage == .ongoing {
        convergence.verdict = .notConverged(.limitedTracking)
      }
      return
    }
    convergence.tracks = ConvergenceState.Tracks(
      tracks.span, claim, isAlongGravity: walk.isAlongGravity, isFromLine: walk.isLine)
    convergence.isSlipping = odometry.isSlipping && motion == .stationary
    if isUsed, !convergence.outage.isNone || convergence.resumedAt != odometry.resumedAt {
      confirmPoses(odometry, at: time, probation: settings.configuration.faults.doubtAfter)
    }
    posterior.isSingle =
      convergence.tracks.hypothesisCount == 1 && motion == .stationary && !publishesRanges
      && tellsDirection(at: time)
    posterior.device = tracks[0].device
    posterior.spread = tracks[0].spread
    (posterior.mean, posterior.covariance) = tracks[0].bank.positionMoments()
    posterior.covariance = covarianceFactor * posterior.covariance
    let isConverged =
      convergence.tracks.hypothesisCount == 1
      && confirm(settings, odometryLimits: odometry.limits, at: time)
    if !isConverged {
      judgePosterior(settings, odometryLimits: odometry.limits, at: time)
    }
  }

  /// Takes note that a sample was used while the odometry's world is yet to be confirmed.
  private mutating func confirmPoses(
    _ odometry: OdometryState, at time: Timestamp, probation: Double
  ) {
    // A late sample from before the outage confirms nothing.
    if let resumedAt = odometry.resumedAt, time < resumedAt { return }
    convergence.outage.addSampleWithPose(
      at: time, hasResumed: convergence.resumedAt != odometry.resumedAt,
      isContradicted: convergence.tracks.isDoubtful, probation: probation)
    convergence.resumedAt = odometry.resumedAt
  }

  /// The posterior, while there is a single hypothesis, as of the newest sample.
  @inline(__always)
  private var singleView: GaussianView {
    GaussianView(
      posterior.mean, posterior.covariance, from: tracks[0].device.worldFromDevice)
  }

  /// Judges whether a single hypothesis has converged.
  ///
  /// Performance: inlined, as most have converged.
  @inline(__always)
  private mutating func confirm(
    _ settings: Settings, odometryLimits: ConvergenceReasons, at time: Timestamp
  ) -> Bool {
    let view = singleView
    return convergence.confirm(
      view, view.width(settings.configuration), settings, odometryLimits: odometryLimits,
      at: time)
  }

  /// Judges whatever there is: several hypotheses, or one that has not converged.
  @inline(never)
  private mutating func judgePosterior(
    _ settings: Settings, odometryLimits: ConvergenceReasons, at time: Timestamp
  ) {
    if convergence.tracks.hypothesisCount == 1 {
      let view = singleView
      convergence.explain(
        view, view.width(settings.configuration), spread: posterior.spread, settings,
        odometryLimits: odometryLimits, at: time)
      return
    }
    let view = view(from: posterior.device, settings)
    let width = view.width(settings.configuration)
    if !convergence.confirm(view, width, settings, odometryLimits: odometryLimits, at: time) {
      convergence.explain(
        view, width, spread: posterior.spread, settings, odometryLimits: odometryLimits,
        at: time)
    }
  }

  /// The posterior as seen from the device at a moment; there must be a track.
  ///
  /// - Parameters:
  ///   - device: Where the device was, as far as a pose has told.
  ///   - unseen: For how long after that it has moved unseen, seconds.
  ///   - settings: The settings.
  /// - Returns: The view.
  func view(
    from device: TrajectoryPoint, unseen: Double = 0, _ settings: Settings
  ) -> MixtureView {
    guard case .ready = storage else {
      var ready = self
      ready.unpack(settings)
      return ready.view(from: device, unseen: unseen, settings)
    }
    var drift = OdometryDrift(
      from: tracks[0].device, to: device, isPlanar: settings.configuration.odometry.isPlanar)
    if unseen > 0 { drift.addUnseenMotion(seconds: unseen, settings.motion) }
    return MixtureView(
      tracks[0].bank(at: device, settings), from: device.worldFromDevice, drift: drift,
      covarianceFactor: covarianceFactor)
  }
}
