// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The newest range differences with the knots of the device's path, and where the device is by them.
///
/// The place is searched from many starts until one place alone explains the differences. Differences older than the
/// window are dropped until then, and marginalised afterwards.
struct DifferenceWindow: Sendable {
  let anchors: [AnchorPlacement]
  private let clocks: AnchorClocks
  private let configuration: FusionConfiguration
  private let faults: FaultModel
  private let layout: ChainLayout
  /// The longest time between two knots, seconds.
  private let knotSeconds: Double

  private var knots: [TrajectoryPoint] = []
  private var observations: [Observation] = []
  private var observationsOfKnot = 0
  private var prior = MarginalPrior()
  /// Whether older knots are in the prior.
  private var hasMarginalized = false
  /// States at the knots and of the border that explain the differences about as well as the best, which
  /// is the first.
  private var candidates: [Candidate] = []
  /// How many differences there were at the last search.
  private var searchedCount = 0
  /// How many differences there were at the last examination of the survey.
  private var examinedCount = 0
  /// How many consecutive searches have found the same single place of the device.
  private var confirmations = 0
  private var workspace = ChainWorkspace()
  /// The anchors' places with their errors, unknown ones anywhere.
  private let survey: PeerMap
  /// What is taken to be wrong with the places.
  private var hypothesis = SurveyHypothesis()
  /// The anchors whose places are taken as uncertain.
  private var loose: Set<Int> = []
  /// What the differences say of the places.
  private(set) var verdict = SurveyVerdict.untested
  /// What the newest fix says of the anchors.
  private(set) var anchorEstimates: [AnchorEstimate] = []

  /// A range difference, with the device when it was measured.
  struct Observation: Sendable {
    var from: Int
    var to: Int
    var metres: Double
    var variance: Double
    var device: TrajectoryPoint
    var antennaInWorld: Vector3
  }

  private struct Candidate: Sendable {
    var state: [Double]
    var cost = Double.infinity
    var inlierShare = 0.0
  }

  /// The largest effect of a clock's rate walk between two knots, as a share of the sigma of a difference: a
  /// tenth adds 1 % to its variance.
  private static let bridgeShare = 0.1
  private static let knotSecondsLimits = 0.1...5.0
  /// A knot is added where the drift since the last one exceeds this share of the sigma of a range, as in the
  /// joint fit, or after this number of differences.
  private static let driftShare = 0.25
  private static let mostObservationsOfKnot = 200
  /// The largest numbers of knots and differences; beyond them the oldest third is removed.
  private static let mostKnots = 48
  private static let mostObservations = 1200
  /// The largest number of differences of a search, evenly thinned.
  private static let mostSearched = 150
  private static let mostSearchedCoarsely = 50
  /// The growth of the number of differences after which the survey is examined again: usually, and when it is
  /// confirmed.
  private static let examinationGrowth = 1.3
  private static let confirmedGrowth = 2.0
  /// The growth of the number of differences after which the search is repeated: usually, and where a place has
  /// to be confirmed; and the number for each anchor before the first search.
  private static let searchGrowth = 1.3
  private static let confirmingGrowth = 1.1
  private static let leastPerAnchor = 4
  /// Two states are one where device and anchors are nearer than this, metres.
  private static let sameWithin = 0.3
  private static let mostCandidates = 4
  /// The number of consecutive searches that must find one place: the first is made of few differences, whose
  /// curvature may be overconfident.
  private static let leastConfirmations = 2
  private static let mostIterations = 12
  private static let searchIterations = 25
  /// A step that lowers the cost by less, in nats, is the last.
  private static let tolerance = 1e-3
  /// The factors by which the noise is widened in a search, after a start without outliers.
  private static let widenings = [25.0, 1]
  private static let startWidening = 25.0
  private static let turnStarts = 8
  /// The number of starts for an anchor of unknown place.
  private static let anchorStarts = 24
  /// How far above and below the anchors the device is looked for, metres.
  private static let heightStarts = [0.0, -2.5, 2.5]
  /// The prior variance of the first knot's place and yaw in the site.
  private static let freePlaceVariance = 1e6
  private static let freeYawVariance = 10.0
  /// The prior sigma of the place of an unknown anchor: how far radios of this kind reach, metres.
  private static let anchorReach = 50.0

  init(anchors: [AnchorPlacement], clocks: AnchorClocks, _ configuration: FusionConfiguration) {
    self.anchors = anchors
    self.clocks = clocks
    self.configuration = configuration
    faults = FaultModel(configuration)
    survey = Self.survey(of: anchors, clocks)
    layout = ChainLayout(clockCount: clocks.areWandering ? max(anchors.count - 1, 0) : 0)
    // In the middle between two knots the variance is q T³ / 192.
    let allowed = Self.bridgeShare * configuration.ranging.rangeSigma * 2.0.squareRoot()
    let cube = 192 * allowed * allowed / max(clocks.rateWalk * clocks.rateWalk, 1e-12)
    knotSeconds =
      clocks.areWandering
      ? min(max(cbrt(cube), Self.knotSecondsLimits.lowerBound), Self.knotSecondsLimits.upperBound)
      : .infinity
  }

  /// The number of an anchor's clock; `nil` for one that does not wander.
  private func clock(of anchor: Int) -> Int? {
    layout.clockCount > 0 && anchor > 0 ? anchor - 1 : nil
  }

  /// Whether places are those of the site.
  private var isInSite: Bool { anchors.contains { $0.place != nil } }

  private var middle: Vector3? {
    let map = hypothesis.map(survey)
    let places = anchors.indices.filter { anchors[$0].place != nil }.map {
      map.peers[$0].positionInWorld
    }
    guard !places.isEmpty else { return nil }
    return places.reduce(.zero, +) / Double(places.count)
  }

  // MARK: Taking in

  /// Adds a range difference.
  ///
  /// - Returns: Whether it is used; one before the oldest knot is not.
  mutating func add(_ difference: RangeDifference, sigma: Double, from device: TrajectoryPoint)
    -> Bool
  {
    // Measurements in an odometry world that is lost have no relation to this one.
    if knots.first?.world != device.world { restart(at: device) }
    guard device.timestamp >= knots[0].timestamp else { return false }
    addKnotIfDue(at: device)
    observationsOfKnot += 1
    let observation = Observation(
      from: difference.from, to: difference.to, metres: difference.metres,
      variance: sigma * sigma + 2 * device.interpolationVariance, device: device,
      antennaInWorld: device.worldFromDevice.act(configuration.ranging.antennaInDevice))
    let later = observations.reversed().prefix { $0.device.timestamp > device.timestamp }.count
    observations.insert(observation, at: observations.count - later)
    return true
  }

  private mutating func restart(at device: TrajectoryPoint) {
    knots = [device]
    observations = []
    observationsOfKnot = 0
    prior = initialPrior(at: device)
    hasMarginalized = false
    candidates = []
    searchedCount = 0
    examinedCount = 0
    confirmations = 0
    anchorEstimates = []
  }

  private mutating func addKnotIfDue(at device: TrajectoryPoint) {
    let last = knots[knots.count - 1]
    let seconds = device.timestamp.seconds(since: last.timestamp)
    guard seconds > 0 else { return }
    let drift = step(from: last, to: device)
    let allowed = Self.driftShare * configuration.ranging.rangeSigma
    guard
      seconds >= knotSeconds || drift.horizontal > allowed * allowed
        || observationsOfKnot >= Self.mostObservationsOfKnot
    else { return }
    for index in candidates.indices {
      candidates[index].state = extended(candidates[index].state, to: device)
    }
    knots.append(device)
    observationsOfKnot = 0
  }

  private func step(from a: TrajectoryPoint, to b: TrajectoryPoint) -> OdometryDrift {
    var drift = OdometryDrift(from: a, to: b, isPlanar: configuration.odometry.isPlanar)
    drift.addSwing(of: b.worldFromDevice.translation - a.worldFromDevice.translation)
    return drift
  }

  /// A state with one more knot, where the odometry and the clocks lead from the last.
  private func extended(_ state: [Double], to device: TrajectoryPoint) -> [Double] {
    let last = knots[knots.count - 1]
    let first = layout.blockSize * (knots.count - 1)
    let yaw = state[first + 3]
    let way = device.worldFromDevice.translation - last.worldFromDevice.translation
    let place = Vector3(state[first], state[first + 1], state[first + 2]) + YawTurn(yaw).act(way)
    var block = [place.x, place.y, place.z, yaw]
    let seconds = device.timestamp.seconds(since: last.timestamp)
    for clock in 0..<layout.clockCount {
      let (error, rate) = (
        state[first + layout.clock(clock)], state[first + layout.clock(clock) + 1]
      )
      block += [error + seconds * rate, rate]
    }
    var grown = state
    grown.insert(contentsOf: block, at: first + layout.blockSize)
    return grown
  }

  // MARK: The problem

  /// The prior of the first knot, its clocks and the anchors, before any difference.
  private func initialPrior(at device: TrajectoryPoint) -> MarginalPrior {
    var prior: MarginalPrior
    let here = device.worldFromDevice.translation
    let center = middle ?? here
    if isInSite {
      prior = MarginalPrior()
      let place = Self.freePlaceVariance
      prior.append(
        mean: [center.x, center.y, center.z, 0],
        variances: [
          place, configuration.odometry.isPlanar ? 1e-8 : place, place, Self.freeYawVariance,
        ])
    } else {
      prior = MarginalPrior(holding: here)
    }
    let offset = clocks.offsetSigma * clocks.offsetSigma
    for _ in 0..<layout.clockCount {
      prior.append(mean: [0, 0], variances: [offset, clocks.rateSigma * clocks.rateSigma])
    }
    let border = border(around: center)
    prior.append(mean: border.prior.mean, covariance: border.prior.covariance)
    return prior
  }

  /// The anchors' places and clocks, before any difference.
  private static func survey(of anchors: [AnchorPlacement], _ clocks: AnchorClocks) -> PeerMap {
    let size = PeerMap.numbersPerPeer
    var map = PeerMap(
      peers: anchors.map { PeerMap.Peer(name: "", positionInWorld: $0.place ?? .zero) },
      covariance: [Double](repeating: 0, count: anchors.count * anchors.count * size * size))
    for (index, anchor) in anchors.enumerated() {
      let sigma =
        switch anchor {
        case .known: 0.0
        case .uncertain(_, let sigma): sigma
        case .unknown: anchorReach
        }
      map.widen(place: index, by: sigma)
      let bias = size * index + 3
      map.covariance[bias * map.size + bias] =
        index == 0 || clocks.areWandering ? 0 : clocks.offsetSigma * clocks.offsetSigma
    }
    return map
  }

  /// The same under the hypothesis about the places, with unknown anchors around a place.
  private func border(around center: Vector3) -> PeerMap {
    var map = hypothesis.map(survey)
    for anchor in loose { map.widen(place: anchor, by: FaultSize.looseness) }
    for index in anchors.indices where anchors[index] == .unknown {
      map.peers[index].positionInWorld = center
    }
    return map
  }

  /// The problem of the first knots of the path and the differences between them.
  ///
  /// - Parameters:
  ///   - knots: The knots.
  ///   - mostDifferences: The largest number of differences; of more, they are thinned by anchor.
  /// - Returns: The problem.
  private func problem(_ knots: [TrajectoryPoint], mostDifferences: Int = .max) -> ChainProblem {
    var problem = ChainProblem(prior, layout, faults, configuration.ranging)
    problem.clockWalk = clocks.rateWalk * clocks.rateWalk
    var steps: [OdometryDrift] = []
    for index in knots.indices {
      let (knot, next) = (knots[index], knots[min(index + 1, knots.count - 1)])
      let (a, b) = (knot.worldFromDevice.translation, next.worldFromDevice.translation)
      let drift = step(from: knot, to: next)
      steps.append(drift)
      problem.addKnot(
        at: a, step: b - a, horizontal: drift.horizontal, vertical: drift.vertical, yaw: drift.yaw,
        seconds: next.timestamp.seconds(since: knot.timestamp))
    }
    var knot = 0
    let end = knots[knots.count - 1].timestamp
    var thinning = AnchorThinning(
      observations.count, toAtMost: mostDifferences, anchors: anchors.count)
    for observation in observations {
      guard observation.device.timestamp <= end else { break }
      guard thinning.chooses(observation.to) else { continue }
      while knot + 2 < knots.count, knots[knot + 1].timestamp <= observation.device.timestamp {
        knot += 1
      }
      let (before, after) = (knots[knot], knots[knot + 1])
      let share = observation.device.driftShare(from: before, to: after)
      let seconds = after.timestamp.seconds(since: before.timestamp)
      let elapsed = observation.device.timestamp.seconds(since: before.timestamp) / seconds
      // The variance of path and clocks about their interpolation between the knots.
      let bridge = elapsed * (1 - elapsed)
      let wandering = [observation.from, observation.to].count { clock(of: $0) != nil }
      let strays =
        2 * share * (1 - share) * steps[knot].horizontal
        + Double(wandering) * problem.clockWalk * pow(bridge * seconds, 3) / 3
      problem.addDifference(
        from: observation.antennaInWorld, knot: knot, share: share, elapsed: elapsed,
        from: .init(member: observation.from, clock: clock(of: observation.from)),
        to: .init(member: observation.to, clock: clock(of: observation.to)),
        hypothesis.isReversed ? -observation.metres : observation.metres,
        variance: observation.variance + strays)
    }
    return problem
  }

  // MARK: Locating

  /// Where the device is.
  ///
  /// - Parameter device: The newest point of the trajectory.
  /// - Returns: The best place; `nil` without differences in this world of the odometry's.
  mutating func locate(at device: TrajectoryPoint) -> AnchorWindow.Fix? {
    guard knots.first?.world == device.world, !observations.isEmpty || hasMarginalized else {
      return nil
    }
    makeRoom()
    let isAhead = device.timestamp > knots[knots.count - 1].timestamp
    let path = isAhead ? knots + [device] : knots
    guard path.count > 1 else { return nil }
    let tracking = self.problem(path)
    func atPath(_ state: [Double]) -> [Double] { isAhead ? extended(state, to: device) : state }
    func atKnots(_ state: [Double]) -> [Double] {
      var state = state
      if isAhead {
        let last = layout.blockSize * knots.count
        state.removeSubrange(last..<last + layout.blockSize)
      }
      return state
    }
    var found = candidates.map { candidate in
      refined(Candidate(state: atPath(candidate.state)), tracking)
    }
    found.removeAll { !explains($0) }
    if hasMarginalized, found.isEmpty {
      // Path or clocks violate their models, so the marginal prior is wrong.
      restart(at: device)
      return nil
    }
    let here = layout.blockSize * (path.count - 1)
    var tracked = found.first
    let isSearched = !hasMarginalized && isSearchDue
    if isSearched {
      searchedCount = observations.count
      if examineSurvey(path) {
        // Under another hypothesis the states so far are no minima.
        (found, tracked) = ([], nil)
      }
      found += search(path)
    }
    let problem = self.problem(path)
    found = distinct(found, knots: path.count)
    if found.isEmpty || !agree(found, at: here) {
      confirmations = 0
    } else if isSearched {
      let isSame = tracked.map { agree([$0, found[0]], at: here) } ?? false
      confirmations = isSame ? confirmations + 1 : 1
    }
    guard var best = found.first else { return nil }
    let size = problem.denseCount
    var covariance = [Double](repeating: 0, count: size * size)
    let result = problem.fit(
      &best.state, iterations: 0, tolerance: Self.tolerance, covariance: &covariance,
      workspace: &workspace)
    candidates = found.map { candidate in
      var kept = candidate
      kept.state = atKnots(candidate.state)
      return kept
    }
    guard result.cost.isFinite else { return nil }
    let solution = solution(best, covariance, size: size, knots: path.count)
    keepAnchors(found, covariance, size: size, knots: path.count)
    let isAlone =
      confirmations >= Self.leastConfirmations && explains(best)
      && (verdict.isUsed || !isSurveyed || areVouchedFor && verdict == .untested)
    return AnchorWindow.Fix(solution, isAlone: isAlone)
  }

  private var isSearchDue: Bool {
    let growth = confirmations == 1 ? Self.confirmingGrowth : Self.searchGrowth
    let due = max(growth * Double(searchedCount), Double(Self.leastPerAnchor * anchors.count))
    return searchedCount == 0 || Double(observations.count) >= due
  }

  private func explains(_ candidate: Candidate) -> Bool {
    candidate.cost.isFinite && candidate.inlierShare >= AnchorProblem.leastInlierShare
  }

  /// A candidate at the minimum that is nearest downhill.
  private mutating func refined(
    _ candidate: Candidate, _ problem: ChainProblem, iterations: Int = mostIterations
  ) -> Candidate {
    var (found, none) = (candidate, [Double]())
    let result = problem.fit(
      &found.state, iterations: iterations, tolerance: Self.tolerance, covariance: &none,
      workspace: &workspace)
    found.cost = result.cost
    found.inlierShare = heardShare()
    return found
  }

  /// The share of inliers of the newest fit.
  private func heardShare() -> Double {
    var isHeard = [Bool](repeating: false, count: anchors.count)
    for observation in observations {
      isHeard[observation.from] = true
      isHeard[observation.to] = true
    }
    let shares = workspace.inlierShares.indices.filter { isHeard[$0] }.map {
      workspace.inlierShares[$0]
    }
    return shares.isEmpty ? 1 : shares.reduce(0, +) / Double(shares.count)
  }

  /// The best first, and after it those that explain the differences about as well elsewhere.
  private func distinct(_ candidates: [Candidate], knots: Int) -> [Candidate] {
    let sorted = candidates.filter { $0.cost.isFinite }.sorted { $0.cost < $1.cost }
    guard let best = sorted.first else { return [] }
    var kept = [best]
    for candidate in sorted.dropFirst() {
      guard candidate.cost < best.cost + AnchorWindow.rivalry / 2,
        kept.count < Self.mostCandidates
      else { break }
      if kept.allSatisfy({ isElsewhere($0, candidate, knots: knots) }) { kept.append(candidate) }
    }
    return kept
  }

  /// Whether the device, or an anchor of which no place is known, is elsewhere.
  private func isElsewhere(_ a: Candidate, _ b: Candidate, knots: Int) -> Bool {
    let unknown = anchors.indices.filter { anchors[$0] == .unknown }
    return differ(a, b, at: layout.blockSize * (knots - 1))
      || unknown.contains { differ(a, b, at: layout.peer($0, knots: knots)) }
  }

  private func differ(_ a: Candidate, _ b: Candidate, at first: Int) -> Bool {
    let away = (0..<3).map { a.state[first + $0] - b.state[first + $0] }
    return away.reduce(0) { $0 + $1 * $1 } > Self.sameWithin * Self.sameWithin
  }

  /// Whether all candidates have the same place at an unknown of theirs.
  private func agree(_ candidates: [Candidate], at first: Int) -> Bool {
    candidates.dropFirst().allSatisfy { !differ(candidates[0], $0, at: first) }
  }

  private func solution(
    _ candidate: Candidate, _ covariance: [Double], size: Int, knots: Int
  ) -> AnchorSolution {
    let first = layout.blockSize * (knots - 1)
    let state = candidate.state
    return AnchorSolution(
      position: Vector3(state[first], state[first + 1], state[first + 2]),
      turnRadians: state[first + 3].wrappedAngle, cost: candidate.cost,
      inlierShare: candidate.inlierShare,
      positionCovariance: Self.place(0, of: covariance, size: size),
      turnVariance: covariance[3 * size + 3])
  }

  private static func place(_ first: Int, of covariance: [Double], size: Int) -> SymmetricMatrix3 {
    func entry(_ row: Int, _ column: Int) -> Double {
      covariance[(first + column) * size + first + row]
    }
    return SymmetricMatrix3(
      xx: entry(0, 0), xy: entry(0, 1), xz: entry(0, 2), yy: entry(1, 1), yz: entry(1, 2),
      zz: entry(2, 2))
  }

  private mutating func keepAnchors(
    _ candidates: [Candidate], _ covariance: [Double], size: Int, knots: Int
  ) {
    let state = candidates[0].state
    anchorEstimates = anchors.indices.map { anchor in
      let first = layout.peer(anchor, knots: knots)
      let spread = Self.place(layout.peer(anchor, knots: 1), of: covariance, size: size)
      let sigma = spread.trace.squareRoot()
      let isKnown =
        sigma <= AnchorWindow.positionGate
        && (anchors[anchor].place != nil
          || agree(candidates, at: first) && explains(candidates[0]))
      let clock = clock(of: anchor).map { layout.blockSize * (knots - 1) + layout.clock($0) }
      return AnchorEstimate(
        position: Estimated(
          value: isKnown ? Vector3(state[first], state[first + 1], state[first + 2]) : nil,
          sigma: sigma, unavailability: isKnown ? nil : .tooUncertain),
        covariance: spread,
        clockError: anchor == 0 ? 0 : clock.map { state[$0] } ?? state[first + 3],
        clockRate: clock.map { state[$0 + 1] } ?? 0)
    }
  }

  // MARK: The survey

  /// Whether enough anchors have places for these to be examined.
  private var isSurveyed: Bool {
    anchors.count { $0.place != nil } >= SurveyExamination.leastAnchors
  }

  /// Whether places are used until they are contradicted: where all are known exactly, as the caller says; and
  /// among free clocks, whose errors leave too little in a window to confirm a place.
  private var areVouchedFor: Bool {
    clocks.areWandering
      || anchors.allSatisfy { anchor in
        if case .uncertain = anchor { false } else { true }
      }
  }

  /// Examines the anchors' places.
  ///
  /// - Returns: Whether what is taken to be wrong with them has changed.
  private mutating func examineSurvey(_ path: [TrajectoryPoint]) -> Bool {
    let growth =
      if case .confirmed = verdict { Self.confirmedGrowth } else { Self.examinationGrowth }
    guard isSurveyed, Double(observations.count) >= growth * Double(examinedCount) else {
      return false
    }
    var trial = self
    // Where an unknown anchor is tells nothing of the others' places, and takes many starts to find.
    trial.observations.removeAll { anchors[$0.from].place == nil || anchors[$0.to].place == nil }
    var counts = [Int](repeating: 0, count: anchors.count)
    for observation in trial.observations {
      counts[observation.from] += 1
      counts[observation.to] += 1
    }
    let heard = anchors.indices.filter {
      anchors[$0].place != nil && counts[$0] >= Self.leastPerAnchor
    }
    guard heard.count >= SurveyExamination.leastAnchors else { return false }
    examinedCount = observations.count
    let examination = SurveyExamination(among: heard, measuresDifferences: true) { hypothesis in
      trial.use(hypothesis, loose: [])
      return SurveyExamination.Evidence(of: hypothesis, survey, trial.modes(path))
    }
    verdict = examination.verdict
    guard verdict.isUsed else { return false }
    let found = examination.hypothesis
    let others = areVouchedFor && found.faults.isEmpty ? [] : examination.loose
    guard found.faults != hypothesis.faults || others != loose else { return false }
    use(found, loose: others)
    return true
  }

  /// Takes something to be wrong with the places.
  private mutating func use(_ other: SurveyHypothesis, loose others: Set<Int>) {
    (hypothesis, loose) = (other, others)
    prior = initialPrior(at: knots[0])
  }

  /// The minima that are reached from starts all round, with their evidence.
  private mutating func modes(_ path: [TrajectoryPoint]) -> [SurveyMode] {
    let whole = problem(path)
    let here = layout.blockSize * (path.count - 1)
    return search(path, isCoarse: true).compactMap { candidate in
      guard
        let found = whole.covariances(
          at: candidate.state, includingKnots: false, workspace: &workspace),
        let known = MarginalPrior.logDeterminant(
          border(around: .zero).prior.covariance, size: survey.size)
      else { return nil }
      return SurveyMode(
        logEvidence: -found.cost - 0.5 * (found.logDeterminant + known),
        device: Vector3(
          candidate.state[here], candidate.state[here + 1], candidate.state[here + 2]),
        inlierShares: [Double](repeating: candidate.inlierShare, count: anchors.count),
        anchors: anchors.indices.map { anchor in
          let first = layout.peer(anchor, knots: path.count)
          return (
            Vector3(
              candidate.state[first], candidate.state[first + 1], candidate.state[first + 2]),
            Self.place(
              layout.peer(anchor, knots: 1), of: found.dense, size: whole.denseCount)
          )
        })
    }
  }

  // MARK: Making room

  /// Where the window is full its oldest third is marginalised, or forgotten while it is not certain where
  /// that was.
  private mutating func makeRoom() {
    guard knots.count >= Self.mostKnots || observations.count > Self.mostObservations,
      knots.count > 3
    else { return }
    let kept = knots.count / 3
    let border = knots[kept].timestamp
    if candidates.count == 1, confirmations >= Self.leastConfirmations {
      let problem = problem(Array(knots[...kept]))
      let state = candidates[0].state
      let older =
        Array(state[..<(layout.blockSize * (kept + 1))])
        + state[(layout.blockSize * knots.count)...]
      var marginal = MarginalPrior()
      hasMarginalized = problem.marginalize(at: older, into: &marginal, workspace: &workspace)
      if hasMarginalized { prior = marginal }
    }
    let device = knots[kept]
    knots.removeFirst(kept)
    observations.removeAll { $0.device.timestamp < border }
    searchedCount = min(searchedCount, observations.count)
    examinedCount = min(examinedCount, observations.count)
    for index in candidates.indices {
      candidates[index].state.removeFirst(layout.blockSize * kept)
    }
    if !hasMarginalized { prior = initialPrior(at: device) }
  }

  // MARK: Searching

  /// The minima that are reached from starts all round.
  ///
  /// - Parameters:
  ///   - path: The knots.
  ///   - isCoarse: Whether fewer differences and starts are enough, as for one of many hypotheses.
  /// - Returns: The best, and those that explain the differences about as well elsewhere.
  private mutating func search(
    _ path: [TrajectoryPoint], isCoarse: Bool = false
  ) -> [Candidate] {
    let most = isCoarse ? Self.mostSearchedCoarsely : Self.mostSearched
    var problem = problem(path, mostDifferences: most)
    var found: [Candidate] = []
    for start in starts(path, heights: isCoarse ? [0] : Self.heightStarts) {
      let candidate = settled(start, &problem)
      if candidate.cost.isFinite { found.append(candidate) }
    }
    found = distinct(found, knots: path.count)
    if !isCoarse, let best = found.first, anchors.contains(.unknown) {
      found += movingAnchors(best, &problem, knots: path.count)
    }
    let whole = self.problem(path)
    return distinct(found, knots: path.count).map { refined($0, whole) }
  }

  /// Tries other places for the anchors of which none is known, one after the other.
  private mutating func movingAnchors(
    _ best: Candidate, _ problem: inout ChainProblem, knots: Int
  ) -> [Candidate] {
    var (best, found) = (best, [best])
    let last = layout.blockSize * (knots - 1)
    for anchor in anchors.indices where anchors[anchor] == .unknown {
      let first = layout.peer(anchor, knots: knots)
      let from = best
      for trial in 0..<Self.anchorStarts {
        let away = Self.away(trial)
        var start = from.state
        for (index, way) in [away.x, away.y, away.z].enumerated() {
          start[first + index] = start[last + index] + way
        }
        let candidate = settled(start, &problem)
        found.append(candidate)
        if candidate.cost < best.cost { best = candidate }
      }
    }
    return found.filter { $0.cost.isFinite }
  }

  /// The minimum that is reached from a start: first with all differences for inliers, because from
  /// far off none would be one.
  private mutating func settled(_ start: [Double], _ problem: inout ChainProblem) -> Candidate {
    var candidate = Candidate(state: start)
    problem.doubtsDifferences = false
    problem.widening = Self.startWidening
    candidate = refined(candidate, problem, iterations: Self.searchIterations)
    problem.doubtsDifferences = true
    for widening in Self.widenings {
      problem.widening = widening
      candidate = refined(candidate, problem, iterations: Self.searchIterations)
    }
    return candidate
  }

  /// States at the knots and of the border from which the device is sought.
  private func starts(_ path: [TrajectoryPoint], heights: [Double]) -> [[Double]] {
    guard let newest = path.last?.worldFromDevice.translation else { return [] }
    guard let middle else {
      return (0..<Self.anchorStarts).map { start in
        self.start(path, from: newest, at: newest, turnRadians: 0, number: start)
      }
    }
    let heights = configuration.odometry.isPlanar ? [0] : heights
    return heights.flatMap { height in
      (0..<Self.turnStarts).map { turn in
        start(
          path, from: newest, at: middle + Vector3(0.1, height, 0.1),
          turnRadians: 2 * .pi * Double(turn) / Double(Self.turnStarts), number: turn)
      }
    }
  }

  /// The path turned and moved from one place to another, clocks that are right, and anchors where they
  /// are said to be, or else somewhere around that place.
  private func start(
    _ path: [TrajectoryPoint], from newest: Vector3, at place: Vector3, turnRadians: Double,
    number: Int
  ) -> [Double] {
    let turn = YawTurn(turnRadians)
    var state: [Double] = []
    for knot in path {
      let there = place + turn.act(knot.worldFromDevice.translation - newest)
      state += [there.x, there.y, there.z, turnRadians]
      state += [Double](repeating: 0, count: ChainLayout.clockSize * layout.clockCount)
    }
    let map = hypothesis.map(survey)
    for (index, anchor) in anchors.enumerated() {
      let there =
        anchor.place == nil
        ? place + Self.away(number + 5 * index) : map.peers[index].positionInWorld
      state += [there.x, there.y, there.z, 0, 0]
    }
    return state
  }

  /// Ways in all directions, 4 m and 8 m long, evenly spread (Roberts' sequence, 2018).
  private static func away(_ number: Int) -> Vector3 {
    func fraction(_ step: Double) -> Double {
      (0.5 + step * Double(number + 1)).truncatingRemainder(dividingBy: 1)
    }
    let rise = 1 - 2 * fraction(0.7548776662466927)
    let (level, angle) = ((1 - rise * rise).squareRoot(), 2 * .pi * fraction(0.5698402909980532))
    return (number.isMultiple(of: 2) ? 4 : 8)
      * Vector3(level * cos(angle), rise, level * sin(angle))
  }
}
