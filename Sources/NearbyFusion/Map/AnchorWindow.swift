// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The newest ranges to anchors of known places, and where the device is by them.
///
/// Found from many starts, so that a mirror image (anchors in one plane) is found as well: as long as two
/// places explain the ranges about as well, there is no answer.
struct AnchorWindow: Sendable, Codable {
  /// The anchors' places in the site, metres.
  let anchors: [Vector3]
  /// The constant errors of their ranges.
  private let errors: [AnchorError]

  private(set) var observations: [AnchorObservation] = []
  private var lastKept: [Timestamp?]
  /// The last solution, if there was only one.
  private var previous: Previous?

  /// A solution, and the device then.
  private struct Previous: Codable {
    var solution: AnchorSolution
    var device: TrajectoryPoint
  }

  /// Ranges are kept for so long, and no more than so many, seconds.
  private static let windowSeconds = 60.0
  private static let windowCount = 400
  /// The least seconds between two ranges to one anchor; those in between are left out.
  private static let interval = 0.2
  /// A place under which the ranges are less likely by this factor is no rival, in χ².
  static let rivalry = 2 * log(1000.0)
  /// Solutions nearer than this are one, metres.
  private static let sameWithin = 0.3
  /// A place must be known this well, metres, and a turn this well, radians.
  static let positionGate = 1.0
  static let turnGate = 15.0.degreesAsRadians

  /// Where the device is.
  struct Fix {
    var solution: AnchorSolution
    /// Whether its place is known, and whether also how the odometry's world is turned.
    var isKnown: Bool
    var isTurnKnown: Bool

    /// - Parameters:
    ///   - solution: The best solution.
    ///   - isAlone: Whether no other place explains what was measured about as well.
    init(_ solution: AnchorSolution, isAlone: Bool) {
      self.solution = solution
      isKnown = isAlone && solution.positionCovariance.trace.squareRoot() <= positionGate
      isTurnKnown = isKnown && solution.turnVariance.squareRoot() <= turnGate
    }
  }

  init(anchors: [Vector3], errors: [AnchorError]) {
    self.anchors = anchors
    self.errors = errors
    lastKept = Array(repeating: nil, count: anchors.count)
  }

  /// Whether a restored window fits a number of anchors.
  func isConsistent(anchorCount: Int) -> Bool {
    anchors.count == anchorCount && errors.count == anchorCount && lastKept.count == anchorCount
      && observations.count <= Self.windowCount
      && observations.allSatisfy { anchors.indices.contains($0.anchor) }
  }

  /// Takes in a range.
  ///
  /// - Returns: Whether it is kept: not when it comes too soon after the anchor's last.
  mutating func add(
    _ distance: Double, to anchor: Int, sigma: Double, from device: TrajectoryPoint,
    antennaInDevice: Vector3
  ) -> Bool {
    let time = device.timestamp
    if let last = lastKept[anchor], time.seconds(since: last) < Self.interval { return false }
    lastKept[anchor] = time
    // Nothing that was measured in a world that is lost can be tied to this one.
    observations.removeAll {
      $0.device.world != device.world
        || time.seconds(since: $0.device.timestamp) > Self.windowSeconds
    }
    if observations.count >= Self.windowCount { observations.removeFirst() }
    observations.append(
      AnchorObservation(
        anchor: anchor, distance: distance, variance: sigma * sigma, device: device,
        antennaInWorld: device.worldFromDevice.act(antennaInDevice)))
    return true
  }

  /// Where the device is.
  ///
  /// - Parameters:
  ///   - device: The newest point of the trajectory.
  ///   - configuration: How accurate ranges and odometry are.
  /// - Returns: The best place; `nil` without ranges in this world of the odometry's.
  mutating func locate(
    at device: TrajectoryPoint, _ configuration: FusionConfiguration
  ) -> Fix? {
    guard observations.last?.device.world == device.world else { return nil }
    let problem = AnchorProblem(
      observations, anchors: anchors, errors: errors, seenFrom: device,
      isPlanar: configuration.odometry.isPlanar)
    var solutions: [AnchorSolution] = []
    if let previous, previous.device.world == device.world {
      let start = previous.solution.moved(from: previous.device, to: device)
      if let solution = problem.solve(from: start), problem.explains(solution) {
        solutions = [solution]
      }
    }
    if solutions.isEmpty { solutions = distinct(problem.solveFromEverywhere()) }
    guard let best = solutions.first else { return nil }
    let fix = Fix(best, isAlone: solutions.count == 1 && problem.explains(best))
    previous = fix.isTurnKnown ? Previous(solution: best, device: device) : nil
    return fix
  }

  /// Where the device is if anchors are elsewhere.
  ///
  /// - Parameters:
  ///   - device: The newest point of the trajectory.
  ///   - configuration: How accurate ranges and odometry are.
  ///   - places: Where anchors are, by their number; the ranges to others are left out.
  ///   - near: A start beside those all round.
  ///   - isOnly: Whether it is the only one.
  /// - Returns: The best solution, and after it those that explain the ranges about as well.
  func solutions(
    at device: TrajectoryPoint, _ configuration: FusionConfiguration,
    anchors places: [Int: Vector3], near: AnchorSolution? = nil, isOnly: Bool = false
  ) -> [AnchorSolution] {
    let chosen = observations.filter {
      $0.device.world == device.world && places[$0.anchor] != nil
    }
    var thinning = AnchorThinning(
      chosen.count, toAtMost: Self.mostSearched, anchors: anchors.count)
    let problem = AnchorProblem(
      chosen.filter { thinning.chooses($0.anchor) },
      anchors: anchors.indices.map { places[$0] ?? anchors[$0] }, errors: errors,
      seenFrom: device, isPlanar: configuration.odometry.isPlanar)
    let nearest = near.flatMap(problem.solve(from:))
    if isOnly, let nearest { return [nearest] }
    let sorted = (problem.solveFromEverywhere() + (nearest.map { [$0] } ?? []))
      .sorted { $0.cost < $1.cost }
    var kept: [AnchorSolution] = []
    for solution in sorted
    where kept.count < Self.mostSolutions && solution.cost < sorted[0].cost + 2 * Self.rivalry
      && kept.allSatisfy({ ($0.position - solution.position).length > Self.sameWithin })
    { kept.append(solution) }
    return kept
  }

  /// The largest number of solutions that are returned: ranges to two anchors have several mirror images.
  private static let mostSolutions = 6

  /// The largest number of ranges of such a search; more are thinned by anchor (``AnchorThinning``).
  private static let mostSearched = 100

  /// The best solution first, and after it those that explain the ranges about as well elsewhere.
  private func distinct(_ solutions: [AnchorSolution]) -> [AnchorSolution] {
    let sorted = solutions.sorted { $0.cost < $1.cost }
    guard let best = sorted.first else { return [] }
    let rival = sorted.first {
      $0.cost < best.cost + Self.rivalry && ($0.position - best.position).length > Self.sameWithin
    }
    return rival.map { [best, $0] } ?? [best]
  }
}
