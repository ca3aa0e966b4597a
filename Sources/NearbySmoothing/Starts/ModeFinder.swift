// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Finds the modes of the joint posterior: from several starts to the best one, and from there to its
/// rivals.
struct ModeFinder: Sendable {
  /// The best mode, and those that differ from it in one peer's place.
  struct Result: Sendable {
    var best: SmoothingSolution
    var rivals: [(peer: Int, solution: SmoothingSolution)]
  }

  /// A peer's places beside its best one are tried, so many at most.
  private static let mostRivals = 4
  /// A place that a given path speaks against by so many nats is not tried; the path gives way.
  private static let conditionalNats = 60.0
  /// A mode below the best by more than this is none.
  private static let rivalNats = 9.0
  /// Each time that sizes of errors are learnt, the steps of a fit, and the nats by which the last one lowers the cost.
  private static let learningSteps = 8
  private static let learningTolerance = 0.2
  /// How often the noise is measured anew.
  private static let noiseRounds = 3

  var problem: SmoothingProblem
  var learner: NoiseLearner
  /// For each peer where the filter had it last; `nil` for a peer that it never located.
  var starts: [PeerStart?]
  /// For each peer the filter's other ideas, in the odometry's world at the start's knot.
  var alternatives: [[Vector3]]
  /// For each peer that may move where the filter had it, knot by knot.
  var filterTracks: [[Vector3?]]
  /// The peers of unknown motion.
  var undecided: [Int]
  /// Whether errors of ranges that last are estimated where they can be.
  var estimatesRangeErrors = true

  init(
    _ problem: SmoothingProblem, starts: [PeerStart?], alternatives: [[Vector3]],
    filterTracks: [[Vector3?]], undecided: [Int]
  ) {
    self.problem = problem
    self.starts = starts
    self.alternatives = alternatives
    self.filterTracks = filterTracks
    self.undecided = undecided
    learner = NoiseLearner(peerCount: problem.peerCount, problem.ranging)
  }

  /// Finds them; `nil` when the equations could not be solved from any start.
  mutating func find(progress: (Double) -> Void) -> Result? {
    setFirstNoise()
    guard var best = bestFromAfar() else { return nil }
    progress(0.3)
    for _ in 0..<Self.noiseRounds { relearn(&best) }
    progress(0.5)
    decideMotion(&best)
    estimateRangeErrors(&best)
    progress(0.6)
    var rivals = searchRivals(&best)
    // A rival that won has another noise, and perhaps other rivals.
    if rivals.hasWinner {
      for _ in 0..<Self.noiseRounds { relearn(&best) }
      rivals = searchRivals(&best)
    }
    progress(0.95)
    best = Minimizer.polish.mode(best.problem, from: best.state) ?? best
    progress(1)
    return Result(best: best, rivals: rivals.kept)
  }

  // MARK: The best mode

  /// Before anything is known of where peers are: noise as it is stated, viewpoints from the odometry.
  private mutating func setFirstNoise() {
    var state = DeviceTrace(problem: problem, starts: starts).straight()
    state.motions = motions(in: problem, at: state)
    learner.measure(&problem, at: state, learnsShares: false)
  }

  /// The better of the modes downhill from the odometry as it is, and from the device located among the
  /// peers.
  func bestFromAfar() -> SmoothingSolution? {
    let trace = DeviceTrace(problem: problem, starts: starts)
    var candidates = [trace.straight()]
    if problem.drifts { candidates.append(trace.traced()) }
    return candidates.compactMap { state in
      var state = state
      placeUnlocated(in: &state)
      state.motions = motions(in: problem, at: state)
      return Minimizer.fromAfar.mode(problem, from: state)
    }.max { $0.logEvidence < $1.logEvidence }
  }

  /// Searches for the peers of which the filter had no idea.
  private func placeUnlocated(in state: inout SmoothingState) {
    for peer in starts.indices where starts[peer] == nil && problem.movingSlots[peer] == nil {
      let search = PlaceSearch(problem, peer: peer, path: state)
      if let place = search?.places(from: []).first { state.peers[peer] = place.parameters }
    }
  }

  /// Where moving peers start: where the filter had them at the time.
  private func motions(in problem: SmoothingProblem, at state: SmoothingState) -> [Kinematics] {
    var motions = Array(
      repeating: Kinematics(position: problem.priorCenter),
      count: problem.knots.count * problem.movingCount)
    for (peer, slot) in problem.movingSlots.enumerated() {
      guard let slot else { continue }
      var last = filterTracks[peer].indices.lazy.compactMap { knot in
        fixed(filterTracks[peer][knot], knot, state)
      }.first
      for knot in problem.knots.indices {
        if let here = fixed(filterTracks[peer][knot], knot, state) { last = here }
        if let last { motions[knot * problem.movingCount + slot].position = last }
      }
    }
    return motions
  }

  /// A place in the odometry's world at a knot, in the fixed world.
  private func fixed(_ position: Vector3?, _ knot: Int, _ state: SmoothingState) -> Vector3? {
    position.map {
      state.devices[knot].place
        + YawTurn(state.devices[knot].yawRadians).act($0 - problem.knots[knot].place)
    }
  }

  private mutating func relearn(_ best: inout SmoothingSolution) {
    var learned = best.problem
    learner.measure(&learned, at: best.state, learnsShares: true)
    var state = best.state
    learnErrorSizes(of: &learned, from: &state)
    if let next = Minimizer.fromNearby.mode(learned, from: state) { best = next }
  }

  /// Makes the errors of ranges that last unknown, where they can be.
  ///
  /// Whether a peer moves is decided before: an error by place is meant for a peer at rest.
  private mutating func estimateRangeErrors(_ best: inout SmoothingSolution) {
    guard estimatesRangeErrors, best.problem.mayHaveRangeErrors else { return }
    best.problem.errorSizes = RangeErrorSizes()
    for _ in 0..<Self.noiseRounds { relearn(&best) }
  }

  /// Learns how large the errors of ranges are, if they are unknown.
  ///
  /// Steps of the fixed point from the last sizes until these settle. The first ones are large.
  private func learnErrorSizes(of problem: inout SmoothingProblem, from state: inout SmoothingState)
  {
    guard var sizes = problem.errorSizes else { return }
    let layout = problem.layout
    var unknowns = state.unknowns(layout)
    var (workspace, none) = (ChainWorkspace(), [Double]())
    var found = ChainProblem.Innovations()
    for _ in 0..<RangeErrorSizes.learningRounds {
      problem.errorSizes = sizes
      let chain = problem.chain()
      let result = chain.fit(
        &unknowns, iterations: Self.learningSteps, tolerance: Self.learningTolerance,
        covariance: &none, workspace: &workspace)
      guard result.cost.isFinite,
        chain.findInnovations(&found, at: unknowns, workspace: &workspace)
      else { return }
      let former = sizes
      sizes.learn(found, at: unknowns, of: chain) { _ in false }
      problem.errorSizes = sizes
      if sizes.isNear(former) { break }
    }
    state = SmoothingState(
      unknowns, layout, knots: problem.knots.count, peers: problem.peerCount)
  }

  // MARK: Moving or not

  /// For each peer of unknown motion: lets it move, and keeps that when it is more probable.
  private mutating func decideMotion(_ best: inout SmoothingSolution) {
    for peer in undecided {
      var moving = best.problem
      var isMoving = moving.movingSlots.map { $0 != nil }
      isMoving[peer] = true
      moving.setMoving(isMoving)
      var state = best.state
      state.motions = motions(in: moving, at: state)
      for (other, slot) in best.problem.movingSlots.enumerated() {
        guard let slot, let place = moving.movingSlots[other] else { continue }
        for knot in moving.knots.indices {
          state.motions[knot * moving.movingCount + place] =
            best.state.motions[knot * best.problem.movingCount + slot]
        }
      }
      if let other = Minimizer.fromAfar.mode(moving, from: state),
        other.logEvidence + problem.logPriorOddsOfMotion > best.logEvidence
      {
        best = other
        problem = moving
      }
    }
  }

  // MARK: Rivals

  /// Tries each peer at the other places that its samples allow.
  private func searchRivals(
    _ best: inout SmoothingSolution
  ) -> (kept: [(peer: Int, solution: SmoothingSolution)], hasWinner: Bool) {
    var found: [(peer: Int, solution: SmoothingSolution)] = []
    var hasWinner = false
    for peer in 0..<best.problem.peerCount where best.problem.movingSlots[peer] == nil {
      var known = [Self.ellipse(of: peer, best)]
      for start in otherPlaces(of: peer, than: best) {
        guard !known.contains(where: { $0.contains(start.position) }) else { continue }
        var state = best.state
        state.peers[peer] = start
        guard let other = Minimizer.fromNearby.mode(best.problem, from: state),
          !known.contains(where: { $0.contains(other.state.peers[peer].position) })
        else { continue }
        known.append(Self.ellipse(of: peer, other))
        if other.logEvidence > best.logEvidence {
          found.append((peer, best))
          best = other
          hasWinner = true
        } else {
          found.append((peer, other))
        }
      }
    }
    let kept = found.filter { $0.solution.logEvidence > best.logEvidence - Self.rivalNats }
    return (kept, hasWinner)
  }

  /// The other places that explain a peer's samples, the path of the best mode taken as known.
  private func otherPlaces(of peer: Int, than best: SmoothingSolution) -> [PeerParameters] {
    let here = best.state.peers[peer].position
    guard let search = PlaceSearch(best.problem, peer: peer, path: best.state) else { return [] }
    let ideas = alternatives[peer].compactMap { idea in
      starts[peer].flatMap { fixed(idea, $0.knot, best.state) }
    }
    let places = search.places(from: [here] + ideas)
    guard let most = places.first?.logEvidence else { return [] }
    return places.filter { $0.logEvidence > most - Self.conditionalNats }
      .prefix(Self.mostRivals).map(\.parameters)
  }

  /// The region in which two fits count as one mode.
  private struct Ellipse {
    var center: Vector3
    var information: SymmetricMatrix3

    /// Within so many sigmas, and this many metres.
    private static let sigmas = 2.0
    private static let metres = 0.05

    func contains(_ position: Vector3) -> Bool {
      let away = position - center
      return away.length < Self.metres
        || information.quadraticForm(away) < Self.sigmas * Self.sigmas
    }
  }

  private static func ellipse(of peer: Int, _ solution: SmoothingSolution) -> Ellipse {
    let marginals = Marginals(solution, atAllKnots: false)
    let end = solution.problem.knots.count - 1
    let covariance = marginals.position(ofPeer: peer, knot: end, secondsSinceKnot: 0).covariance
    return Ellipse(
      center: solution.state.peers[peer].position,
      information: covariance.positiveDefiniteInverse ?? .zero)
  }
}
