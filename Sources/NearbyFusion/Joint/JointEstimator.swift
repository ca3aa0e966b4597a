// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Peers at rest and the odometry's drift, fitted together.
///
/// All peers share one odometry, so what one peer's samples say about its drift they say to all. The
/// device's corrections at some knots on its path, and each peer's place, range bias and range scale,
/// are the unknowns of one least-squares problem (``ChainProblem``). It is solved again every few steps
/// of a walk, all samples linearised at one place; filters carry the result to the present in between.
/// When there are too many knots the oldest are marginalised.
struct JointEstimator: Sendable, Codable {
  var knots: [TrajectoryPoint] = []
  /// The corrections at the knots, as the last fit has them: place and yaw each.
  var corrections: [Double] = []
  /// The error that all ranges share at the knots, as the last fit has it.
  var commonErrors: [Double] = []
  /// The constants of the device, as the last fit has them.
  var constants: [Double]
  var layout: ChainLayout
  var sizes = RangeErrorSizes()
  /// The slip of the odometry, if there is one, from each knot to the next.
  var slips: [OdometrySlip?] = []
  var slipReview = SlipReview()
  /// Whether the error that all ranges share steps between a knot and the next.
  var rangeSteps: [Bool] = []
  /// The peers that have been found to have moved by the fit that is made.
  var departed: [Int] = []
  /// What the newest fit has found out of slips; taken by ``takeSlipEvent()``.
  var slipEvent: SampleEvent?
  /// When it was last fitted, and how many cells there were.
  private var fittedAt: Timestamp?
  private var fittedCells = 0
  private var fitCount = 0
  var members: [Member] = []
  private var prior = MarginalPrior(holding: .zero)
  /// The cells of each peer, by its index, in the order of time.
  var records: [Record] = []
  private var cellCount = 0
  private var cellsSinceKnot = 0
  /// The path at the newest fit, metres.
  private var fittedPath = 0.0
  private var memory = Memory()
  /// What filters are to go on from after the newest fit, with the peers' indices.
  private(set) var proposals: [(peer: Int, posterior: JointPosterior)] = []
  /// The device's correction at the newest fit; `nil` before.
  private(set) var correction: DeviceCorrection?
  /// Whether the fixed world is the frame of the map that was given: the device has been located in it.
  private(set) var isInMap = false
  /// The peers of the newest fit.
  private var fitted: [Fitted] = []
  /// The peers that have been taken out of the fit since then.
  private var removed: [Int] = []
  /// The examinations that are due since the newest fit, the most urgent last.
  private var pending: [DirectionExamination] = []

  /// All but ``proposals``, which are written over before they are read again.
  private enum CodingKeys: CodingKey {
    case knots, corrections, commonErrors, constants, layout, sizes, slips, slipReview, rangeSteps,
      fittedAt,
      fittedCells, fitCount, members, prior, records,
      cellCount
    case cellsSinceKnot, fittedPath, memory, correction, isInMap, fitted, removed, pending
  }

  /// What a map says of a peer of the newest fit, beside its place.
  private struct Fitted: Sendable, Codable {
    let peer: Int
    /// Whether it was found, and needs no verification along a weak direction or passed it.
    let isDecided: Bool
    /// The weak directions, and by what factor its variance along them is too small.
    let weakDirections: [Vector3]
    let widening: Double
  }

  /// A peer in the fit.
  struct Member: Sendable, Codable {
    let peer: Int
    var birth: Timestamp
    /// Place in the fixed world, range bias and range scale.
    @Numbers var state: InlineArray<5, Double>
    /// The error of its ranges that depends on the place, at the knots.
    var placeErrors: [Double]
    /// Whether nothing has been marginalised since it is a member.
    var hasFreshErrors = true
    var check = DirectionCheck()
    /// Whether it has not been fitted yet.
    var isNew = true
    /// The rival that the newest examination has found.
    var rival: Rival?
    /// What may be claimed along the directions that the walk does not tell.
    var claim = WeakDirectionClaim.resolved
    /// The directions along which it was examined, in the fixed world.
    var weakDirections: [Vector3] = []
    /// Whether its prior is that of the map.
    var isKnown = false
  }

  /// A place that the data do not rule out beside a member's.
  struct Rival: Sendable, Codable {
    /// The logarithm of its share over the member's.
    var logWeight: Double
    /// How far it is from the member's.
    @Numbers var offset: InlineArray<5, Double>
    /// The directions along which it is mirrored, in the odometry's world.
    var directions: [Vector3]
  }

  /// Memory that is kept from fit to fit.
  ///
  /// Performance: a fit allocates nothing unless there is more to be fitted than ever before.
  struct Memory: Sendable, Codable {
    var workspace = ChainWorkspace()
    /// What the filters say of the peers, by their indices; `nil` of those that do not take part.
    var candidates: [JointCandidate?] = []
    /// The drift between the knots.
    var steps: [OdometryDrift] = []
    /// The innovations of the newest fit.
    var innovations = ChainProblem.Innovations()
    /// The newest solution: the next is written over it.
    var solution: JointSolution?
    /// The state from which the newest fit has begun.
    var start: [Double] = []
    /// The problem of the knots that were marginalised last, and the state at which it was.
    var older: ChainProblem?
    var olderState: [Double] = []
    /// The prior before the last marginalisation: the next one is written over it.
    var marginal = MarginalPrior()

    /// All else is written over before it is read.
    private enum CodingKeys: CodingKey { case solution }
  }

  /// What has been measured of a peer since its track began.
  struct Record: Sendable, Codable {
    var birth: Timestamp?
    /// When another track began in the place of a member's; `nil` once it has been decided whether the peer
    /// has moved, or the odometry has slipped.
    var rebirth: Timestamp?
    var cells: [JointCell] = []
    /// Whether it was a member, and made room for another.
    var isDismissed = false
  }

  /// A new knot where drift since the last one exceeds this share of the radio's sigma, in metres and
  /// in radians, and ``RangeErrorSizes/leastKnotSpacing`` from it at least.
  private static let driftShare = 0.25
  /// With so many knots, and with so many when there are many members, the oldest third is marginalised.
  private static let mostKnots = 96
  private static let mostKnotsOfMany = 48
  private static let many = 12
  private static let mostMembers = RangeErrorSizes.mostPeers
  /// The walk without a sample, metres, after which a member may be dismissed.
  private static let absentWalk = 20.0
  /// The same with so many cells; a knot has no more than these.
  private static let mostCells = 8000
  private static let mostCellsOfKnot = 400
  /// A sample belongs to one of so many newest cells of its peer.
  private static let openCells = 3
  private static let leastCells = 6
  /// A fit is due after so much of a walk: metres, and as a share of all that is fitted.
  private static let leastWalk = 0.1
  private static let walkShare = 0.04
  /// A step that lowers the cost by less, in nats, is the last.
  static let tolerance = 0.02
  static let coarseTolerance = 0.2
  static let mostIterations = 8
  /// By what factors the noise of a new member is widened at first.
  private static let widenings = [100.0, 9]
  /// A member with fewer inliers than this has not been found.
  static let leastInlierShare = 0.5
  /// The prior sigma of a peer's place, as a multiple of the longest range, and its least value, metres.
  private static let priorReach = 3.0
  private static let leastPriorSigma = 20.0
  /// Heights in a planar world are held to this, m².
  private static let heldVariance = 1e-8

  /// Makes one that has seen nothing.
  init(_ odometry: OdometryConfiguration) {
    layout = Self.layout(odometry, members: 0)
    constants = [Double](repeating: 0, count: layout.constantCount)
  }

  /// Where the unknowns stand.
  ///
  /// An odometry without drift is the truth.
  private static func layout(_ odometry: OdometryConfiguration, members: Int) -> ChainLayout {
    var constants: ChainLayout.Constants = [.rangeScale, .directionError]
    if odometry.positionDrift > 0 { constants.insert(.odometryErrors) }
    return ChainLayout(constants: constants, errorCount: 1 + members)
  }

  /// The same without the cells of the newest fit's problem, unless an examination is to work on them: the
  /// next fit fills it anew.
  var toBeSaved: JointEstimator {
    var joint = self
    if pending.isEmpty { joint.memory.solution?.problem.removeCells() }
    return joint
  }

  /// Whether a restored estimator fits the settings of a configuration and a number of peers.
  func isConsistent(with odometry: OdometryConfiguration, peerCount: Int) -> Bool {
    let peers = 0..<peerCount
    guard layout == Self.layout(odometry, members: members.count),
      constants.count == layout.constantCount, prior.isConsistent,
      corrections.count == ChainLayout.driftSize * knots.count,
      commonErrors.count == knots.count, slips.count == knots.count,
      rangeSteps.count == knots.count,
      slipReview.isConsistent,
      members.allSatisfy({ $0.placeErrors.count == knots.count }),
      knots.isEmpty
        ? members.isEmpty : prior.size == layout.peer(members.count, knots: 1),
      records.count <= peerCount, cellCount == records.reduce(0, { $0 + $1.cells.count }),
      Set(members.map(\.peer)).count == members.count,
      members.allSatisfy({ records.indices.contains($0.peer) }),
      members.allSatisfy({ $0.weakDirections.count <= 2 }),
      fitted.allSatisfy({ peers.contains($0.peer) }), removed.allSatisfy(peers.contains)
    else { return false }
    return isSolutionConsistent
  }

  /// Whether the newest solution is of this layout, and as large as what is asked of it.
  private var isSolutionConsistent: Bool {
    guard let solution = memory.solution else { return pending.isEmpty }
    guard solution.problem.layout.constants == layout.constants else { return false }
    // Else it is written over before it is read.
    guard !fitted.isEmpty || !pending.isEmpty else { return true }
    let count = solution.problem.memberCount
    guard solution.isLargeEnough, fitted.count <= count else { return false }
    return pending.isEmpty
      || solution.isComplete && members.count <= count
        && solution.problem.knotCount <= knots.count + 1
        && pending.allSatisfy { $0.isConsistent(memberCount: members.count) }
  }

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
    if knots.first?.world != device.world { restart(at: device, settings) }
    while records.count <= peer { records.append(Record()) }
    if records[peer].birth == birth {
      records[peer].rebirth = nil
    } else if members.contains(where: { $0.peer == peer && !$0.isKnown }) {
      records[peer].rebirth = birth
    } else {
      forget(peer, bornAt: birth)
    }
    guard members.contains(where: { $0.peer == peer }) || hasRoom(for: peer, at: device)
    else {
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
  private mutating func restart(at device: TrajectoryPoint, _ settings: Settings) {
    let place = device.worldFromDevice.translation
    knots = [device]
    corrections = [place.x, place.y, place.z, 0]
    commonErrors = [0]
    slips = [nil]
    rangeSteps = [false]
    slipReview = SlipReview()
    members = []
    layout = Self.layout(settings.configuration.odometry, members: 0)
    prior = MarginalPrior(holding: place)
    appendConstants()
    records = []
    cellCount = 0
    cellsSinceKnot = 0
    fittedPath = device.path
    correction = nil
    isInMap = false
    fitted = []
    pending = []
    removed = []
  }

  /// Adds the prior of the constants, and of the common error of ranges, which is zero at the first knot.
  private mutating func appendConstants() {
    prior.append(mean: [0], variances: [0])
    prior.appendUnknowns(layout.constantCount)
    for index in constants.indices { constants[index] = 0 }
  }

  /// Whether another peer may become a member.
  ///
  /// When there are too many, the one that was heard the longest walk ago is dismissed. What it has said of
  /// the drift before the oldest knot stays, and its filter goes on alone from the last fit. It is not taken
  /// in again, as the fit would know less of it than the filter.
  private mutating func hasRoom(for peer: Int, at device: TrajectoryPoint) -> Bool {
    if records[peer].isDismissed { return false }
    if members.count < Self.mostMembers { return true }
    let heard = members.map { member in
      member.isKnown || member.isNew
        ? .infinity : records[member.peer].cells.last?.device.path ?? -.infinity
    }
    guard let oldest = heard.indices.min(by: { heard[$0] < heard[$1] }),
      heard[oldest] < device.path - Self.absentWalk
    else { return false }
    let dismissed = members[oldest].peer
    cellCount -= records[dismissed].cells.count
    records[dismissed].cells = []
    records[dismissed].isDismissed = true
    remove(member: oldest)
    return true
  }

  /// Forgets what was measured of a peer: its track has begun anew.
  private mutating func forget(_ peer: Int, bornAt birth: Timestamp) {
    var record = Record(birth: birth)
    if records[peer].rebirth == birth {
      record.cells = records[peer].cells.filter { $0.device.timestamp >= birth }
    }
    cellCount += record.cells.count - records[peer].cells.count
    records[peer] = record
    if let member = members.firstIndex(where: { $0.peer == peer }), !members[member].isKnown {
      remove(member: member)
    }
  }

  /// Takes a member out of the fit; what it has said of all others stays.
  private mutating func remove(member: Int) {
    removed.append(members.remove(at: member).peer)
    prior.remove(member: member, layout)
    layout.errorCount -= 1
    pending = []
  }

  private mutating func addKnot(at device: TrajectoryPoint, _ settings: Settings) {
    guard let last = knots.last, device.timestamp > last.timestamp else { return }
    let ranging = settings.configuration.ranging
    var drift = OdometryDrift(from: last, to: device, isPlanar: false)
    drift.addSwing(of: device.worldFromDevice.translation - last.worldFromDevice.translation)
    let allowed = Self.driftShare * ranging.rangeSigma
    let allowedYaw = Self.driftShare * ranging.azimuthSigmaRadians
    let hasDrifted =
      drift.horizontal > allowed * allowed || drift.yaw > allowedYaw * allowedYaw
    let isFar = device.path - last.path >= RangeErrorSizes.leastKnotSpacing
    let isLater =
      device.path - last.path
      + RangeErrorSizes.metresPerSecond * device.timestamp.seconds(since: last.timestamp)
      > RangeErrorSizes.knotSpacing
    guard hasDrifted && isFar || isLater || cellsSinceKnot >= Self.mostCellsOfKnot else { return }
    append(device, correctedTo: extrapolated(to: device))
    cellsSinceKnot = 0
  }

  /// Adds a knot.
  private mutating func append(
    _ device: TrajectoryPoint, correctedTo correction: InlineArray<4, Double>
  ) {
    knots.append(device)
    for index in correction.indices { corrections.append(correction[index]) }
    commonErrors.append(commonErrors.last ?? 0)
    slips.append(nil)
    rangeSteps.append(false)
    for member in members.indices {
      members[member].placeErrors.append(members[member].placeErrors.last ?? 0)
    }
  }

  /// Takes the newest knot back.
  private mutating func removeNewestKnot() {
    knots.removeLast()
    corrections.removeLast(ChainLayout.driftSize)
    commonErrors.removeLast()
    slips.removeLast()
    rangeSteps.removeLast()
    for member in members.indices { members[member].placeErrors.removeLast() }
  }

  /// The correction at a device point after the last knot, if nothing has drifted since.
  private func extrapolated(to device: TrajectoryPoint) -> InlineArray<4, Double> {
    extrapolated(from: knots.count - 1, to: device)
  }

  private func extrapolated(from knot: Int, to device: TrajectoryPoint) -> InlineArray<4, Double> {
    let last = knots[knot]
    let first = ChainLayout.driftSize * knot
    let yaw = corrections[first + 3]
    let place =
      Vector3(corrections[first], corrections[first + 1], corrections[first + 2])
      + YawTurn(yaw).act(device.worldFromDevice.translation - last.worldFromDevice.translation)
    return [place.x, place.y, place.z, yaw]
  }

  // MARK: Maps

  /// The prior variances of the first knot's place and yaw in a map, m² and rad²: large, since only the
  /// samples locate the device there.
  private static let freePlaceVariance = 1e6
  private static let freeYawVariance = 10.0

  /// Makes a map's frame the fixed world, after the device has been located in it.
  ///
  /// The cells stay. The next fit linearises them anew, with the map as the prior of its peers.
  ///
  /// - Parameters:
  ///   - map: Peers of the map, ``mostMembers`` at most.
  ///   - indices: Their indices.
  ///   - mapFromWorld: How the odometry's world lies in the map at a device point: a turn about gravity
  ///     and a shift.
  ///   - device: The device point.
  ///   - settings: The settings.
  mutating func enter(
    _ map: PeerMap, peers indices: [Int], mapFromWorld: MapPlacement, at device: TrajectoryPoint,
    _ settings: Settings
  ) {
    guard let first = knots.first, first.world == device.world else { return }
    let isPlanar = settings.configuration.odometry.isPlanar
    let now = extrapolated(to: device)
    // The map's frame from the fixed world as it was.
    let turn = mapFromWorld.yawRadians - now[3]
    let here = Vector3(now[0], now[1], now[2])
    for knot in knots.indices {
      let first = ChainLayout.driftSize * knot
      let place = Vector3(corrections[first], corrections[first + 1], corrections[first + 2])
      let moved = mapFromWorld.place + YawTurn(turn).act(place - here)
      (corrections[first], corrections[first + 1], corrections[first + 2]) = (
        moved.x, moved.y, moved.z
      )
      corrections[first + 3] += turn
    }
    layout = Self.layout(settings.configuration.odometry, members: 0)
    prior = MarginalPrior()
    prior.append(
      mean: Array(corrections[..<ChainLayout.driftSize]),
      variances: [
        Self.freePlaceVariance, isPlanar ? Self.heldVariance : Self.freePlaceVariance,
        Self.freePlaceVariance, Self.freeYawVariance,
      ])
    appendConstants()
    for index in commonErrors.indices { commonErrors[index] = 0 }
    let known = map.prior
    prior.append(mean: known.mean, covariance: known.covariance)
    for _ in indices { insertPlaceError() }
    members = indices.enumerated().map { entry, peer in
      let size = ChainLayout.peerSize
      var member = Member(
        peer: peer, birth: device.timestamp,
        state: InlineArray { known.mean[size * entry + $0] },
        placeErrors: [Double](repeating: 0, count: knots.count))
      member.isKnown = true
      return member
    }
    while records.count <= indices.max() ?? 0 { records.append(Record()) }
    isInMap = true
    correction = nil
    fitted = []
    pending = []
    fittedPath = -.infinity
  }

  /// Makes room for the place error of one more member.
  private mutating func insertPlaceError() {
    prior.insertUnknown(at: layout.blockSize)
    layout.errorCount += 1
  }

  /// Whether there are knots before a device point, in its world.
  func canExamine(at device: TrajectoryPoint) -> Bool {
    knots.last.map { $0.world == device.world && device.timestamp > $0.timestamp } ?? false
  }

  /// The fit of a map to the samples, with its evidence by Laplace's approximation.
  ///
  /// The log evidence is `-cost - ½ ln |A| - ½ ln |P|`, with the information A of all unknowns and the map's
  /// covariance P.
  ///
  /// - Parameters:
  ///   - map: Peers of the map, ``mostKnownPeers`` at most.
  ///   - indices: Their indices.
  ///   - starts: Where peers of the map are looked for that may be elsewhere than it says, by their place in it.
  ///   - placement: How the odometry's world lies in the map at the device point, about.
  ///   - device: The device point.
  ///   - peers: The filters.
  ///   - settings: The settings.
  /// - Returns: The fit, and how the odometry's world lies in the map by it; `nil` where there is none.
  func mode(
    of map: PeerMap, peers indices: [Int], starts: [Int: Vector3] = [:],
    mapFromWorld placement: MapPlacement, at device: TrajectoryPoint, _ peers: [PeerFilter],
    _ settings: Settings
  ) -> (mode: SurveyMode, placement: MapPlacement)? {
    guard let last = knots.last, last.world == device.world, device.timestamp > last.timestamp
    else { return nil }
    var trial = self
    trial.memory = Memory()
    trial.enter(map, peers: indices, mapFromWorld: placement, at: device, settings)
    for (entry, place) in starts {
      for (axis, value) in [place.x, place.y, place.z].enumerated() {
        trial.members[entry].state[axis] = value
      }
    }
    return trial.fitMode(of: map, at: device, peers, settings)
  }

  private mutating func fitMode(
    of map: PeerMap, at device: TrajectoryPoint, _ peers: [PeerFilter], _ settings: Settings
  ) -> (mode: SurveyMode, placement: MapPlacement)? {
    var memory = Memory()
    var solution = JointSolution(
      problem: newProblem(settings), state: [], covariance: [], cost: 0, device: device)
    append(device, correctedTo: extrapolated(to: device))
    fill(&solution.problem, knots: knots.count, peers, settings, &memory.steps)
    start(&solution)
    startNewcomers(&solution.state, peers, settings, &memory)
    var none: [Double] = []
    _ = solution.problem.fit(
      &solution.state, iterations: Self.evidenceIterations, tolerance: Self.tolerance,
      covariance: &none, workspace: &memory.workspace)
    let inlierShares = memory.workspace.inlierShares
    guard
      let found = solution.problem.covariances(
        at: solution.state, includingKnots: false, workspace: &memory.workspace),
      let known = MarginalPrior.logDeterminant(map.prior.covariance, size: map.size)
    else { return nil }
    solution.covariance = found.dense
    let first = layout.blockSize * (knots.count - 1)
    let state = solution.state
    let placement = MapPlacement(
      place: Vector3(state[first], state[first + 1], state[first + 2]),
      yawRadians: state[first + 3])
    let mode = SurveyMode(
      logEvidence: -found.cost - 0.5 * (found.logDeterminant + known), device: placement.place,
      inlierShares: inlierShares,
      anchors: members.indices.map { (solution.place(of: $0), solution.covariance(of: $0)) })
    return (mode, placement)
  }

  private static let evidenceIterations = 20

  /// With more members the fit takes too long.
  static var mostKnownPeers: Int { mostMembers }
  /// The peers in the fit whose prior is the map's, by their indices.
  var knownPeers: [Int] { members.filter(\.isKnown).map(\.peer) }
  /// The peers in the fit, by their indices.
  var peers: [Int] { members.map(\.peer) }

  /// The members' places by the newest fit, with their joint covariance, but for members that await
  /// verification along a weak direction.
  ///
  /// - Parameter name: The name of a peer by its index.
  /// - Returns: The map and the indices of its peers; `nil` before a fit.
  func map(naming name: (Int) -> String) -> (map: PeerMap, peers: [Int])? {
    guard !fitted.isEmpty, let solution = memory.solution, correction != nil else { return nil }
    let size = solution.problem.denseCount
    let first = solution.state.count - size
    let start = solution.problem.layout.peer(0, knots: 1)
    let chosen = fitted.indices.filter { fitted[$0].isDecided }
    let rows = chosen.flatMap { member in
      (0..<ChainLayout.peerSize).map { start + ChainLayout.peerSize * member + $0 }
    }
    let peers = chosen.map { member in
      let own = first + start + ChainLayout.peerSize * member
      return PeerMap.Peer(
        name: name(fitted[member].peer),
        positionInWorld: Vector3(
          solution.state[own], solution.state[own + 1], solution.state[own + 2]),
        rangeBias: solution.state[own + 3], rangeScale: solution.state[own + 4])
    }
    var covariance = rows.flatMap { row in
      rows.map { solution.covariance[row * size + $0] }
    }
    for (entry, member) in chosen.enumerated() {
      for direction in fitted[member].weakDirections {
        Self.widen(
          &covariance, ofPeer: entry, along: direction, by: fitted[member].widening)
      }
    }
    return (PeerMap(peers: peers, covariance: covariance), chosen.map { fitted[$0].peer })
  }

  /// Makes the variance of a peer's place along a direction larger by a factor f, and what is correlated
  /// with it: `C + (f - 1) c cᵀ / v`, with `c = C n` and `v = nᵀ C n`.
  private static func widen(
    _ covariance: inout [Double], ofPeer entry: Int, along direction: Vector3, by factor: Double
  ) {
    let size = Int(Double(covariance.count).squareRoot().rounded())
    let first = ChainLayout.peerSize * entry
    let column = (0..<size).map { row in
      covariance[row * size + first] * direction.x
        + covariance[row * size + first + 1] * direction.y
        + covariance[row * size + first + 2] * direction.z
    }
    let variance =
      column[first] * direction.x + column[first + 1] * direction.y
      + column[first + 2] * direction.z
    guard factor > 1, variance > 0 else { return }
    for row in 0..<size {
      for other in 0..<size {
        covariance[row * size + other] += (factor - 1) * column[row] * column[other] / variance
      }
    }
  }

  // MARK: Fitting

  /// The newest fit; `nil` before.
  ///
  /// Given out for tests.
  var newestSolution: JointSolution? { memory.solution }

  /// Whether a fit is due as a sample comes.
  ///
  /// - Parameters:
  ///   - device: The device at the sample.
  ///   - isContradicted: Whether the peer's samples contradict its place.
  /// - Returns: Whether it is.
  func isDue(at device: TrajectoryPoint, isContradicted: Bool) -> Bool {
    guard let first = knots.first, let last = knots.last, first.world == device.world,
      device.timestamp > last.timestamp
    else { return false }
    if device.path - fittedPath >= max(Self.leastWalk, Self.walkShare * (device.path - first.path))
    {
      return true
    }
    // Where samples contradict what is known a fit is due at once. So it is where they differ though the device has
    // not moved: they make new cells.
    guard
      isContradicted || isSlipping(at: device.timestamp)
        || device.path - fittedPath < Self.leastWalk,
      cellCount - fittedCells >= max(2, members.count), let fittedAt
    else { return false }
    return device.timestamp.seconds(since: fittedAt) >= Self.leastSeconds
  }

  /// A fit without a walk is due after so long, seconds.
  private static let leastSeconds = 0.7

  /// Fits everything to all that has been seen: ``proposals`` are the posteriors that filters are to go
  /// on from.
  ///
  /// - Parameters:
  ///   - device: The device at the newest sample.
  ///   - peers: The filters.
  ///   - settings: The settings.
  mutating func fit(at device: TrajectoryPoint, _ peers: [PeerFilter], _ settings: Settings) {
    fittedPath = device.path
    fittedAt = device.timestamp
    fittedCells = cellCount
    proposals.removeAll(keepingCapacity: true)
    for peer in removed {
      // No examination will decide between the place and its rival: that is up to the filter.
      let nothing = JointPosterior(device: device, mode: nil, verdict: .unverified)
      proposals.append((peer, nothing))
    }
    removed.removeAll(keepingCapacity: true)
    // Performance: moved out, so that each array has one owner and is written to in place.
    var memory = Memory()
    swap(&memory, &self.memory)
    defer { swap(&memory, &self.memory) }
    admit(peers, at: device, &memory.candidates, settings)
    guard !members.isEmpty else { return }
    marginalizeIfFull(at: device, peers, &memory, settings)
    var solution =
      memory.solution.take()
      ?? JointSolution(
        problem: newProblem(settings), state: [], covariance: [], cost: 0, device: device)
    solution.device = device
    append(device, correctedTo: extrapolated(to: device))
    fill(&solution.problem, knots: knots.count, peers, settings, &memory.steps)
    start(&solution)
    startNewcomers(&solution.state, peers, settings, &memory)
    solution.problem.setFaultPriors(
      at: solution.state, settings.faults, workspace: &memory.workspace)
    let hasSlipped = findSlip(&solution, peers, settings, &memory)
    decideRebirths(solution, memory.candidates, &memory.workspace)
    if let knot = learnSizes(&solution, settings, &memory) {
      trySlip(after: knot, &solution, peers, settings, &memory)
    }
    if hasSlipped {
      cellsSinceKnot = 0
    } else {
      removeNewestKnot()
    }
    let result = solution.problem.fit(
      &solution.state, iterations: Self.mostIterations, tolerance: Self.tolerance,
      covariance: &solution.covariance, workspace: &memory.workspace)
    guard result.cost.isFinite else {
      restart(at: device, settings)
      return
    }
    solution.cost = result.cost
    // Before the examinations, whose fits write over the shares.
    let lost = members.indices.filter {
      memory.workspace.inlierShares[$0] < Self.leastInlierShare
        && !records[members[$0].peer].cells.isEmpty
        || departed.contains(members[$0].peer)
    }
    let rivals = examine(&solution, &memory.workspace, settings)
    noteCalm(solution)
    keep(solution, lost: lost)
    measureSlip(at: device)
    if lost.isEmpty {
      let explained = explainedDoubts(solution, memory.candidates, &memory.workspace)
      propose(solution, rivals, memory.candidates, explaining: explained)
    } else {
      expel(lost)
    }
    memory.solution = solution
  }

  func newProblem(_ settings: Settings) -> ChainProblem {
    ChainProblem(prior, layout, settings.faults, settings.configuration.ranging)
  }

  /// Finds how large the errors of ranges are.
  ///
  /// - Returns: The interval that most probably has a large slip of which nothing was known.
  private mutating func learnSizes(
    _ solution: inout JointSolution, _ settings: Settings, _ memory: inout Memory
  ) -> Int? {
    let isThorough = fitCount % Self.fitsPerSearch == 0
    fitCount += 1
    let rounds = isThorough ? RangeErrorSizes.learningRounds : 1
    if isThorough {
      memory.start.removeAll(keepingCapacity: true)
      memory.start.append(contentsOf: solution.state)
      sizes.wake()
    }
    // Performance: it has been fitted with the sizes as they are.
    var isFitted = !isThorough
    var suspect: Int?
    var hasSettled = false
    var none: [Double] = []
    for round in 0...rounds {
      setSizes(of: &solution.problem, settings)
      guard round < rounds, !hasSettled else { break }
      if !isFitted {
        _ = solution.problem.fit(
          &solution.state, iterations: Self.mostIterations, tolerance: Self.coarseTolerance,
          covariance: &none, workspace: &memory.workspace)
      }
      isFitted = false
      guard
        solution.problem.findInnovations(
          &memory.innovations, at: solution.state, workspace: &memory.workspace)
      else { return nil }
      let former = sizes
      sizes.learn(memory.innovations, at: solution.state, of: solution.problem) { rangeSteps[$0] }
      hasSettled = sizes.isNear(former)
      // First errors of the ranges may explain what they can.
      if hasSettled || round == rounds - 1 {
        suspect = judgeSlips(by: memory.innovations, &solution.problem, settings)
      }
    }
    if isThorough { keepBetterMinimum(&solution, &memory) }
    return suspect
  }

  /// Fits a solution from the state before the search, too, and keeps the minimum of the lower cost.
  ///
  /// With large errors of ranges the fit may go to a mirror image and stay there.
  private func keepBetterMinimum(_ solution: inout JointSolution, _ memory: inout Memory) {
    var none: [Double] = []
    let here = solution.problem.fit(
      &solution.state, iterations: Self.mostIterations, tolerance: Self.coarseTolerance,
      covariance: &none, workspace: &memory.workspace
    ).cost
    let there = solution.problem.fit(
      &memory.start, iterations: Self.mostIterations, tolerance: Self.coarseTolerance,
      covariance: &none, workspace: &memory.workspace
    ).cost
    if there < here { swap(&solution.state, &memory.start) }
  }

  /// Every sixth fit takes steps of the fixed point from large sizes until these settle; the others take one, from the
  /// last sizes.
  private static let fitsPerSearch = 6

  /// Makes the errors of a problem's ranges as large as they are.
  private func setSizes(of problem: inout ChainProblem, _ settings: Settings) {
    let (knots, sizes, rangeSteps) = (knots, sizes, rangeSteps)
    problem.setErrorSteps { index in
      let next = min(index + 1, knots.count - 1)
      return sizes.step(
        length: knots[next].path - knots[index].path,
        seconds: knots[next].timestamp.seconds(since: knots[index].timestamp),
        isBroken: rangeSteps[index])
    }
    sizes.findConstantVariances(
      &problem.constantVariances, layout.constants, settings.configuration.odometry,
      settings.configuration.ranging)
    problem.firstErrorVariances.removeAll(keepingCapacity: true)
    for member in members {
      problem.firstErrorVariances.append(member.hasFreshErrors ? sizes.place * sizes.place : 0)
    }
  }

  /// Begins from the last fit; makes room for the covariance.
  private func start(_ solution: inout JointSolution) {
    solution.state.removeAll(keepingCapacity: true)
    appendKnots(knots.indices, to: &solution.state)
    solution.state.append(contentsOf: constants)
    for member in members.indices {
      for index in 0..<ChainLayout.peerSize {
        solution.state.append(members[member].state[index])
      }
    }
    let size = solution.problem.denseCount * solution.problem.denseCount
    if solution.covariance.count != size {
      solution.covariance = [Double](repeating: 0, count: size)
    }
  }

  /// Appends the unknowns of knots.
  private func appendKnots(_ chosen: Range<Int>, to state: inout [Double]) {
    for knot in chosen {
      let first = ChainLayout.driftSize * knot
      state.append(contentsOf: corrections[first..<first + ChainLayout.driftSize])
      state.append(commonErrors[knot])
      for member in members.indices { state.append(members[member].placeErrors[knot]) }
    }
  }

  /// Lets members go that have not been found: their filters may find them elsewhere.
  private mutating func expel(_ lost: [Int]) {
    for index in lost.reversed() {
      let peer = members[index].peer
      if departed.contains(peer), let rebirth = records[peer].rebirth {
        forget(peer, bornAt: rebirth)
      } else {
        remove(member: index)
      }
    }
    departed.removeAll()
  }

  /// Takes in the peers of which the filters know enough, and notes what these say of all that take
  /// part.
  private mutating func admit(
    _ peers: [PeerFilter], at device: TrajectoryPoint, _ candidates: inout [JointCandidate?],
    _ settings: Settings
  ) {
    let now = extrapolated(to: device)
    let turn = YawTurn(now[3])
    candidates.removeAll(keepingCapacity: true)
    for peer in records.indices {
      candidates.append(nil)
      let known = members.firstIndex { $0.peer == peer }
      guard
        known != nil
          || members.count < Self.mostMembers && records[peer].cells.count >= Self.leastCells
      else { continue }
      candidates[peer] = peers[peer].jointCandidate
      guard let candidate = candidates[peer], candidate.birth == records[peer].birth else {
        continue
      }
      if let known {
        if members[known].isKnown {
          members[known].birth = candidate.birth
        } else if candidate.claim.isFromFlatWalk != members[known].claim.isFromFlatWalk {
          members[known].claim = candidate.claim
        }
        continue
      }
      guard candidate.isPlaced else { continue }
      let place =
        Vector3(now[0], now[1], now[2])
        + turn.act(candidate.place - device.worldFromDevice.translation)
      var member = Member(
        peer: peer, birth: candidate.birth, state: [place.x, place.y, place.z, 0, 0],
        placeErrors: [Double](repeating: 0, count: knots.count))
      member.claim = candidate.claim
      let reach = records[peer].cells.reduce(0) { max($0, $1.values.range.mean) }
      let sigma = max(Self.priorReach * reach, Self.leastPriorSigma)
      let ranging = settings.configuration.ranging
      let height = settings.configuration.odometry.isPlanar ? Self.heldVariance : sigma * sigma
      prior.append(
        mean: [now[0], settings.configuration.odometry.isPlanar ? place.y : now[1], now[2], 0, 0],
        variances: [
          sigma * sigma, height, sigma * sigma, ranging.rangeBiasSigma * ranging.rangeBiasSigma,
          RangeErrorSizes.peerScaleSigma * RangeErrorSizes.peerScaleSigma,
        ])
      insertPlaceError()
      members.append(member)
    }
  }

  /// Brings members that are new from where their filters have them to where the fit has them: at
  /// first with wide noise, which is narrowed to what it is (graduated non-convexity), as else a start
  /// that is a few sigmas off would take everything for outliers.
  private mutating func startNewcomers(
    _ state: inout [Double], _ peers: [PeerFilter], _ settings: Settings, _ memory: inout Memory
  ) {
    guard members.contains(where: \.isNew) else { return }
    var none: [Double] = []
    var problem = newProblem(settings)
    for widening in Self.widenings {
      fill(
        &problem, knots: knots.count, peers, settings, &memory.steps, wideningNew: widening)
      _ = problem.fit(
        &state, iterations: Self.mostIterations, tolerance: 1, covariance: &none,
        workspace: &memory.workspace)
    }
    for index in members.indices { members[index].isNew = false }
  }

  /// Fills a problem with the oldest knots and with the cells between them that are chosen.
  ///
  /// - Parameters:
  ///   - problem: The problem; what was in it is replaced.
  ///   - count: How many knots.
  ///   - peers: The filters.
  ///   - settings: The settings.
  ///   - steps: Becomes the drift between the knots.
  ///   - widening: By what factor the noise of new members is taken too large.
  ///   - isWidened: Of which cells it is taken too large, too.
  ///   - isIncluded: Which cells of a member are chosen.
  func fill(
    _ problem: inout ChainProblem, knots count: Int, _ peers: [PeerFilter], _ settings: Settings,
    _ steps: inout [OdometryDrift], wideningNew widening: Double = 1,
    widening isWidened: (JointCell) -> Bool = { _ in false },
    including isIncluded: (Member, JointCell) -> Bool = { _, _ in true }
  ) {
    problem.restart(prior, layout)
    steps.removeAll(keepingCapacity: true)
    let isPlanar = settings.configuration.odometry.isPlanar
    for index in 0..<count {
      let (knot, next) = (knots[index], knots[min(index + 1, count - 1)])
      let (a, b) = (knot.worldFromDevice.translation, next.worldFromDevice.translation)
      var step = OdometryDrift(from: knot, to: next, isPlanar: isPlanar)
      step.addSwing(of: b - a)
      if let slip = slips[index] { step.add(slip, isPlanar: isPlanar) }
      steps.append(step)
      problem.addKnot(
        at: a, step: b - a, horizontal: step.horizontal, vertical: step.vertical, yaw: step.yaw,
        seconds: next.timestamp.seconds(since: knot.timestamp))
    }
    setSizes(of: &problem, settings)
    problem.reserveCells(cellCount)
    let antenna = settings.configuration.ranging.antennaInDevice
    for (index, member) in members.enumerated() {
      let noise = peers[member.peer].noise
      var knot = 0
      for cell in records[member.peer].cells where isIncluded(member, cell) {
        while knot + 2 < count, knots[knot + 1].timestamp <= cell.device.timestamp {
          knot += 1
        }
        while knot > 0, knots[knot].timestamp > cell.device.timestamp { knot -= 1 }
        let (before, after) = (knots[knot], knots[knot + 1])
        let seconds = cell.device.timestamp.seconds(since: before.timestamp)
        let share =
          hasLargeSlip(after: knot)
          ? seconds / after.timestamp.seconds(since: before.timestamp)
          : cell.device.driftShare(from: before, to: after)
        let bridge = share * (1 - share)
        problem.addCell(
          ChainProblem.Cell(
            pose: AntennaPose(cell.device.worldFromDevice, antennaInDevice: antenna), knot: knot,
            share: share, seconds: seconds, peer: index, isObstructed: cell.isObstructed),
          cell.fitValues(
            noise, placeVariance: bridge * bridgeVariance(steps[knot], after: knot),
            yawVariance: slips[knot] == nil ? bridge * steps[knot].yaw : 0,
            placeErrors: (
              sizes.place * sizes.place,
              sizes.bridgeVariance(
                length: knots[min(knot + 1, count - 1)].path - knots[knot].path, share: share)
            ),
            widening: member.isNew || isWidened(cell) ? widening : 1, settings))
      }
    }
  }

  /// Makes room for more: the oldest third of the knots is marginalised.
  ///
  /// The cells of peers that are undecided are left out: they cannot be linearised at one place.
  private mutating func marginalizeIfFull(
    at device: TrajectoryPoint, _ peers: [PeerFilter], _ memory: inout Memory,
    _ settings: Settings
  ) {
    let mostKnots = members.count > Self.many ? Self.mostKnotsOfMany : Self.mostKnots
    // What is marginalised stays linearised as it is now.
    let isUncertain =
      slipReview.isOpen(at: device.timestamp)
    guard
      knots.count >= (isUncertain ? 2 : 1) * mostKnots
        || cellCount > Self.mostCells && knots.count > 3
    else { return }
    let kept = knots.count / 3
    let border = knots[kept].timestamp
    var problem = memory.older.take() ?? newProblem(settings)
    fill(
      &problem, knots: kept + 1, peers, settings, &memory.steps,
      including: { !$0.claim.isUndecided && $1.device.timestamp < border })
    memory.olderState.removeAll(keepingCapacity: true)
    appendKnots(0..<kept + 1, to: &memory.olderState)
    memory.olderState.append(contentsOf: constants)
    // Their priors stay apart, as they are learnt.
    problem.constantVariances = []
    for member in members {
      for index in member.state.indices { memory.olderState.append(member.state[index]) }
    }
    let isRegular = problem.marginalize(
      at: memory.olderState, into: &memory.marginal, workspace: &memory.workspace)
    // Performance: a problem that holds a prior would have it copied when it is written over.
    problem.restart(MarginalPrior(), layout)
    memory.older = problem
    guard isRegular else {
      restart(at: device, settings)
      return
    }
    memory.solution?.problem.restart(MarginalPrior(), layout)
    swap(&prior, &memory.marginal)
    knots.removeFirst(kept)
    corrections.removeFirst(ChainLayout.driftSize * kept)
    commonErrors.removeFirst(kept)
    slips.removeFirst(kept)
    rangeSteps.removeFirst(kept)
    for member in members.indices {
      members[member].placeErrors.removeFirst(kept)
      members[member].hasFreshErrors = false
    }
    for index in records.indices { records[index].cells.removeAll { $0.device.timestamp < border } }
    cellCount = records.reduce(0) { $0 + $1.cells.count }
  }

  /// Keeps a solution as the start of the next.
  ///
  /// - Parameters:
  ///   - solution: The solution.
  ///   - lost: The members that it has not found.
  private mutating func keep(_ solution: JointSolution, lost: [Int]) {
    let newest = solution.problem.knotCount - 1
    let block = solution.problem.layout.blockSize
    let fixed = block * newest
    let isKnot =
      newest < knots.count && knots[newest].timestamp == solution.device.timestamp
    let kept = isKnot ? newest + 1 : newest
    for knot in 0..<kept {
      let first = block * knot
      for index in 0..<ChainLayout.driftSize {
        corrections[ChainLayout.driftSize * knot + index] = solution.state[first + index]
      }
      commonErrors[knot] = solution.state[first + layout.commonError]
      for member in members.indices {
        members[member].placeErrors[knot] = solution.state[first + layout.placeError(member)]
      }
    }
    // Knots that have come since.
    for knot in kept..<knots.count {
      let correction = extrapolated(from: knot - 1, to: knots[knot])
      for index in correction.indices {
        corrections[ChainLayout.driftSize * knot + index] = correction[index]
      }
      commonErrors[knot] = solution.state[fixed + layout.commonError]
      for member in members.indices {
        members[member].placeErrors[knot] = solution.state[fixed + layout.placeError(member)]
      }
    }
    for index in constants.indices { constants[index] = solution.state[fixed + block + index] }
    for member in members.indices {
      let first = layout.peer(member, knots: solution.problem.knotCount)
      for index in 0..<ChainLayout.peerSize {
        members[member].state[index] = solution.state[first + index]
      }
    }
    fitted.removeAll(keepingCapacity: true)
    for (index, member) in members.enumerated() {
      fitted.append(
        Fitted(
          peer: member.peer, isDecided: !member.claim.isUndecided && !lost.contains(index),
          weakDirections: member.weakDirections, widening: member.check.widening))
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

  /// At most this number of peers are examined after one fit: one with it, the others one by one with the
  /// samples that follow.
  private static let mostExamined = 2
  /// Places that are less sure than this along their weak directions, as a share of the distance, need no
  /// examination: nothing is claimed of them.
  private static let examinedShare = 0.25

  /// Makes one of the examinations that are due since the newest fit.
  ///
  /// What it finds counts from the next fit on.
  ///
  /// Performance: so that no sample waits for all of them.
  mutating func examineNext() {
    guard let examination = pending.popLast() else { return }
    var memory = Memory()
    swap(&memory, &self.memory)
    defer { swap(&memory, &self.memory) }
    guard var solution = memory.solution.take() else { return }
    if examine(examination, &solution, &memory.workspace).hasMoved { keep(solution, lost: []) }
    memory.solution = solution
  }

  /// Examines the place that is most in need of it of those that are known from a flat walk alone, and notes
  /// which others are.
  ///
  /// - Parameters:
  ///   - solution: The solution; another place takes its place where it is the better one.
  ///   - workspace: Memory of the fits.
  ///   - settings: The settings.
  /// - Returns: The rivals of members by their indices.
  private mutating func examine(
    _ solution: inout JointSolution, _ workspace: inout ChainWorkspace, _ settings: Settings
  ) -> [Int: JointPosterior.Mode] {
    var rivals: [Int: JointPosterior.Mode] = [:]
    let path = solution.device.path
    let walk = path - (knots.first?.path ?? path)
    var due: [(examination: DirectionExamination, urgency: Double)] = []
    for member in members.indices {
      guard members[member].claim.isFromFlatWalk,
        let examination = DirectionExamination(
          of: member, in: solution, isContested: members[member].claim == .contested)
      else {
        members[member].weakDirections = []
        members[member].claim = members[member].claim.after(.examined(.verified))
        continue
      }
      members[member].weakDirections = examination.directions
      let urgency = urgency(of: examination, in: solution, at: path, walk: walk, settings)
      if urgency >= 1 { due.append((examination, urgency)) }
    }
    due.sort { $0.urgency > $1.urgency }
    pending = due.prefix(Self.mostExamined).map(\.examination).reversed()
    if let first = pending.popLast() {
      rivals[first.member] = examine(first, &solution, &workspace).rival?.mode
    }
    for member in members.indices where !members[member].weakDirections.isEmpty {
      let variance = solution.variance(of: member, along: members[member].weakDirections)
      let verdict = members[member].check.verdict(with: variance)
      members[member].claim = members[member].claim.after(.examined(verdict))
    }
    return rivals
  }

  /// How urgent an examination is: it is due from one on.
  private func urgency(
    of examination: DirectionExamination, in solution: JointSolution, at path: Double,
    walk: Double, _ settings: Settings
  ) -> Double {
    let member = members[examination.member]
    let variance = examination.variance(in: solution)
    let distance = records[member.peer].cells.last?.values.range.mean ?? 0
    let limit = max(
      Self.examinedShare * distance, 2 * settings.configuration.convergence.sigmaFloor)
    guard variance < limit * limit else { return 0 }
    return member.check.urgency(
      along: examination.directions[0], at: path, walk: walk, variance: variance)
  }

  /// Examines one place, and takes note of what is found.
  private mutating func examine(
    _ examination: DirectionExamination, _ solution: inout JointSolution,
    _ workspace: inout ChainWorkspace
  ) -> DirectionExamination.Finding {
    let member = examination.member
    let path = solution.device.path
    let variance = examination.variance(in: solution)
    let finding = examination.examine(&solution, &workspace)
    if finding.hasMoved {
      members[member].check.restart(at: path)
    } else {
      members[member].check.add(
        widening: finding.widening, rival: finding.rival?.mode.logWeight,
        along: examination.directions[0], at: path, variance: variance)
    }
    members[member].rival = finding.rival.map { rival in
      let mode = solution.mode(of: member)
      return Rival(
        logWeight: rival.mode.logWeight,
        offset: InlineArray { rival.mode.mean[$0] - mode.mean[$0] },
        directions: rival.directions.map(solution.inOdometry))
    }
    return finding
  }

  // MARK: Results

  /// Proposes the posteriors that are sounder than the filters'.
  private mutating func propose(
    _ solution: JointSolution, _ rivals: [Int: JointPosterior.Mode],
    _ candidates: [JointCandidate?], explaining explained: [Int]
  ) {
    let device = solution.device
    let isSound = device.path - (knots.first?.path ?? device.path) > FlatWalk.long
    // Performance: by index, as the members are written to.
    for index in members.indices {
      let member = members[index]
      guard let candidate = candidates[member.peer], candidate.birth == member.birth else {
        continue
      }
      var mode = solution.mode(of: index)
      let directions = member.weakDirections.map(solution.inOdometry)
      for direction in directions { mode.widen(along: direction, by: member.check.widening) }
      let verdict = member.claim.verdict
      var posterior = JointPosterior(device: device, mode: mode, verdict: verdict)
      var isTaken = false
      if member.claim.isFromFlatWalk {
        // Early on the filter still fits its window anew, and knows more of the radio's errors.
        isTaken = isSound
        let agrees = directions.allSatisfy { direction in
          let away = direction.dot(candidate.place - mode.position)
          return away * away < 4 * mode.positionCovariance.quadraticForm(direction)
        }
        if verdict == .verified, !isSound, !candidate.isSingle || !agrees {
          posterior.verdict = .unverified
        }
        if let rival = rivals[index] {
          posterior.rival = rival
        } else if let rival = member.rival {
          posterior.rival = mode.mirrored(
            along: rival.directions, by: rival.offset, logWeight: rival.logWeight)
        }
      } else if member.isKnown {
        isTaken = true
        posterior.verdict = .verified
      } else if candidate.isSingle {
        isTaken = true
      }
      if isSlipping(at: device.timestamp) { isTaken = true }
      posterior.explainsRanges = isTaken && explained.contains(index)
      posterior.isRelocated = isTaken && isSlipping(at: device.timestamp)
      if !isTaken { posterior.mode = nil }
      if isTaken || member.claim.isFromFlatWalk {
        proposals.append((member.peer, posterior))
      }
    }
  }
}

/// Where the device is in the world that does not drift, at one moment.
struct DeviceCorrection: Sendable, Codable {
  /// The device in the odometry's world.
  var device: TrajectoryPoint
  /// Its place in the fixed world.
  var place: Vector3
  /// The yaw by which vectors of the odometry's world are turned to those of the fixed one.
  var yawRadians: Double
  /// The covariance of place and yaw, column by column.
  @Numbers var covariance: InlineArray<16, Double>
}
