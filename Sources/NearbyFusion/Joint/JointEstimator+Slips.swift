// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Slips of the odometry: innovations of the path that are far larger than drift, by evidence.
extension JointEstimator {
  // MARK: Intervals

  /// Whether the device has not moved from a knot to the next.
  private func isFrozen(after knot: Int) -> Bool {
    knots[knot + 1].path == knots[knot].path && knots[knot + 1].turn == knots[knot].turn
  }

  /// Whether there is a slip after a knot that is more than a correction.
  func hasLargeSlip(after knot: Int) -> Bool { slips[knot]?.isLarge ?? false }

  /// Whether any large slip has lasted until after a moment.
  private func hasLargeSlip(since time: Timestamp) -> Bool {
    knots.indices.dropLast().contains { hasLargeSlip(after: $0) && knots[$0 + 1].timestamp > time }
  }

  /// The uncertainty of the time at which a slip displaces the device, seconds.
  private static let timeSigmaSeconds = 0.5

  /// The factor v of the variance `v s (1 - s)` per axis, m², by which the path deviates from a straight line at the
  /// share s of an interval.
  ///
  /// Of drift it is the variance of the interval's drift. A slip by a vector d at one unknown time within the interval
  /// has `v = d²/3`. Over T seconds with a time uncertain by u it has `v (u/T)²`, if u is less than T.
  func bridgeVariance(_ step: OdometryDrift, after knot: Int) -> Double {
    guard slips[knot] != nil, knot + 1 < knots.count else { return step.horizontal }
    let first = ChainLayout.driftSize * knot
    let next = first + ChainLayout.driftSize
    let walked = YawTurn(corrections[first + 3]).act(
      knots[knot + 1].worldFromDevice.translation - knots[knot].worldFromDevice.translation)
    let slipped =
      Vector3(
        corrections[next] - corrections[first], corrections[next + 1] - corrections[first + 1],
        corrections[next + 2] - corrections[first + 2]) - walked
    let seconds = knots[knot + 1].timestamp.seconds(since: knots[knot].timestamp)
    let share = Self.timeSigmaSeconds / max(seconds, Self.timeSigmaSeconds)
    return slipped.dot(slipped) * share * share / 3
  }

  /// The drift of an interval without a slip.
  private func steadyDrift(after knot: Int, isPlanar: Bool) -> OdometryDrift {
    var steady = OdometryDrift(from: knots[knot], to: knots[knot + 1], isPlanar: isPlanar)
    steady.addSwing(
      of: knots[knot + 1].worldFromDevice.translation - knots[knot].worldFromDevice.translation)
    return steady
  }

  /// Finds out of each interval whether there is a slip, by the innovations of a fit.
  ///
  /// Of small slips one is added with a fit, the most probable. Large ones are only suspected: the linearised fit
  /// misleads, as what a slip distorts is distorted there.
  ///
  /// - Returns: The interval that most probably has a large slip of which nothing was known.
  mutating func judgeSlips(
    by found: ChainProblem.Innovations, _ problem: inout ChainProblem, _ settings: Settings
  ) -> Int? {
    guard settings.configuration.odometry.positionDrift > 0 else { return nil }
    let isPlanar = settings.configuration.odometry.isPlanar
    let count = ChainLayout.driftSize + problem.layout.errorCount
    var suspect: (knot: Int, logOdds: Double)?
    var correction: (knot: Int, logOdds: Double)?
    for knot in 0..<problem.knotCount - 1 {
      let steady = steadyDrift(after: knot, isPlanar: isPlanar)
      let least = ChainProblem.leastVariance
      let (slip, logOdds) = OdometrySlip.mostProbable(
        InlineArray { found.moments[count * knot + $0] }, problem.driftVariances(at: knot),
        steady: [
          max(steady.horizontal, least), isPlanar ? 0 : max(steady.vertical, least),
          max(steady.horizontal, least), max(steady.yaw, least),
        ], isFrozen: isFrozen(after: knot),
        present: hasLargeSlip(after: knot) ? slips[knot] : nil)
      guard slip != slips[knot], !(slip?.isLarge ?? false && hasLargeSlip(after: knot)) else {
        continue
      }
      switch slip {
      case .large, .turned:
        if logOdds > suspect?.logOdds ?? 0 { suspect = (knot, logOdds) }
      case .small where slips[knot] == nil:
        if logOdds > correction?.logOdds ?? OdometrySlip.leastGain { correction = (knot, logOdds) }
      default: set(slip, after: knot, in: &problem, isPlanar: isPlanar)
      }
    }
    if let correction { set(.small, after: correction.knot, in: &problem, isPlanar: isPlanar) }
    return suspect?.knot
  }

  private mutating func set(
    _ slip: OdometrySlip?, after knot: Int, in problem: inout ChainProblem, isPlanar: Bool
  ) {
    slips[knot] = slip
    var drift = steadyDrift(after: knot, isPlanar: isPlanar)
    if let slip { drift.add(slip, isPlanar: isPlanar) }
    problem.setDrift(
      at: knot, horizontal: drift.horizontal, vertical: drift.vertical, yaw: drift.yaw)
  }

  // MARK: The newest ranges

  /// The window of newest ranges, seconds, that is tested for a slip; the gate on their residuals, in standard
  /// deviations; and the least number of outliers.
  private static let newestSeconds = 4.0
  private static let contradictionSigmas = 3.0
  private static let fewestContradictions = 4

  /// Finds out whether the newest ranges of most peers contradict a state.
  ///
  /// - Returns: Whether those of several peers do, so that a slip is to be looked for.
  @discardableResult
  private mutating func judgeContradiction(
    _ problem: ChainProblem, at state: [Double], _ workspace: inout ChainWorkspace
  ) -> Bool {
    problem.findRangeResiduals(at: state, workspace: &workspace)
    var (peers, all, contradicting) = (0, 0, 0)
    for member in members.indices {
      let newest = newestRanges(of: member, problem, workspace)
      all += newest.count
      contradicting += newest.contradicting
      if 2 * newest.contradicting > newest.count { peers += 1 }
    }
    let isSuspected = peers > 1 && contradicting >= Self.fewestContradictions
    slipReview.isContradicted = isSuspected && 2 * contradicting > all
    return isSuspected
  }

  /// Counts the newest ranges of a member, and those that contradict the state whose residuals were found last.
  private func newestRanges(
    of member: Int, _ problem: ChainProblem, _ workspace: ChainWorkspace
  ) -> (count: Int, contradicting: Int) {
    guard let now = knots.last else { return (0, 0) }
    let since = now.timestamp.advanced(bySeconds: -Self.newestSeconds)
    let knot = knots.lastIndex { $0.timestamp <= since } ?? 0
    return problem.newestRanges(
      Self.fewestContradictions, of: member, since: knot, beyond: Self.contradictionSigmas,
      workspace)
  }

  /// The members whose newest ranges the fit explains although they contradict the filter's place.
  ///
  /// Of a single peer nothing but its own ranges tells an error from a move.
  func explainedDoubts(
    _ solution: JointSolution, _ candidates: [JointCandidate?], _ workspace: inout ChainWorkspace
  ) -> [Int] {
    let doubted = members.indices.filter { candidates[members[$0].peer]?.isDoubted ?? false }
    guard members.count > 1, !doubted.isEmpty else { return [] }
    solution.problem.findRangeResiduals(at: solution.state, workspace: &workspace)
    return doubted.filter { member in
      let newest = newestRanges(of: member, solution.problem, workspace)
      return newest.count == Self.fewestContradictions
        && 2 * newest.contradicting < newest.count
    }
  }

  /// Decides of members of which another track has begun whether they have moved.
  ///
  /// A slip of the odometry contradicts a place as a move does. Of a single peer nothing but the new track's place tells
  /// a move from faults.
  mutating func decideRebirths(
    _ solution: JointSolution, _ candidates: [JointCandidate?], _ workspace: inout ChainWorkspace
  ) {
    guard let now = knots.last?.timestamp,
      members.contains(where: { records[$0.peer].rebirth != nil })
    else { return }
    solution.problem.findRangeResiduals(at: solution.state, workspace: &workspace)
    for index in members.indices.reversed() {
      let peer = members[index].peer
      guard let rebirth = records[peer].rebirth else { continue }
      let hasMoved: Bool
      if members.count == 1 {
        guard let candidate = candidates[peer], candidate.birth == rebirth, candidate.isPlaced
        else { continue }
        hasMoved = candidate.isElsewhere(than: solution.mode(of: index), at: solution.device)
      } else {
        let hasSlipped =
          slipReview.foundAt.map { $0.seconds(since: rebirth) > -Self.newestSeconds } ?? false
        guard hasSlipped || now.seconds(since: rebirth) > Self.newestSeconds else { continue }
        let newest = newestRanges(of: index, solution.problem, workspace)
        hasMoved = !hasSlipped && 2 * newest.contradicting > newest.count
      }
      if hasMoved {
        departed.append(peer)
      } else {
        (records[peer].birth, members[index].birth) = (rebirth, rebirth)
        records[peer].rebirth = nil
      }
    }
  }

  // MARK: Looking for one

  /// A slip has four unknowns, so that it explains the ranges of fewer peers whatever they are.
  private static let fewestPeers = 4
  /// The number of newest intervals in which a slip may have begun, how many suspects are fitted, and from how many
  /// starts.
  private static let mostOnsets = 6
  private static let mostFitted = 3
  private static let mostStarts = 4

  /// What a search for a slip has ended with.
  private enum SlipSearch {
    case found
    case notFound
    /// The newest ranges agree with the fit.
    case calm
  }

  /// Looks for a slip in the newest intervals when the newest ranges of several peers contradict the fit.
  ///
  /// While they do not, the newest slip is compared with others.
  ///
  /// - Returns: Whether a slip was found: the solution has become that with it.
  mutating func findSlip(
    _ solution: inout JointSolution, _ peers: [PeerFilter], _ settings: Settings,
    _ memory: inout Memory
  ) -> Bool {
    guard settings.configuration.odometry.positionDrift > 0, members.count >= Self.fewestPeers,
      knots.count > 2
    else {
      slipReview.isContradicted = false
      return false
    }
    let search = searchSlip(&solution, peers, settings, &memory)
    if search == .calm { reviewSlip(&solution, peers, settings, &memory) }
    return search == .found
  }

  /// Fits the slips that are suspected.
  ///
  /// A slip that lasts is one interval of the chain, from the knot at its onset to the newest knot. Each hypothesis
  /// is fitted, and the one of the greatest evidence is kept.
  private mutating func searchSlip(
    _ solution: inout JointSolution, _ peers: [PeerFilter], _ settings: Settings,
    _ memory: inout Memory
  ) -> SlipSearch {
    var none: [Double] = []
    memory.start.removeAll(keepingCapacity: true)
    memory.start.append(contentsOf: solution.state)
    _ = solution.problem.fit(
      &solution.state, iterations: Self.mostIterations, tolerance: Self.coarseTolerance,
      covariance: &none, workspace: &memory.workspace)
    solution.problem.setFaultPriors(
      at: solution.state, settings.faults, workspace: &memory.workspace)
    let isLosingPeer = members.indices.contains {
      records[members[$0].peer].rebirth != nil
        || memory.workspace.inlierShares[$0] < Self.leastInlierShare
    }
    let isSuspected = judgeContradiction(
      solution.problem, at: solution.state, &memory.workspace)
    let notFound: SlipSearch = isSuspected ? .notFound : .calm
    let before = memory.start
    guard isSuspected || isLosingPeer else { return notFound }
    // Performance: what the newest ranges alone rule out is not fitted.
    let suspects = suspects(solution.problem, before: before, settings)
    guard !suspects.isEmpty || slipReview.isContradicted else { return notFound }
    _ = solution.problem.fit(
      &solution.state, iterations: Self.mostIterations, tolerance: Self.tolerance,
      covariance: &none, workspace: &memory.workspace)
    solution.problem.setFaultPriors(
      at: solution.state, settings.faults, workspace: &memory.workspace)
    guard let steady = logEvidence(solution.problem, at: solution.state, &memory.workspace)
    else { return notFound }
    var best = steady + OdometrySlip.leastGain
    var found: SlipHypothesis?
    func weigh(_ hypothesis: SlipHypothesis, _ logOdds: Double, _ memory: inout Memory) {
      guard
        let evidence = logEvidence(hypothesis.problem, at: hypothesis.state, &memory.workspace),
        evidence + logOdds > best
      else { return }
      (best, found) = (evidence + logOdds, hypothesis)
    }
    let last = knots.count - 2
    // All ranges may be wrong by the same from now on.
    for knot in [last, last - 1] where slipReview.isContradicted && !rangeSteps[knot] {
      var trial = self
      trial.rangeSteps[knot] = true
      let start = restored(upTo: knot, before)
      weigh(
        trial.hypothesis(
          displacing: SlipStart(place: .zero), after: knot, start, peers, settings, &memory),
        RangeErrorSizes.logOddsOfStep, &memory)
    }
    func weigh(_ suspect: SuspectedSlip, _ memory: inout Memory) {
      weigh(
        hypothesis(
          suspect, restored(upTo: suspect.onset, before), peers, settings, &memory),
        logOdds(of: suspect.slip, since: suspect.onset), &memory)
    }
    for suspect in suspects { weigh(suspect, &memory) }
    if var suspect = found?.suspect {
      for start in starts(of: suspect, solution.problem, before, settings).dropFirst() {
        suspect.start = start
        weigh(suspect, &memory)
      }
    }
    guard let found else { return notFound }
    adopt(found, &solution)
    judgeContradiction(solution.problem, at: solution.state, &memory.workspace)
    return .found
  }

  /// The knot from which on the newest slip lasts.
  private var slipOnset: Int? {
    guard let since = slipReview.since,
      let knot = knots.lastIndex(where: { $0.timestamp <= since }), hasLargeSlip(after: knot)
    else { return nil }
    return knot
  }

  /// The kind of the large slip after a knot; of a new slip `large`.
  private func largeSlip(at knot: Int) -> OdometrySlip {
    slips[knot].flatMap { $0.isLarge ? $0 : nil } ?? .large
  }

  /// The prior log odds of a slip from a knot to the newest one, over the slip or the drift that the interval has.
  private func logOdds(of slip: OdometrySlip, since knot: Int) -> Double {
    let isFrozen =
      knots[knot].path == knots[knots.count - 1].path
      && knots[knot].turn == knots[knots.count - 1].turn
    let present = slips[knot]?.logOdds(isFrozen: isFrozen) ?? 0
    return slip.logOdds(isFrozen: isFrozen) - present
  }

  /// A slip between two knots that is to be fitted.
  private struct SuspectedSlip {
    var slip: OdometrySlip
    var onset: Int
    var end: Int
    /// From where the fit begins.
    var start = SlipStart(place: .zero)
  }

  /// A chain with another slip, or with another error of all ranges.
  private struct SlipHypothesis {
    var estimator: JointEstimator
    var problem: ChainProblem
    var state: [Double]
    /// The slip; `nil` of an error of ranges.
    var suspect: SuspectedSlip?
  }

  /// Fits a slip that lasts from a knot to another one.
  private func hypothesis(
    _ suspect: SuspectedSlip, _ calm: [Double], _ peers: [PeerFilter], _ settings: Settings,
    _ memory: inout Memory
  ) -> SlipHypothesis {
    var trial = self
    trial.slips[suspect.onset] = suspect.slip
    let state = trial.merge(since: suspect.onset, until: suspect.end, calm)
    var found = trial.hypothesis(
      displacing: suspect.start, after: suspect.onset, state, peers, settings, &memory)
    found.suspect = suspect
    return found
  }

  /// Makes one interval of the path between two knots.
  ///
  /// - Parameters:
  ///   - knot: The first knot.
  ///   - end: The last one.
  ///   - state: A state with all knots.
  /// - Returns: The state with the knots that are left.
  private mutating func merge(since knot: Int, until end: Int, _ state: [Double]) -> [Double] {
    let inner = knot + 1..<end
    guard !inner.isEmpty else { return state }
    knots.removeSubrange(inner)
    corrections.removeSubrange(
      ChainLayout.driftSize * inner.lowerBound..<ChainLayout.driftSize * inner.upperBound)
    commonErrors.removeSubrange(inner)
    slips.removeSubrange(inner)
    rangeSteps.removeSubrange(inner)
    for member in members.indices { members[member].placeErrors.removeSubrange(inner) }
    var state = state
    let block = layout.blockSize
    state.removeSubrange(block * inner.lowerBound..<block * inner.upperBound)
    return state
  }

  /// Fits a large slip in an interval, and keeps it if the evidence is for it.
  mutating func trySlip(
    after knot: Int, _ solution: inout JointSolution, _ peers: [PeerFilter],
    _ settings: Settings, _ memory: inout Memory
  ) {
    guard members.count >= Self.fewestPeers else { return }
    var none: [Double] = []
    _ = solution.problem.fit(
      &solution.state, iterations: Self.mostIterations, tolerance: Self.tolerance,
      covariance: &none, workspace: &memory.workspace)
    guard let without = logEvidence(solution.problem, at: solution.state, &memory.workspace)
    else { return }
    let odds =
      OdometrySlip.large.logOdds(isFrozen: isFrozen(after: knot))
      - (slips[knot]?.logOdds() ?? 0)
    var best = without + OdometrySlip.leastGain
    var found: SlipHypothesis?
    for calm in [solution.state, restored(upTo: knot, solution.state)] {
      let suspect = SuspectedSlip(slip: .large, onset: knot, end: knot + 1)
      for start in starts(of: suspect, solution.problem, at: calm, settings) {
        var trial = self
        trial.slips[knot] = .large
        let hypothesis = trial.hypothesis(
          displacing: start, after: knot, calm, peers, settings, &memory)
        guard
          let with = logEvidence(hypothesis.problem, at: hypothesis.state, &memory.workspace),
          with + odds > best
        else { continue }
        (best, found) = (with + odds, hypothesis)
      }
    }
    guard var found else { return }
    found.suspect = SuspectedSlip(slip: .large, onset: knot, end: knot + 1)
    adopt(found, &solution)
  }

  /// Makes a hypothesis the state of this estimator, and records its slip.
  private mutating func adopt(_ hypothesis: SlipHypothesis, _ solution: inout JointSolution) {
    let former = knots
    self = hypothesis.estimator
    (solution.problem, solution.state) = (hypothesis.problem, hypothesis.state)
    guard let suspect = hypothesis.suspect, let now = former.last else { return }
    let (since, end) = (former[suspect.onset].timestamp, former[suspect.end].timestamp)
    if slipReview.note(since: since, until: end, foundAt: now) {
      slipEvent = .odometrySlipped(since: since)
    }
  }

  /// Takes note of a fit with which the newest ranges agree.
  mutating func noteCalm(_ solution: JointSolution) {
    let count = solution.problem.knotCount
    guard count <= knots.count + 1, slipReview.wantsFit(at: solution.device.timestamp) else {
      return
    }
    slipReview.addFit {
      $0.write(solution, knots: knots[..<(count - 1)], peers: members.lazy.map(\.peer))
    }
  }

  /// A state before a slip disturbed the fit, continued by the odometry.
  ///
  /// - Parameters:
  ///   - first: The knot before the slip.
  ///   - state: The state where there was no such fit.
  /// - Returns: The state.
  private func restored(upTo first: Int, _ state: [Double]) -> [Double] {
    guard let now = knots.last?.timestamp, let calm = slipReview.calmFit(at: now),
      let offset = calm.times.firstIndex(of: knots[0].timestamp),
      calm.constants.count == layout.constantCount
    else { return state }
    var restored = state
    let block = layout.blockSize
    // The newest knot of the calm fit is the device at that time, and no knot any more.
    let count = min(first + 1, calm.times.count - 1 - offset)
    guard count > 0 else { return state }
    for knot in 0..<count {
      let from = ChainLayout.driftSize * (offset + knot)
      for index in 0..<ChainLayout.driftSize {
        restored[block * knot + index] = calm.corrections[from + index]
      }
      restored[block * knot + layout.commonError] = calm.commonErrors[offset + knot]
    }
    let base = count - 1
    let turn = YawTurn(restored[block * base + 3])
    for knot in count..<knots.count {
      let way = turn.act(
        knots[knot].worldFromDevice.translation - knots[base].worldFromDevice.translation)
      restored[block * knot] = restored[block * base] + way.x
      restored[block * knot + 1] = restored[block * base + 1] + way.y
      restored[block * knot + 2] = restored[block * base + 2] + way.z
      restored[block * knot + 3] = restored[block * base + 3]
      restored[block * knot + layout.commonError] = restored[block * base + layout.commonError]
    }
    let constants = block * knots.count
    for index in calm.constants.indices { restored[constants + index] = calm.constants[index] }
    for member in members.indices {
      guard let known = calm.peers.firstIndex(of: members[member].peer) else { continue }
      let peer = layout.peer(member, knots: knots.count)
      for index in 0..<ChainLayout.peerSize {
        restored[peer + index] = calm.states[ChainLayout.peerSize * known + index]
      }
      for knot in knots.indices {
        let error = offset + min(knot, base)
        restored[block * knot + layout.placeError(member)] =
          calm.placeErrors[calm.times.count * known + error]
      }
    }
    return restored
  }

  // MARK: Comparing it with others

  /// Two hypotheses are the same slip when their places of the device differ by less, metres, and their headings,
  /// radians.
  private static let otherPlace = 0.4
  private static let otherTurn = 0.1
  /// By what factors the noise of the ranges since a slip is widened.
  private static let widenings = [4.0, 1]

  /// Compares the newest slip with another displacement, one after each fit.
  ///
  /// After a short walk the image of the device mirrored at the heights of the peers explains nearly as much.
  private mutating func reviewSlip(
    _ solution: inout JointSolution, _ peers: [PeerFilter], _ settings: Settings,
    _ memory: inout Memory
  ) {
    guard let now = knots.last, slipReview.isOpen(at: now.timestamp) else { return }
    guard let first = slipOnset, let slip = slips[first] else {
      // The fit has taken it back, unless it has made another interval of it.
      if let since = slipReview.since, !hasLargeSlip(since: since) { slipReview.end() }
      return
    }
    guard
      let evidence = logEvidence(solution.problem, at: solution.state, &memory.workspace)
    else { return }
    let here = evidence + slip.logOdds()
    let number = slipReview.compared % SlipReview.rivalCount
    slipReview.compared += 1
    slipReview.rivals[number] = .infinity
    guard var suspect = neighbour(number, of: slip, after: first) else { return }
    let calm = restored(upTo: suspect.onset, solution.state)
    let starts = starts(of: suspect, solution.problem, at: calm, settings)
    guard let start = starts.dropFirst(number == 1 ? 1 : 0).first else { return }
    suspect.start = start
    let found = hypothesis(suspect, calm, peers, settings, &memory)
    guard let there = logEvidence(found.problem, at: found.state, &memory.workspace) else { return }
    let rise = there + suspect.slip.logOdds() - here
    let isSame = agree(found.state, solution.state)
    if rise > 0 {
      self = found.estimator
      (solution.problem, solution.state) = (found.problem, found.state)
    }
    slipReview.rivals[number] = isSame ? .infinity : abs(rise)
  }

  /// A slip that differs from another one in where it began or ended, or in its kind.
  ///
  /// The first two are that slip itself: it is fitted anew from the two best starts.
  private func neighbour(_ number: Int, of slip: OdometrySlip, after knot: Int) -> SuspectedSlip? {
    var suspect = SuspectedSlip(slip: slip, onset: knot, end: knot + 1)
    switch number {
    case 2: suspect.end += 1
    case 3: suspect.end += 2
    case 4: suspect.slip = slip == .turned ? .large : .turned
    case 5 where knot > 0: suspect.onset -= 1
    default: break
    }
    return suspect.end < knots.count ? suspect : nil
  }

  /// Whether two states, of whichever numbers of knots, have the device at about one place and heading at the last.
  private func agree(_ one: [Double], _ other: [Double]) -> Bool {
    let dense = layout.peer(members.count, knots: 1)
    let (a, b) = (one.count - dense, other.count - dense)
    let away = Vector3(one[a] - other[b], one[a + 1] - other[b + 1], one[a + 2] - other[b + 2])
    return away.length < Self.otherPlace && abs(one[a + 3] - other[b + 3]) < Self.otherTurn
  }

  /// Fits this chain from a start that is displaced behind a knot.
  ///
  /// Behind it the errors of ranges begin as they are before it: else they would explain what the displacement is
  /// to explain.
  private mutating func hypothesis(
    displacing start: SlipStart, after first: Int, _ calm: [Double],
    _ peers: [PeerFilter], _ settings: Settings, _ memory: inout Memory
  ) -> SlipHypothesis {
    var state = calm
    let block = layout.blockSize
    let end = block * (first + 1)
    let pivot = Vector3(state[end], state[end + 1], state[end + 2])
    let turn = YawTurn(start.turnRadians)
    for knot in knots.indices {
      if knot > first {
        let from = block * knot
        let place =
          pivot + start.place
          + turn.act(Vector3(state[from], state[from + 1], state[from + 2]) - pivot)
        (state[from], state[from + 1], state[from + 2]) = (place.x, place.y, place.z)
        state[from + 3] += start.turnRadians
        state[block * knot + layout.commonError] = state[block * first + layout.commonError]
        let correlation = exp((knots[first].path - knots[knot].path) / RangeErrorSizes.placeLength)
        for member in members.indices {
          let error = layout.placeError(member)
          state[block * knot + error] = correlation * state[block * first + error]
        }
      }
      for index in 0..<ChainLayout.driftSize {
        corrections[ChainLayout.driftSize * knot + index] = state[block * knot + index]
      }
    }
    var none: [Double] = []
    var problem = newProblem(settings)
    let time = knots[first].timestamp
    for widening in Self.widenings {
      fill(
        &problem, knots: knots.count, peers, settings, &memory.steps, wideningNew: widening,
        widening: { $0.device.timestamp > time })
      _ = problem.fit(
        &state, iterations: Self.mostIterations, tolerance: widening > 1 ? 1 : Self.tolerance,
        covariance: &none, workspace: &memory.workspace)
    }
    problem.setFaultPriors(at: state, settings.faults, workspace: &memory.workspace)
    _ = problem.fit(
      &state, iterations: Self.mostIterations, tolerance: Self.tolerance, covariance: &none,
      workspace: &memory.workspace)
    problem.setFaultPriors(at: state, settings.faults, workspace: &memory.workspace)
    return SlipHypothesis(estimator: self, problem: problem, state: state)
  }

  /// Laplace's approximation of the logarithm of the evidence, up to a constant.
  private func logEvidence(
    _ problem: ChainProblem, at state: [Double], _ workspace: inout ChainWorkspace
  ) -> Double? {
    problem.covariances(at: state, includingKnots: false, workspace: &workspace).map {
      -$0.cost - problem.faultCost - 0.5 * $0.logDeterminant
        + 0.5 * problem.logProcessInformation
    }
  }

  // MARK: Displacements

  /// The most ranges by which a displacement is sought.
  private static let mostRanges = 60
  /// The scale of their robust cost, metres: lasting errors and drift.
  private static let rangeSigma = 0.2
  /// The prior sigma of a displacement, metres.
  private static let displacementSigma = 6.0
  private static let mostSteps = 10

  /// Turns that are tried, radians: the fit finds those between them.
  private static let turns = stride(from: -60.0, through: 60, by: 20).map { $0 * Double.pi / 180 }

  /// Where a slip may have begun among the newest knots: one that may still go on, or one that has turned the
  /// odometry's world at once.
  ///
  /// - Returns: The most probable ones, the best first.
  private func suspects(
    _ problem: ChainProblem, before: [Double], _ settings: Settings
  ) -> [SuspectedSlip] {
    let newest = knots.count - 1
    var found: [(slip: SuspectedSlip, gain: Double)] = []
    for onset in max(0, newest - Self.mostOnsets)..<newest {
      var cases = [SuspectedSlip(slip: largeSlip(at: onset), onset: onset, end: newest)]
      if onset + 1 < newest {
        cases.append(SuspectedSlip(slip: .turned, onset: onset, end: onset + 1))
      }
      for var suspect in cases {
        guard let best = starts(of: suspect, problem, before, settings).first else { continue }
        suspect.start = best
        let gain = best.gain + logOdds(of: suspect.slip, since: onset)
        if gain > OdometrySlip.leastGain { found.append((suspect, gain)) }
      }
    }
    found.sort { $0.gain > $1.gain }
    return found.prefix(Self.mostFitted).map(\.slip)
  }

  /// The starts of the fit of a slip from a state before it.
  private func starts(
    of suspect: SuspectedSlip, _ problem: ChainProblem, _ before: [Double], _ settings: Settings
  ) -> [SlipStart] {
    starts(of: suspect, problem, at: restored(upTo: suspect.onset, before), settings)
  }

  /// How far a slip may have displaced and turned the device, by the ranges since its onset to the known places of the
  /// peers.
  ///
  /// Least squares from a grid of displacements and turns, with a robust cost. Within the slip the displacement grows
  /// evenly; behind it the path is turned about the place where it ended.
  ///
  /// - Returns: The best ones, the best first.
  private func starts(
    of suspect: SuspectedSlip, _ problem: ChainProblem, at state: [Double], _ settings: Settings
  ) -> [SlipStart] {
    let ranges = problem.correctedRanges(since: suspect.onset, at: state)
    guard ranges.count >= Self.fewestContradictions else { return [] }
    let duration =
      knots[suspect.end].timestamp.seconds(since: knots[suspect.onset].timestamp)
    let end = layout.blockSize * suspect.end
    let pivot = Vector3(state[end], state[end + 1], state[end + 2])
    let step = max(1, ranges.count / Self.mostRanges)
    let steady = stride(from: 0, to: ranges.count, by: step).map { index in
      SlippedRange(
        range: ranges[index],
        share: min(1, max(0, ranges[index].seconds / duration)))
    }
    let isPlanar = settings.configuration.odometry.isPlanar
    let isTurned = suspect.slip == .turned && suspect.end < knots.count - 1
    let steadyCost = Self.robustCost(steady, at: .zero)
    let (rises, places) =
      isTurned ? ([0], [-3.0, 0, 3]) : (isPlanar ? [0] : [0, 2.5, -2.5], [-6.0, -2, 2, 6])
    var found: [SlipStart] = []
    for turn in isTurned ? Self.turns : [0] {
      var turned = steady
      for index in turned.indices where turned[index].share == 1 && isTurned {
        let antenna = turned[index].range.antenna
        turned[index].range.antenna = pivot + YawTurn(turn).act(antenna - pivot)
      }
      for rise in rises {
        for x in places {
          for z in places {
            let place = Self.robustFit(turned, from: Vector3(x, rise, z), isPlanar: isPlanar)
            if found.contains(where: {
              $0.turnRadians == turn && ($0.place - place).length < Self.otherPlace
            }) {
              continue
            }
            let gain = steadyCost - Self.robustCost(turned, at: place)
            found.append(SlipStart(place: place, turnRadians: turn, gain: gain))
          }
        }
      }
    }
    found.sort { $0.gain > $1.gain }
    return Array(found.prefix(Self.mostStarts))
  }

  /// A range, and the share of the slip's displacement that the device has at it.
  private struct SlippedRange {
    var range: ChainProblem.CorrectedRange
    var share: Double
  }

  /// The displacement of least robust cost near a start: Gauss and Newton's method on
  /// `Σ ln (1 + r²/2σ²)`, each range weighted by `1/(1 + r²/2σ²)`.
  private static func robustFit(
    _ ranges: [SlippedRange], from start: Vector3,
    isPlanar: Bool
  ) -> Vector3 {
    var place = start
    let scale = 0.5 / (rangeSigma * rangeSigma)
    let prior = 1 / (displacementSigma * displacementSigma)
    for _ in 0..<mostSteps {
      var information = SymmetricMatrix3(
        xx: prior, xy: 0, xz: 0, yy: isPlanar ? 1e12 : prior, yz: 0, zz: prior)
      var force = -prior * place
      for slipped in ranges {
        let (range, share) = (slipped.range, slipped.share)
        let sight = range.peer - range.antenna - share * place
        let distance = max(sight.length, 0.1)
        let residual = range.distance - distance
        let weight = 2 * scale / (1 + scale * residual * residual)
        let n = (share / distance) * sight
        information =
          information
          + weight
          * SymmetricMatrix3(
            xx: n.x * n.x, xy: n.x * n.y, xz: n.x * n.z, yy: n.y * n.y, yz: n.y * n.z,
            zz: n.z * n.z)
        force = force - (weight * residual) * n
      }
      guard let inverse = information.positiveDefiniteInverse else { break }
      let move = inverse.times(force)
      place = place + min(1, 2 / max(move.length, 1e-9)) * move
      if move.length < 1e-3 { break }
    }
    return place
  }

  private static func robustCost(
    _ ranges: [SlippedRange], at place: Vector3
  ) -> Double {
    let scale = 0.5 / (rangeSigma * rangeSigma)
    let prior = 1 / (displacementSigma * displacementSigma)
    return ranges.reduce(0.5 * prior * place.dot(place)) { sum, range in
      let sight = range.range.peer - range.range.antenna - range.share * place
      let residual = range.range.distance - sight.length
      return sum + log(1 + scale * residual * residual)
    }
  }

  // MARK: What is told

  /// The intervals beside a slip whose innovations are counted as its own.
  private static let besides = 2

  /// Measures the newest slip once it is decided how far it was.
  ///
  /// With the corrections c and ψ before it and c' and ψ' behind it, and the odometry's step Δ between, the device
  /// was displaced by `u = c' - c - R(ψ) Δ` and turned by `δ = ψ' - ψ` unseen. In the odometry's world the peers
  /// moved by `-R(ψ)ᵀ u`, and then turned by `-δ` about the device behind the slip. With the device at a from there
  /// when the slip was found, that is a displacement by `-R(ψ)ᵀ u + a - R(δ) a`, and a turn about the device then.
  mutating func measureSlip(at device: TrajectoryPoint) {
    guard slipReview.isDecided(at: device.timestamp), let since = slipReview.since,
      let first = slipOnset, first + 1 < knots.count
    else { return }
    // The fit explains a part of the displacement by drift in the neighbouring intervals.
    let (begin, end) = (
      max(0, first - Self.besides), min(first + 1 + Self.besides, knots.count - 1)
    )
    let turn = YawTurn(corrections[ChainLayout.driftSize * begin + 3])
    var displacement = Vector3.zero
    for knot in begin..<end {
      let (here, there) = (ChainLayout.driftSize * knot, ChainLayout.driftSize * (knot + 1))
      let walked =
        knots[knot + 1].worldFromDevice.translation - knots[knot].worldFromDevice.translation
      let way = Vector3(
        corrections[there] - corrections[here], corrections[there + 1] - corrections[here + 1],
        corrections[there + 2] - corrections[here + 2])
      displacement = displacement - turn.actBack(way - YawTurn(corrections[here + 3]).act(walked))
    }
    let yaw = ChainLayout.driftSize * end + 3
    let turned = corrections[ChainLayout.driftSize * begin + 3] - corrections[yaw]
    let away = slipReview.device - knots[first + 1].worldFromDevice.translation
    displacement = displacement + away - YawTurn(turned).actBack(away)
    slipEvent = .slipMeasured(since: since, turnRadians: turned, displacement: displacement)
    slipReview.isMeasured = true
  }

  /// What has been found out of slips since it was last asked.
  mutating func takeSlipEvent() -> SampleEvent? {
    defer { slipEvent = nil }
    return slipEvent
  }

  /// Whether a slip explains a contradiction of a peer's place, by when that began.
  func explains(contradictionSince time: Timestamp) -> Bool {
    guard let since = slipReview.since else { return false }
    return time.seconds(since: since) > -Self.newestSeconds && slipReview.isOpen(at: time)
  }

  /// Whether the odometry may be slipping at a moment, or how far it has slipped is not decided.
  func isSlipping(at time: Timestamp) -> Bool { slipReview.isUndecided(at: time) }
}
