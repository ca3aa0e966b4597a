// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// What a joint fit knows of the newest slip of the odometry.
struct SlipReview: Sendable, Codable {
  /// Since when it has lasted, and when the newest part of it was found; `nil` without one.
  private(set) var since: Timestamp?
  private(set) var foundAt: Timestamp?
  /// Until when it lasted at least, by what was known then.
  private var until: Timestamp?
  /// Where the device was when it was found, in the odometry's world.
  private(set) var device = Vector3.zero
  /// Whether the newest ranges of most peers contradict the newest fit.
  var isContradicted = false
  /// The log odds of the slip over each of its ``rivalCount`` neighbours.
  @Numbers var rivals: InlineArray<6, Double> = InlineArray(repeating: .infinity)
  /// How often one was compared.
  var compared = 0
  /// The newest fits with which the ranges agreed, ``calmSeconds`` apart.
  private var calm: [CalmFit] = []
  /// The one before the slip.
  private(set) var before: CalmFit?

  /// The time after the end of a slip in which it may continue, and after it was found in which others are compared with it, seconds.
  private static let slippingSeconds = 4.0
  private static let openSeconds = 40.0
  /// One that is less probable by so much is ruled out, nats.
  private static let decidedNats = 5.0
  /// How many others are compared with it.
  static let rivalCount = 6
  /// The fit before a slip is older than this, seconds: the newest has taken the beginning of the slip for something
  /// else.
  private static let calmSeconds = 4.0

  /// Whether a restored one can be worked on.
  var isConsistent: Bool {
    compared >= 0 && calm.count <= 2
      && calm.allSatisfy(\.isConsistent) && before?.isConsistent ?? true
  }

  /// Whether others may yet turn out to be right.
  func isOpen(at time: Timestamp) -> Bool {
    foundAt.map { time.seconds(since: $0) < Self.openSeconds } ?? false
  }

  /// Whether the slip may not have ended yet.
  func mayLast(at time: Timestamp) -> Bool {
    until.map { time.seconds(since: $0) < Self.slippingSeconds } ?? false
  }

  /// Whether the odometry may be slipping at a moment, or how far it has slipped is not decided.
  func isUndecided(at time: Timestamp) -> Bool {
    if isContradicted { return true }
    guard isOpen(at: time) else { return false }
    return mayLast(at: time)
      || rivals.indices.contains { rivals[$0] < Self.decidedNats }
  }

  /// Takes note that no slip is left to be compared with others.
  mutating func end() {
    for number in 0..<Self.rivalCount { rivals[number] = .infinity }
  }

  /// Whether it has been reported how far it was.
  var isMeasured = false

  /// Whether how far it has slipped is decided, and not reported yet.
  func isDecided(at time: Timestamp) -> Bool {
    !isMeasured && isOpen(at: time) && !isUndecided(at: time) && compared >= Self.rivalCount
  }

  /// Takes note of a slip, or of more of it.
  ///
  /// - Returns: Whether it is another one than before.
  mutating func note(
    since begin: Timestamp, until end: Timestamp, foundAt device: TrajectoryPoint
  ) -> Bool {
    let now = device.timestamp
    let continues = isOpen(at: now)
    if !continues { self.device = device.worldFromDevice.translation }
    since = continues ? min(since ?? begin, begin) : begin
    foundAt = now
    until = end
    for number in 0..<Self.rivalCount { rivals[number] = 0 }
    compared = 0
    isMeasured = false
    if !continues { before = calm.first }
    return !continues
  }

  /// The newest fit that a slip cannot have disturbed.
  func calmFit(at time: Timestamp) -> CalmFit? { isOpen(at: time) ? before : calm.first }

  /// Whether a fit at a moment is to be kept as one to go back to.
  func wantsFit(at time: Timestamp) -> Bool {
    !isContradicted && !isOpen(at: time)
      && calm.last.map { time.seconds(since: $0.time) >= Self.calmSeconds } ?? true
  }

  /// Keeps a fit with which the newest ranges agree.
  ///
  /// - Parameter write: Writes the fit.
  ///
  /// Performance: into the memory of the oldest one.
  mutating func addFit(_ write: (inout CalmFit) -> Void) {
    var fit = calm.count > 1 ? calm.removeFirst() : CalmFit()
    write(&fit)
    calm.append(fit)
  }
}

/// How far a slip may have displaced the device, and turned the odometry's world, in the fixed world.
struct SlipStart: Hashable, Sendable {
  var place: Vector3
  var turnRadians = 0.0
  /// By how much it lowers the robust cost of the ranges since then, nats.
  var gain = 0.0
}

/// A fit to go back to.
struct CalmFit: Sendable, Codable {
  /// The knots' times, the last being that of the fit.
  var times: [Timestamp] = []
  /// The corrections at the knots: place and yaw each.
  var corrections: [Double] = []
  var commonErrors: [Double] = []
  var constants: [Double] = []
  /// The peers, by their indices, and of each its unknowns in the border.
  var peers: [Int] = []
  var states: [Double] = []
  /// The place errors of the first peer at all knots, then those of the next.
  var placeErrors: [Double] = []

  var time: Timestamp { times[times.count - 1] }

  /// Whether it has as many numbers as knots and peers.
  var isConsistent: Bool {
    !times.isEmpty && corrections.count == ChainLayout.driftSize * times.count
      && commonErrors.count == times.count && states.count == ChainLayout.peerSize * peers.count
      && placeErrors.count == times.count * peers.count
  }

  /// Copies the state of a solution.
  ///
  /// - Parameters:
  ///   - solution: The solution.
  ///   - knots: Its knots but the last, which is the device at its time.
  ///   - members: The indices of its peers.
  mutating func write(
    _ solution: JointSolution, knots: some Collection<TrajectoryPoint>,
    peers members: some Collection<Int>
  ) {
    let layout = solution.problem.layout
    let (block, state, count) = (layout.blockSize, solution.state, solution.problem.knotCount)
    times.removeAll(keepingCapacity: true)
    times.append(contentsOf: knots.lazy.map(\.timestamp))
    times.append(solution.device.timestamp)
    corrections.removeAll(keepingCapacity: true)
    commonErrors.removeAll(keepingCapacity: true)
    for knot in 0..<count {
      corrections.append(contentsOf: state[block * knot..<block * knot + ChainLayout.driftSize])
      commonErrors.append(state[block * knot + layout.commonError])
    }
    let border = block * count
    constants.removeAll(keepingCapacity: true)
    constants.append(contentsOf: state[border..<border + layout.constantCount])
    peers.removeAll(keepingCapacity: true)
    peers.append(contentsOf: members)
    states.removeAll(keepingCapacity: true)
    states.append(contentsOf: state[(border + layout.constantCount)...])
    placeErrors.removeAll(keepingCapacity: true)
    for member in peers.indices {
      for knot in 0..<count {
        placeErrors.append(state[block * knot + layout.placeError(member)])
      }
    }
  }
}
