// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The comparison of a member's place by the joint fit with the place that its filter has.
///
/// A joint fit is local: it ends in the minimum of the cost near which it began. Where reflections describe
/// a false place there are two minima, and the filter may be in the other one. The cost is that of all
/// that was measured of all peers, so it tells which of the two explains the device's path, too.
struct PlaceComparison {
  /// The peer among the members of the fit.
  let member: Int
  /// The filter's place in the fixed world.
  let place: Vector3

  /// What a comparison finds.
  enum Finding {
    /// The fit's place explains the data better.
    case fit
    /// The filter's place does: the solution has become that.
    case filter
    /// The better one is the solution's, which was the filter's if `hasMoved`; the other one is not ruled out.
    case both(other: JointPosterior.Mode, hasMoved: Bool)
    /// The fit's place explains all data better, but not the newest, and those the filter's place explains.
    case contested
  }

  /// Places farther apart than this, in standard deviations and in metres, disagree.
  private static let disagreementSigmas = 4.0
  private static let disagreementMetres = 0.5
  /// The threshold of the log-likelihood ratio, nats, below which neither place is ruled out.
  private static let rivalNats = 6.0
  /// The number of newest ranges that a place must explain, and within how many standard deviations.
  private static let newestCount = 8
  private static let explainedSigmas = 3.0
  private static let iterations = 16
  private static let tolerance = 0.02

  /// `nil` where the two agree, or the filter has not found one place.
  ///
  /// - Parameters:
  ///   - member: The peer among the members of the fit.
  ///   - candidate: What its filter says.
  ///   - solution: The solution.
  init?(of member: Int, with candidate: JointCandidate, in solution: JointSolution) {
    guard candidate.isSingle, candidate.isPlaced,
      Self.disagree(solution.mode(of: member), candidate, at: solution.device)
    else { return nil }
    self.member = member
    place = solution.inFixedWorld(candidate.place)
  }

  /// Whether a place by the joint fit and that of a filter are farther apart than they may be by their covariances.
  ///
  /// - Parameters:
  ///   - mode: The place by the fit.
  ///   - candidate: What the filter says.
  ///   - device: The device as of the fit.
  /// - Returns: Whether they are.
  static func disagree(
    _ mode: JointPosterior.Mode, _ candidate: JointCandidate, at device: TrajectoryPoint
  ) -> Bool {
    let drift = OdometryDrift(from: candidate.device, to: device, isPlanar: false)
      .covariance(for: candidate.place - candidate.device.worldFromDevice.translation)
    return disagree(
      by: candidate.place - mode.position,
      with: mode.positionCovariance + candidate.covariance + drift)
  }

  /// Whether two places are farther apart than they may be by the covariance of their difference.
  static func disagree(by offset: Vector3, with covariance: SymmetricMatrix3) -> Bool {
    let distance = offset.length
    guard distance > disagreementMetres else { return false }
    return distance * distance
      > disagreementSigmas * disagreementSigmas * covariance.quadraticForm(offset / distance)
  }

  /// Compares the two.
  ///
  /// - Parameters:
  ///   - solution: The solution; becomes that with the peer at the filter's place if the cost is lower there.
  ///   - faults: How faults begin and last.
  ///   - workspace: Memory of the fits.
  /// - Returns: What was found.
  func compare(
    _ solution: inout JointSolution, _ faults: FaultModel,
    _ workspace: inout ChainWorkspace
  ) -> Finding {
    let former = solution.place(of: member)
    var other = solution
    other.move(member, to: place)
    let there = other.settle(
      faults, iterations: Self.iterations, tolerance: Self.tolerance, &workspace)
    let here = solution.settle(
      faults, iterations: Self.iterations, tolerance: Self.tolerance, &workspace)
    let isElsewhere =
      (other.place(of: member) - former).length > 0.5 * (place - former).length
    let rise = isElsewhere ? there - here : .infinity
    if rise < 0 { swap(&other, &solution) }
    if rise < -Self.rivalNats { return .filter }
    if rise < Self.rivalNats {
      var mode = other.mode(of: member)
      mode.logWeight = -abs(rise)
      return .both(other: mode, hasMoved: rise < 0)
    }
    return explainsNewest(solution) ? .fit : .contested
  }

  /// Whether a solution explains the newest ranges of the peer.
  private func explainsNewest(_ solution: JointSolution) -> Bool {
    solution.problem.explainedShareOfNewestRanges(
      Self.newestCount, of: member, within: Self.explainedSigmas, at: solution.state) >= 0.5
  }
}
