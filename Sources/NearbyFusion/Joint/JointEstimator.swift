// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Peers at rest and the odometry's drift, fitted together.
///
/// All peers share one odometry, so what one peer's samples say about its drift they say to all. The
/// device's corrections at some knots on its path, and each peer's place, range bias and range scale,
/// are the unknowns of one least-squares problem (``JointProblem``). It is solved again every few steps
/// of a walk, all samples linearised at one place; filters carry the result to the present in between.
/// When there are too many knots the oldest are marginalised.
struct JointEstimator: Sendable {
  private var knots: [TrajectoryPoint] = []
  /// The corrections at the knots, as the last fit has them: place and yaw each.
  private var corrections: [Double] = []
  private var members: [Member] = []
  private var anchor = JointAnchor(holding: .zero)
  /// The cells of each peer, by its index, in the order of time.
  private var records: [Record] = []
  private var cellCount = 0
  private var cellsSinceKnot = 0
  /// The path at the newest fit, metres.
  private var fittedPath = 0.0
  /// Performance: kept from fit to fit.
  private var workspace: [Double] = []
  /// The device's correction at the newest fit; `nil` before.
  private(set) var correction: DeviceCorrection?

  /// A peer in the fit.
  private struct Member: Sendable {
    let peer: Int
    let birth: Timestamp
    /// Place in the fixed world, range bias and range scale.
    var state: [Double]
    var check = HeightCheck()
    /// Whether it has not been fitted yet.
    var isNew = true
    /// The rival that the newest examination has found: the logarithm of its share over the member's, and
    /// how far it is from it.
    var rival: (logWeight: Double, offset: InlineArray<5, Double>)?
    /// Whether its height must be verified.
    var isLevel = false
    /// Whether its height must be verified and has not been.
    var isUndecided = false
  }

  /// What has been measured of a peer since its track began.
  private struct Record: Sendable {
    var birth: Timestamp?
    var cells: [JointCell] = []
  }

  /// A new knot where drift since the last one exceeds this share of the radio's sigma, in metres and
  /// in radians, and so many metres from it at least.
  private static let driftShare = 0.25
  private static let leastSpacing = 0.3
  /// With so many knots, and with so many when there are many members, the oldest third is marginalised.
  private static let mostKnots = 96
  private static let mostKnotsOfMany = 48
  private static let many = 12
  private static let mostMembers = 24
  /// The same with so many cells; a knot has no more than these.
  private static let mostCells = 8000
  private static let mostCellsOfKnot = 400
  /// A sample belongs to one of so many newest cells of its peer.
  private static let openCells = 3
  private static let leastCells = 6
  /// A fit is due after so much of a walk: metres, and as a share of all that is fitted, with several
  /// peers and with one.
  private static let leastWalk = 0.1
  private static let walkShare = 0.02
  private static let walkShareAlone = 0.04
  /// A step that lowers the cost by less, in nats, is the last.
  private static let tolerance = 0.02
  private static let mostIterations = 8
  /// By what factors the noise of a new member is widened at first.
  private static let widenings = [100.0, 9]
  /// A member with fewer inliers than this has not been found.
  private static let leastInlierShare = 0.5
  /// Peers are sought within so many times the longest range, and this at least, metres.
  private static let priorReach = 3.0
  private static let leastPriorSigma = 20.0
  /// Steps are never taken for surer than this: 10 µm and 10 µrad.
  private static let leastVariance = 1e-10
  /// Heights in a planar world are held to this, m².
  private static let heldVariance = 1e-8
  /// A filter goes on from the fit unless that is so much less sure, in variance: where a device comes back
  /// to places, the fit knows that errors come back with them, and the filter does not.
  private static let acceptedVariance = 4.0
  /// The fit takes over from a filter alone after such a walk, metres.
  private static let soundWalk = 10.0

  // MARK: Recording

  /// Takes a sample of a peer at rest in.
  ///
  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - peer: The peer's index.
  ///   - birth: When its track began.
  ///   - place: Where it is thought to be.
  ///   - device: Where the device was.
  ///   - isObstructed: Whether the radio itself calls the range obstructed.
  ///   - settings: The settings.
  mutating func record(
    _ measurements: Measurements, of peer: Int, bornAt birth: Timestamp, at place: Vector3,
    from device: TrajectoryPoint, isObstructed: Bool, _ settings: Settings
  ) {
    if knots.first?.world != device.world { restart(at: device) }
    while records.count <= peer { records.append(Record()) }
    if records[peer].birth != birth { forget(peer, bornAt: birth) }
    addKnot(at: device, settings)
    let cells = records[peer].cells.indices
    for index in cells.suffix(Self.openCells).reversed()
    where records[peer].cells[index].take(
      measurements, at: device, isObstructed: isObstructed, of: place)
    {
      return
    }
    var cell = JointCell(measurements, at: device, isObstructed: isObstructed, of: place)
    for index in cells { cell.meet(&records[peer].cells[index], settings.heightOffset) }
    records[peer].cells.append(cell)
    cellCount += 1
    cellsSinceKnot += 1
  }

  /// Begins anew in another world of the odometry's.
  private mutating func restart(at device: TrajectoryPoint) {
    let place = device.worldFromDevice.translation
    knots = [device]
    corrections = [place.x, place.y, place.z, 0]
    members = []
    anchor = JointAnchor(holding: place)
    records = []
    cellCount = 0
    cellsSinceKnot = 0
    fittedPath = device.path
    correction = nil
  }

  /// Forgets what was measured of a peer: its track has begun anew.
  private mutating func forget(_ peer: Int, bornAt birth: Timestamp) {
    cellCount -= records[peer].cells.count
    records[peer] = Record(birth: birth)
    if let member = members.firstIndex(where: { $0.peer == peer }) {
      members.remove(at: member)
      anchor.remove(member: member)
    }
  }

  private mutating func addKnot(at device: TrajectoryPoint, _ settings: Settings) {
    guard let last = knots.last, device.timestamp > last.timestamp else { return }
    let ranging = settings.configuration.ranging
    let step = (device.worldFromDevice.translation - last.worldFromDevice.translation).length
    let (place, yaw) = (
      device.positionDriftVariance - last.positionDriftVariance,
      device.yawDriftVariance - last.yawDriftVariance
    )
    let allowed = Self.driftShare * ranging.rangeSigma
    let allowedYaw = Self.driftShare * ranging.azimuthSigmaRadians
    let hasDrifted =
      place + yaw * step * step / 3 > allowed * allowed || yaw > allowedYaw * allowedYaw
    let isFar = device.path - last.path >= Self.leastSpacing
    guard hasDrifted && isFar || cellsSinceKnot >= Self.mostCellsOfKnot else { return }
    let correction = extrapolated(to: device)
    knots.append(device)
    corrections += correction
    cellsSinceKnot = 0
  }

  /// The correction at a device point after the last knot, if nothing has drifted since.
  private func extrapolated(to device: TrajectoryPoint) -> [Double] {
    let last = knots[knots.count - 1]
    let state = corrections.suffix(JointIndex.knotSize)
    let first = state.startIndex
    let yaw = state[first + 3]
    let place =
      Vector3(state[first], state[first + 1], state[first + 2])
      + YawTurn(yaw).act(device.worldFromDevice.translation - last.worldFromDevice.translation)
    return [place.x, place.y, place.z, yaw]
  }

  // MARK: Fitting

  /// Whether a fit is due as a sample comes.
  func isDue(at device: TrajectoryPoint) -> Bool {
    guard let first = knots.first, let last = knots.last, first.world == device.world,
      device.timestamp > last.timestamp
    else { return false }
    let share = records.count > 1 ? Self.walkShare : Self.walkShareAlone
    return device.path - fittedPath >= max(Self.leastWalk, share * (device.path - first.path))
  }

  /// Fits everything to all that has been seen.
  ///
  /// - Parameters:
  ///   - device: The device at the newest sample.
  ///   - peers: The filters.
  ///   - settings: The settings.
  /// - Returns: The posteriors that filters are to go on from, with the peers' indices.
  mutating func fit(
    at device: TrajectoryPoint, _ peers: [PeerFilter], _ settings: Settings
  ) -> [(peer: Int, posterior: JointPosterior)] {
    fittedPath = device.path
    let candidates = peers.indices.map { peers[$0].jointCandidate }
    admit(candidates, at: device, settings)
    guard members.count > 1 || members.contains(where: \.isLevel) else { return [] }
    marginalizeIfFull(at: device, peers, settings)
    let problem = problem(knots + [device], peers, settings)
    var state = corrections + extrapolated(to: device)
    for member in members { state += member.state }
    startNewcomers(&state, at: device, peers, settings)
    var covariance = [Double](repeating: 0, count: problem.denseCount * problem.denseCount)
    let result = problem.fit(
      &state, iterations: Self.mostIterations, tolerance: Self.tolerance,
      covariance: &covariance, workspace: &workspace)
    guard result.cost.isFinite else {
      restart(at: device)
      return []
    }
    var solution = Solution(
      problem: problem, state: state, covariance: covariance, cost: result.cost, device: device)
    let rivals = examine(&solution, settings)
    keep(solution)
    if result.inlierShares.contains(where: { $0 < Self.leastInlierShare }) {
      return expel(result.inlierShares)
    }
    return posteriors(solution, rivals, candidates)
  }

  /// A minimum of the joint problem.
  private struct Solution {
    let problem: JointProblem
    var state: [Double]
    var covariance: [Double]
    var cost: Double
    let device: TrajectoryPoint

    /// The last knot and the peers.
    var dense: ArraySlice<Double> {
      state[(JointIndex.knotSize * (problem.knotCount - 1))...]
    }
    func mode(of member: Int) -> JointPosterior.Mode {
      JointPosterior.Mode(
        of: member, in: dense, covariance, device: device.worldFromDevice.translation)
    }
    /// Where the height of a member stands in the state.
    func heightIndex(of member: Int) -> Int {
      JointIndex.peer(member, knots: problem.knotCount) + 1
    }
    /// The state with the height of a member moved, and the last knot and all peers with it as they are
    /// correlated.
    func shifted(heightOf member: Int, by metres: Double) -> [Double] {
      var shifted = state
      let first = state.count - problem.denseCount
      let height = JointIndex.peer(member, knots: 1) + 1
      let variance = heightVariance(of: member)
      for index in 0..<problem.denseCount {
        shifted[first + index] +=
          metres * covariance[height * problem.denseCount + index] / variance
      }
      return shifted
    }
    func heightVariance(of member: Int) -> Double {
      let index = JointIndex.peer(member, knots: 1) + 1
      return covariance[index * problem.denseCount + index]
    }
  }

  /// Lets members go that have not been found: their filters may find them elsewhere.
  private mutating func expel(
    _ inlierShares: [Double]
  ) -> [(peer: Int, posterior: JointPosterior)] {
    for index in members.indices.reversed() where inlierShares[index] < Self.leastInlierShare {
      members.remove(at: index)
      anchor.remove(member: index)
    }
    return []
  }

  /// Takes in the peers of which the filters know enough.
  private mutating func admit(
    _ candidates: [JointCandidate?], at device: TrajectoryPoint, _ settings: Settings
  ) {
    let now = extrapolated(to: device)
    let turn = YawTurn(now[3])
    for (peer, record) in records.enumerated() {
      guard peer < candidates.count, let candidate = candidates[peer],
        candidate.birth == record.birth
      else { continue }
      if let member = members.firstIndex(where: { $0.peer == peer }) {
        members[member].isLevel = candidate.isLevel
        continue
      }
      guard candidate.isPlaced, members.count < Self.mostMembers,
        record.cells.count >= Self.leastCells
      else { continue }
      let place =
        Vector3(now[0], now[1], now[2])
        + turn.act(candidate.place - device.worldFromDevice.translation)
      var member = Member(
        peer: peer, birth: candidate.birth, state: [place.x, place.y, place.z, 0, 0])
      member.isLevel = candidate.isLevel
      let reach = record.cells.reduce(0) { max($0, $1.values.range.mean) }
      let sigma = max(Self.priorReach * reach, Self.leastPriorSigma)
      let ranging = settings.configuration.ranging
      let height = settings.configuration.odometry.isPlanar ? Self.heldVariance : sigma * sigma
      anchor.append(
        mean: [now[0], settings.configuration.odometry.isPlanar ? place.y : now[1], now[2], 0, 0],
        variances: [
          sigma * sigma, height, sigma * sigma, ranging.rangeBiasSigma * ranging.rangeBiasSigma,
          ranging.rangeScaleSigma * ranging.rangeScaleSigma,
        ])
      members.append(member)
    }
  }

  /// Brings members that are new from where their filters have them to where the fit has them: at
  /// first with wide noise, which is narrowed to what it is (graduated non-convexity), as else a start
  /// that is a few sigmas off would take everything for outliers.
  private mutating func startNewcomers(
    _ state: inout [Double], at device: TrajectoryPoint, _ peers: [PeerFilter],
    _ settings: Settings
  ) {
    guard members.contains(where: \.isNew) else { return }
    var none: [Double] = []
    for widening in Self.widenings {
      let problem = problem(knots + [device], peers, settings, wideningNew: widening)
      _ = problem.fit(
        &state, iterations: Self.mostIterations, tolerance: 1, covariance: &none,
        workspace: &workspace)
    }
    for index in members.indices { members[index].isNew = false }
  }

  /// The problem of some knots and of the cells between them that are chosen.
  private func problem(
    _ knots: [TrajectoryPoint], _ peers: [PeerFilter], _ settings: Settings,
    wideningNew widening: Double = 1,
    including isIncluded: (Member, JointCell) -> Bool = { _, _ in true }
  ) -> JointProblem {
    var problem = JointProblem(anchor, settings)
    let isPlanar = settings.configuration.odometry.isPlanar
    var steps: [OdometryDrift] = []
    for (knot, next) in zip(knots, knots.dropFirst() + [knots[knots.count - 1]]) {
      let (a, b) = (knot.worldFromDevice.translation, next.worldFromDevice.translation)
      var step = OdometryDrift(from: knot, to: next, isPlanar: isPlanar)
      // Yaw that drifts on the way swings the end of the step.
      step.horizontal += step.yaw * (b - a).dot(b - a) / 3
      steps.append(step)
      problem.addKnot(
        at: a, horizontal: max(step.horizontal, Self.leastVariance),
        vertical: max(step.vertical, Self.leastVariance), yaw: max(step.yaw, Self.leastVariance))
    }
    problem.reserveCells(cellCount)
    let antenna = settings.configuration.ranging.antennaInDevice
    for (index, member) in members.enumerated() {
      let noise = peers[member.peer].noise
      var knot = 0
      for cell in records[member.peer].cells where isIncluded(member, cell) {
        while knot + 2 < knots.count, knots[knot + 1].timestamp <= cell.device.timestamp {
          knot += 1
        }
        while knot > 0, knots[knot].timestamp > cell.device.timestamp { knot -= 1 }
        let share = Self.share(of: cell.device, from: knots[knot], to: knots[knot + 1])
        let bridge = share * (1 - share)
        problem.addCell(
          from: AntennaPose(cell.device.worldFromDevice, antennaInDevice: antenna), knot: knot,
          share: share, member: index, isObstructed: cell.isObstructed,
          cell.fitValues(
            noise, placeVariance: bridge * steps[knot].horizontal,
            yawVariance: bridge * steps[knot].yaw, widening: member.isNew ? widening : 1, settings))
      }
    }
    return problem
  }

  /// How much of the drift between two knots lies before a device point.
  private static func share(
    of device: TrajectoryPoint, from a: TrajectoryPoint, to b: TrajectoryPoint
  ) -> Double {
    func drift(_ point: TrajectoryPoint) -> Double {
      point.positionDriftVariance + point.yawDriftVariance
    }
    let all = drift(b) - drift(a)
    return all > 0 ? min(max((drift(device) - drift(a)) / all, 0), 1) : 0
  }

  /// Makes room for more: the oldest third of the knots is marginalised.
  ///
  /// The cells of peers whose height is undecided are left out: they cannot be linearised at one place.
  private mutating func marginalizeIfFull(
    at device: TrajectoryPoint, _ peers: [PeerFilter], _ settings: Settings
  ) {
    let mostKnots = members.count > Self.many ? Self.mostKnotsOfMany : Self.mostKnots
    guard knots.count >= mostKnots || cellCount > Self.mostCells && knots.count > 3 else { return }
    let kept = knots.count / 3
    let border = knots[kept].timestamp
    let problem = problem(Array(knots[...kept]), peers, settings) { member, cell in
      !member.isUndecided && cell.device.timestamp < border
    }
    var state = Array(corrections[..<(JointIndex.knotSize * (kept + 1))])
    for member in members { state += member.state }
    guard let marginal = problem.marginalized(at: state, workspace: &workspace) else {
      restart(at: device)
      return
    }
    anchor = marginal
    knots.removeFirst(kept)
    corrections.removeFirst(JointIndex.knotSize * kept)
    for index in records.indices { records[index].cells.removeAll { $0.device.timestamp < border } }
    cellCount = records.reduce(0) { $0 + $1.cells.count }
  }

  /// Keeps a solution as the start of the next.
  private mutating func keep(_ solution: Solution) {
    let fixed = JointIndex.knotSize * knots.count
    corrections = Array(solution.state[..<fixed])
    for index in members.indices {
      let first = JointIndex.peer(index, knots: solution.problem.knotCount)
      members[index].state = Array(solution.state[first..<first + JointIndex.peerSize])
    }
    correction = DeviceCorrection(
      device: solution.device,
      place: Vector3(
        solution.state[fixed], solution.state[fixed + 1], solution.state[fixed + 2]),
      yawRadians: solution.state[fixed + 3],
      covariance: InlineArray { element in
        solution.covariance[element / 4 * solution.problem.denseCount + element % 4]
      })
  }

  // MARK: Heights

  /// A rival within so many nats may be the right one.
  private static let rivalNats = 9.0
  /// Where the cost is probed, in sigmas of the height, and the shares of a Gaussian's rise by which it
  /// must have risen there.
  private static let probes = [-3.0, -2, 2, 3]
  private static let riseOfGaussian = 0.4...10
  /// So many iterations are enough for a probe, and so many peers are examined at a time.
  private static let probeIterations = 10
  private static let mostExamined = 2
  /// Heights that are less sure than this, as a share of the distance, need no examination: nothing is
  /// claimed of them.
  private static let examinedShare = 0.25

  /// Examines heights that are known from a level walk alone.
  ///
  /// - Parameters:
  ///   - solution: The solution; another place takes its place where it is the better one.
  ///   - settings: The settings.
  /// - Returns: The rivals of members by their indices.
  private mutating func examine(
    _ solution: inout Solution, _ settings: Settings
  ) -> [Int: JointPosterior.Mode] {
    var rivals: [Int: JointPosterior.Mode] = [:]
    let path = solution.device.path
    let walk = path - (knots.first?.path ?? path)
    var examined = 0
    for member in members.indices where members[member].isLevel && examined < Self.mostExamined {
      let variance = solution.heightVariance(of: member)
      let distance = records[members[member].peer].cells.last?.values.range.mean ?? 0
      let limit = max(
        Self.examinedShare * distance, 2 * settings.configuration.convergence.sigmaFloor)
      guard variance < limit * limit,
        members[member].check.isDue(at: path, walk: walk, variance: variance)
      else { continue }
      examined += 1
      let before = solution.cost
      let image = mirrorImage(of: member, in: &solution)
      var widening: Double?
      if solution.cost < before {
        members[member].check.restart(at: path)
      } else {
        if case .ruledOut = image { widening = heightWidening(member, solution) }
        members[member].check.add(widening: widening, at: path, variance: variance)
      }
      let rival: JointPosterior.Mode? = if case .rival(let mode) = image { mode } else { nil }
      rivals[member] = rival
      members[member].rival = rival.map { rival in
        let mode = solution.mode(of: member)
        return (rival.logWeight, InlineArray { rival.mean[$0] - mode.mean[$0] })
      }
    }
    for member in members.indices {
      members[member].isUndecided =
        members[member].isLevel
        && !members[member].check.isVerified(with: solution.heightVariance(of: member))
    }
    return rivals
  }

  /// What there is beyond the plane of the device.
  private enum MirrorImage {
    /// The data rule it out, or it is the place itself.
    case ruledOut
    /// They do not, and the places in between are possible too.
    case open
    /// Another place, which they do not rule out.
    case rival(JointPosterior.Mode)
  }

  /// Looks for a peer beyond the plane of the device.
  ///
  /// - Parameters:
  ///   - member: The peer.
  ///   - solution: The solution; becomes the one with the mirror image where that is the better one.
  /// - Returns: What there is.
  private mutating func mirrorImage(of member: Int, in solution: inout Solution) -> MirrorImage {
    let index = solution.heightIndex(of: member)
    let height = solution.state[index]
    let mirrored = 2 * meanAntennaHeight(of: member, in: solution) - height
    let variance = solution.heightVariance(of: member)
    let squaredSigmas = (mirrored - height) * (mirrored - height) / variance
    guard squaredSigmas > 4 else { return .ruledOut }
    var other = solution
    other.state[index] = mirrored
    var none: [Double] = []
    let held = other.problem.fit(
      &other.state, heldHeight: (member, mirrored), iterations: Self.probeIterations,
      tolerance: Self.tolerance, covariance: &none, workspace: &workspace)
    let rise = held.cost - solution.cost
    guard rise < 2 * Self.rivalNats else { return .ruledOut }
    other.cost =
      other.problem.fit(
        &other.state, iterations: 2 * Self.probeIterations, tolerance: Self.tolerance,
        covariance: &other.covariance, workspace: &workspace
      ).cost
    let isElsewhere =
      abs(other.state[index] - height)
      > max(2 * variance.squareRoot(), 0.5 * abs(mirrored - height))
    guard other.cost < solution.cost + Self.rivalNats, isElsewhere else {
      let expected = min(0.5 * squaredSigmas, 2 * Self.rivalNats)
      return rise > Self.riseOfGaussian.lowerBound * expected ? .ruledOut : .open
    }
    if other.cost < solution.cost { swap(&other, &solution) }
    var mode = other.mode(of: member)
    mode.logWeight = solution.cost - other.cost
    return .rival(mode)
  }

  private func meanAntennaHeight(of member: Int, in solution: Solution) -> Double {
    // The odometry's height is good enough for a start: drift along gravity is small.
    let cells = records[members[member].peer].cells
    let sum = cells.reduce(0) { $0 + $1.device.worldFromDevice.translation.y }
    let last = solution.device.worldFromDevice.translation.y
    let corrected = solution.state[JointIndex.knotSize * (solution.problem.knotCount - 1) + 1]
    return sum / Double(max(cells.count, 1)) + corrected - last
  }

  /// Whether the cost rises to either side of a height as a Gaussian's does.
  ///
  /// - Returns: By what factor the variance of the height is too small, one at least; `nil` when it is no
  ///   variance of a Gaussian at all.
  private mutating func heightWidening(_ member: Int, _ solution: Solution) -> Double? {
    var least = 1.0
    let index = solution.heightIndex(of: member)
    let sigma = solution.heightVariance(of: member).squareRoot()
    var none: [Double] = []
    for sigmas in Self.probes {
      var state = solution.shifted(heightOf: member, by: sigmas * sigma)
      let probe = solution.problem.fit(
        &state, heldHeight: (member, state[index]), iterations: Self.probeIterations,
        tolerance: Self.tolerance, covariance: &none, workspace: &workspace)
      let rise = (probe.cost - solution.cost) / (0.5 * sigmas * sigmas)
      guard probe.hasConverged, Self.riseOfGaussian.contains(rise) else { return nil }
      least = min(least, rise)
    }
    return 1 / least
  }

  // MARK: Results

  /// The posteriors that are sounder than the filters'.
  private func posteriors(
    _ solution: Solution, _ rivals: [Int: JointPosterior.Mode], _ candidates: [JointCandidate?]
  ) -> [(peer: Int, posterior: JointPosterior)] {
    let device = solution.device
    let isSound = device.path - (knots.first?.path ?? device.path) > Self.soundWalk
    var posteriors: [(peer: Int, posterior: JointPosterior)] = []
    for (index, member) in members.enumerated() {
      guard let candidate = candidates[member.peer], candidate.birth == member.birth else {
        continue
      }
      var mode = solution.mode(of: index)
      mode.widenHeight(by: member.check.widening)
      let isVerified = member.isLevel && !member.isUndecided
      var posterior = JointPosterior(device: device, modes: [mode], isVerified: isVerified)
      var isTaken = false
      if member.isLevel {
        // Early on the filter still fits its window anew, and knows more of the radio's errors.
        isTaken = isSound
        let away = candidate.place.y - mode.position.y
        posterior.isVerified =
          isVerified && (isSound || candidate.isSingle && away * away < 4 * mode.heightVariance)
        if let rival = rivals[index] {
          posterior.modes.append(rival)
        } else if let rival = member.rival {
          posterior.modes.append(mode.mirrored(by: rival.offset, logWeight: rival.logWeight))
        }
      } else if members.count > 1, candidate.isSingle {
        let drift = OdometryDrift(from: candidate.device, to: device, isPlanar: false)
        let since = drift.covariance(
          for: candidate.place - candidate.device.worldFromDevice.translation)
        isTaken =
          mode.positionVariance < Self.acceptedVariance * (candidate.variance + since.trace)
      }
      if !isTaken { posterior.modes = [] }
      if isTaken || member.isLevel { posteriors.append((member.peer, posterior)) }
    }
    return posteriors
  }
}

/// Where the device is in the world that does not drift, at one moment.
struct DeviceCorrection: Sendable {
  /// The device in the odometry's world.
  var device: TrajectoryPoint
  /// Its place in the fixed world.
  var place: Vector3
  /// The yaw by which vectors of the odometry's world are turned to those of the fixed one.
  var yawRadians: Double
  /// The covariance of place and yaw, column by column.
  var covariance: InlineArray<16, Double>
}
