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
    var check = DirectionCheck()
    /// Whether it has not been fitted yet.
    var isNew = true
    /// The rival that the newest examination has found.
    var rival: Rival?
    /// Whether it must be verified along the directions that the walk does not tell.
    var isFromFlatWalk = false
    /// Whether it must be verified and has not been.
    var isUndecided = false
    /// The directions along which it was examined, in the fixed world.
    var weakDirections: [Vector3] = []
  }

  /// A place that the data do not rule out beside a member's.
  private struct Rival: Sendable {
    /// The logarithm of its share over the member's.
    var logWeight: Double
    /// How far it is from the member's.
    var offset: InlineArray<5, Double>
    /// The directions along which it is mirrored, in the odometry's world.
    var directions: [Vector3]
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
    guard members.count < Self.mostMembers || members.contains(where: { $0.peer == peer }) else {
      // Nothing is kept of peers for which there is no room.
      cellCount -= records[peer].cells.count
      records[peer].cells = []
      return
    }
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
    guard members.count > 1 || members.contains(where: \.isFromFlatWalk) else { return [] }
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
    var solution = JointSolution(
      problem: problem, state: state, covariance: covariance, cost: result.cost, device: device)
    let rivals = examine(&solution, settings)
    keep(solution)
    if result.inlierShares.contains(where: { $0 < Self.leastInlierShare }) {
      return expel(result.inlierShares)
    }
    return posteriors(solution, rivals, candidates)
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
        members[member].isFromFlatWalk = candidate.isFromFlatWalk
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
      member.isFromFlatWalk = candidate.isFromFlatWalk
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
  /// The cells of peers that are undecided are left out: they cannot be linearised at one place.
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
  private mutating func keep(_ solution: JointSolution) {
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

  // MARK: Weak directions

  /// At most this number of peers are examined after one fit.
  private static let mostExamined = 2
  /// Places that are less sure than this along their weak directions, as a share of the distance, need no
  /// examination: nothing is claimed of them.
  private static let examinedShare = 0.25

  /// Examines places that are known from a flat walk alone.
  ///
  /// - Parameters:
  ///   - solution: The solution; another place takes its place where it is the better one.
  ///   - settings: The settings.
  /// - Returns: The rivals of members by their indices.
  private mutating func examine(
    _ solution: inout JointSolution, _ settings: Settings
  ) -> [Int: JointPosterior.Mode] {
    var rivals: [Int: JointPosterior.Mode] = [:]
    let path = solution.device.path
    let walk = path - (knots.first?.path ?? path)
    var examined = 0
    for member in members.indices {
      guard members[member].isFromFlatWalk,
        let examination = DirectionExamination(of: member, in: solution)
      else {
        members[member].weakDirections = []
        members[member].isUndecided = false
        continue
      }
      members[member].weakDirections = examination.directions
      if examined < Self.mostExamined,
        isDue(examination, in: solution, at: path, walk: walk, settings)
      {
        examined += 1
        rivals[member] = examine(examination, &solution, at: path)
      }
      members[member].isUndecided =
        !members[member].check.isVerified(with: examination.variance(in: solution))
    }
    return rivals
  }

  private func isDue(
    _ examination: DirectionExamination, in solution: JointSolution, at path: Double, walk: Double,
    _ settings: Settings
  ) -> Bool {
    let member = members[examination.member]
    let variance = examination.variance(in: solution)
    let distance = records[member.peer].cells.last?.values.range.mean ?? 0
    let limit = max(
      Self.examinedShare * distance, 2 * settings.configuration.convergence.sigmaFloor)
    return variance < limit * limit
      && member.check.isDue(
        along: examination.directions[0], at: path, walk: walk, variance: variance)
  }

  /// Examines one place, and takes note of what is found.
  ///
  /// - Returns: The rival, if there is one.
  private mutating func examine(
    _ examination: DirectionExamination, _ solution: inout JointSolution, at path: Double
  ) -> JointPosterior.Mode? {
    let member = examination.member
    let variance = examination.variance(in: solution)
    let finding = examination.examine(&solution, &workspace)
    if finding.hasMoved {
      members[member].check.restart(at: path)
    } else {
      members[member].check.add(
        widening: finding.widening, along: examination.directions[0], at: path, variance: variance)
    }
    members[member].rival = finding.rival.map { rival in
      let mode = solution.mode(of: member)
      return Rival(
        logWeight: rival.mode.logWeight,
        offset: InlineArray { rival.mode.mean[$0] - mode.mean[$0] },
        directions: rival.directions.map(solution.inOdometry))
    }
    return finding.rival?.mode
  }

  // MARK: Results

  /// The posteriors that are sounder than the filters'.
  private func posteriors(
    _ solution: JointSolution, _ rivals: [Int: JointPosterior.Mode], _ candidates: [JointCandidate?]
  ) -> [(peer: Int, posterior: JointPosterior)] {
    let device = solution.device
    let isSound = device.path - (knots.first?.path ?? device.path) > Self.soundWalk
    var posteriors: [(peer: Int, posterior: JointPosterior)] = []
    for (index, member) in members.enumerated() {
      guard let candidate = candidates[member.peer], candidate.birth == member.birth else {
        continue
      }
      var mode = solution.mode(of: index)
      let directions = member.weakDirections.map(solution.inOdometry)
      for direction in directions { mode.widen(along: direction, by: member.check.widening) }
      let isVerified = member.isFromFlatWalk && !member.isUndecided
      var posterior = JointPosterior(device: device, modes: [mode], isVerified: isVerified)
      var isTaken = false
      if member.isFromFlatWalk {
        // Early on the filter still fits its window anew, and knows more of the radio's errors.
        isTaken = isSound
        let agrees = directions.allSatisfy { direction in
          let away = direction.dot(candidate.place - mode.position)
          return away * away < 4 * mode.positionCovariance.quadraticForm(direction)
        }
        posterior.isVerified = isVerified && (isSound || candidate.isSingle && agrees)
        if let rival = rivals[index] {
          posterior.modes.append(rival)
        } else if let rival = member.rival {
          posterior.modes.append(
            mode.mirrored(
              along: rival.directions, by: rival.offset, logWeight: rival.logWeight))
        }
      } else if members.count > 1, candidate.isSingle {
        let drift = OdometryDrift(from: candidate.device, to: device, isPlanar: false)
        let since = drift.covariance(
          for: candidate.place - candidate.device.worldFromDevice.translation)
        isTaken =
          mode.positionVariance < Self.acceptedVariance * (candidate.variance + since.trace)
      }
      if !isTaken { posterior.modes = [] }
      if isTaken || member.isFromFlatWalk { posteriors.append((member.peer, posterior)) }
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
