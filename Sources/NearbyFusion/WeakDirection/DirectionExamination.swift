// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The examination of a peer's place along its weak directions: the joint fit is repeated with the place
/// held elsewhere.
///
/// The place is tried at its mirror images, beyond the plane of the walk or around its line; and the cost
/// is probed a few sigmas to either side. The variance is that of the profile likelihood through all these
/// (``ProfileLikelihood``).
struct DirectionExamination: Codable {
  /// The peer among the members of the fit.
  let member: Int
  /// The weak directions in the fixed world, the weakest first.
  let directions: [Vector3]
  /// A point of the walk's plane or line.
  let centre: Vector3

  /// What an examination finds.
  struct Finding {
    /// Another place that the data do not rule out, and the directions along which it is mirrored.
    var rival: (mode: JointPosterior.Mode, directions: [Vector3])?
    /// Whether another place is the better one: the solution has become that.
    var hasMoved = false
    /// By what factor the variance is too small, one at least; `nil` when the place has not passed.
    var widening: Double?
  }

  /// What there is at a mirror image.
  private enum Image {
    /// It is the place itself.
    case same
    /// No mode: the rise of the cost, in nats, with the peer held there.
    case shoulder(rise: Double)
    /// A mode that the data do not rule out.
    case rival(JointPosterior.Mode)
  }

  /// The threshold of the log-likelihood ratio, nats: e⁻⁶ is a quarter of a per cent.
  ///
  /// A mode within it of the best one is a rival. The tails of the profile likelihood must lie beyond it.
  private static let rivalNats = 6.0
  /// From a mirror image with so many nats more no rival is sought.
  ///
  /// Where the ground bends, a rival is decimetres from the image of the plane, where the cost is much
  /// higher than at the rival itself.
  private static let hopelessNats = 100.0
  /// The error of a mode's cost, in nats, that is allowed for while the cells of the other peers are not
  /// linearised anew.
  private static let frozenNats = 3.0
  /// Where the cost is probed, in sigmas; also far away, as a bent posterior is narrow at its top and flat
  /// beside it.
  private static let probes = [-2.0, 2, -3, 3, -5, 5]
  /// A probe at which the cost falls by more, in nats, shows that the fit has not ended at its minimum.
  private static let roundingNats = 0.1
  /// A place is not verified when a probe takes more iterations than this.
  private static let probeIterations = 10
  /// A step that lowers the cost by less, in nats, is the last; it is taken, and its gain counted.
  private static let tolerance = 0.02
  private static let probeTolerance = 0.2

  /// `nil` where the walk tells the place in all directions.
  ///
  /// - Parameters:
  ///   - member: The peer among the members of the fit.
  ///   - solution: The solution.
  ///   - isContested: Whether there is a rival. Then the direction in which the walk is narrowest is
  ///     examined however wide it is there.
  init?(of member: Int, in solution: JointSolution, isContested: Bool) {
    let shape = solution.problem.walkShape(of: member, at: solution.state)
    let weakDirections = shape.weakDirections
    guard !weakDirections.isEmpty || isContested else { return nil }
    directions = weakDirections.isEmpty ? [shape.axes[0].direction] : weakDirections
    self.member = member
    centre = shape.centre
  }

  /// Whether the member of a restored examination exists, and it has one direction or two.
  func isConsistent(memberCount: Int) -> Bool {
    (0..<memberCount).contains(member) && (1...2).contains(directions.count)
  }

  /// The sum of the variances along the weak directions, m².
  func variance(in solution: JointSolution) -> Double {
    solution.variance(of: member, along: directions)
  }

  /// Examines the place.
  ///
  /// - Parameters:
  ///   - solution: The solution; a mirror image takes its place where it is the better one.
  ///   - workspace: Memory of the fits.
  /// - Returns: What was found.
  func examine(_ solution: inout JointSolution, _ workspace: inout ChainWorkspace) -> Finding {
    var finding = Finding()
    var shoulders: [Shoulder] = []
    var isAlone = true
    solution.problem.freeze(except: member, at: solution.state, workspace: &workspace)
    for mirrors in mirrors {
      let before = solution.cost
      let image = image(mirrors, in: &solution, &workspace)
      if solution.cost < before {
        // What was found before is a rival of a place that is given up.
        finding.hasMoved = true
        finding.rival = nil
        solution.problem.freeze(except: member, at: solution.state, workspace: &workspace)
      }
      switch image {
      case .same: break
      case .shoulder(let rise):
        shoulders.append(Shoulder(mirrors: mirrors, rise: rise))
        // Of half a turn around a line there is no profile.
        if mirrors.count > 1, rise < Self.rivalNats { isAlone = false }
      case .rival(let mode):
        isAlone = false
        if mode.logWeight > finding.rival?.mode.logWeight ?? -.infinity {
          finding.rival = (mode, mirrors)
        }
      }
    }
    if isAlone, !finding.hasMoved { finding.widening = widening(solution, shoulders, &workspace) }
    return finding
  }

  /// A mirror image at which there is no other place.
  private struct Shoulder {
    var mirrors: [Vector3]
    var rise: Double
  }

  /// The directions to mirror: one, or both of a line, and both at once, which is half a turn around it.
  private var mirrors: [[Vector3]] {
    directions.map { [$0] } + (directions.count > 1 ? [directions] : [])
  }

  /// Looks for the peer at a mirror image.
  private func image(
    _ mirrors: [Vector3], in solution: inout JointSolution, _ workspace: inout ChainWorkspace
  ) -> Image {
    let place = solution.place(of: member)
    let way = mirrors.reduce(Vector3.zero) { $0 - (2 * $1.dot(place - centre)) * $1 }
    let length = way.length
    guard length > 0 else { return .same }
    let direction = way / length
    let variance = solution.variance(of: member, along: direction)
    guard length * length > 4 * variance else { return .same }
    var other = solution
    other.move(member, to: place + way)
    var none: [Double] = []
    let held = other.problem.fit(
      &other.state,
      held: ChainProblem.Hold(
        member: member, direction: direction, place: direction.dot(place + way)),
      live: member, iterations: Self.probeIterations, tolerance: Self.tolerance, covariance: &none,
      workspace: &workspace)
    let rise = held.cost - solution.cost
    guard rise < Self.hopelessNats else { return .shoulder(rise: rise) }
    let iterations = 2 * Self.probeIterations
    other.refit(live: member, iterations: iterations, tolerance: Self.tolerance, &workspace)
    // What is decided by a little is decided by a fit of everything.
    let rises = other.cost - solution.cost
    if rises < 0 || abs(rises - Self.rivalNats) < Self.frozenNats {
      other.refit(iterations: iterations, tolerance: Self.tolerance, &workspace)
    }
    let isElsewhere =
      abs(direction.dot(other.place(of: member) - place))
      > max(2 * variance.squareRoot(), 0.5 * length)
    guard other.cost < solution.cost + Self.rivalNats, isElsewhere else {
      return .shoulder(rise: rise)
    }
    if other.cost < solution.cost { swap(&other, &solution) }
    var mode = other.mode(of: member)
    mode.logWeight = solution.cost - other.cost
    return .rival(mode)
  }

  /// The variance of the profile likelihood over that of the fit.
  ///
  /// - Returns: One at least; `nil` when the cost does not rise far enough to either side.
  private func widening(
    _ solution: JointSolution, _ shoulders: [Shoulder], _ workspace: inout ChainWorkspace
  ) -> Double? {
    var widening = 1.0
    for direction in directions {
      var probe = Probe(of: member, along: direction, in: solution)
      var profile = ProfileLikelihood()
      for sigmas in Self.probes {
        guard let rise = rise(at: sigmas, &probe, in: solution, &workspace),
          rise > -Self.roundingNats
        else { return nil }
        profile.add(rise: rise, at: sigmas * probe.sigma)
      }
      // Before the shoulders: one far away does not make up for a cost that is flat beside the place.
      guard profile.outermostRise > Self.rivalNats else { return nil }
      for shoulder in shoulders where shoulder.mirrors == [direction] {
        let offset = -2 * direction.dot(solution.place(of: member) - centre)
        profile.add(rise: shoulder.rise, at: offset)
      }
      let (mean, variance) = profile.moments
      widening = max(widening, (variance + mean * mean) / (probe.sigma * probe.sigma))
    }
    return widening
  }

  /// By how much the cost rises where the place is held so many sigmas away, nats; `nil` when the fit has
  /// not converged.
  private func rise(
    at sigmas: Double, _ probe: inout Probe, in solution: JointSolution,
    _ workspace: inout ChainWorkspace
  ) -> Double? {
    var none: [Double] = []
    let metres = sigmas * probe.sigma
    var state = probe.start(at: metres, in: solution)
    let result = solution.problem.fit(
      &state,
      held: ChainProblem.Hold(
        member: member, direction: probe.direction, place: probe.place + metres),
      live: member, iterations: Self.probeIterations, tolerance: Self.probeTolerance,
      covariance: &none, workspace: &workspace)
    guard result.hasConverged else { return nil }
    probe.note(state, at: metres, in: solution)
    return result.cost - solution.cost
  }
}

/// Where the fits of a profile likelihood begin.
///
/// Performance: everything else follows the held place nearly in proportion. A fit that begins with what
/// the one before has found on the same side, in proportion, takes one or two steps in place of four.
private struct Probe {
  let member: Int
  let direction: Vector3
  /// The place along the direction where the cost is least, metres, and its sigma.
  let place: Double
  let sigma: Double
  /// What the state was changed by, per metre, by the newest fit on either side.
  private var responses: (below: [Double]?, above: [Double]?)

  init(of member: Int, along direction: Vector3, in solution: JointSolution) {
    self.member = member
    self.direction = direction
    place = direction.dot(solution.place(of: member))
    sigma = solution.variance(of: member, along: direction).squareRoot()
  }

  /// The state at which the fit with the place held so far away begins.
  func start(at metres: Double, in solution: JointSolution) -> [Double] {
    let response =
      metres < 0 ? responses.below ?? responses.above : responses.above ?? responses.below
    guard let response else { return solution.state }
    var state = solution.state
    for index in state.indices { state[index] += metres * response[index] }
    return state
  }

  /// Takes note of what the fit has found.
  mutating func note(_ state: [Double], at metres: Double, in solution: JointSolution) {
    var response = state
    for index in response.indices {
      response[index] = (state[index] - solution.state[index]) / metres
    }
    if metres < 0 { responses.below = response } else { responses.above = response }
  }
}
