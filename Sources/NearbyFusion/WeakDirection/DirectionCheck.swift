// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Whether the place of a peer may be believed along the directions that the walk does not tell.
///
/// Along these the place enters at second order (``WalkShape``): the posterior is bent, the place has a
/// mirror image, and the covariance of a fit says little. So the fit is repeated with the place held
/// elsewhere (``DirectionExamination``). A place is verified when several examinations in a row, each
/// after more of a walk, have found no rival at its mirror image and a cost that rises to either side.
struct DirectionCheck: Hashable, Sendable, Codable {
  /// How many examinations in a row it has passed.
  private var passes = 0
  /// Whether the newest examination has found a probable rival, or the place to be one.
  private var isContested = false
  /// The path at which it was last examined, metres.
  private var examinedPath: Double?
  /// The weakest direction then.
  private var examinedDirection: Vector3?
  /// The variance along the weak directions when the place was verified, m²; `nil` when it is not.
  private var verifiedVariance: Double?
  /// By what factor that variance is too small.
  private(set) var widening = 1.0

  /// So many examinations in a row convince.
  private static let convincing = 3
  /// A rival contests a place with 1 % of the probability of the two, as that leaves no dominant mode
  /// (``ConvergenceConfiguration/dominantModeWeight``).
  private static let contestedNats = 4.6
  /// The walk between two examinations: metres, and as a share of all that is fitted.
  private static let leastWalk = 0.3
  private static let walkShare = 0.04
  /// The same once it is verified and has not become much surer.
  private static let walkShareOnceVerified = 0.15
  /// A place that has become so much surer, in variance, is examined again, and is not believed any more
  /// when it has become so much surer without that.
  private static let examinedSureness = 0.7
  private static let unverifiedSureness = 0.5
  /// Directions whose cosine is below this are not the same: what was found along one says nothing of
  /// the other.
  private static let sameDirection = 0.9

  /// What the examinations say of the place with a variance along the weak directions, m².
  func verdict(with variance: Double) -> WeakDirectionClaim.Verdict {
    if let verifiedVariance, variance > Self.unverifiedSureness * verifiedVariance {
      return .verified
    }
    return isContested ? .contested : .unverified
  }

  /// How urgent the next examination is: the walk since the last one over that after which it is due.
  ///
  /// - Parameters:
  ///   - direction: The weakest direction.
  ///   - path: The device's path so far, metres.
  ///   - walk: How much of it the fit is about, metres.
  ///   - variance: The variance along the weak directions, m².
  /// - Returns: One or more when it is due.
  func urgency(
    along direction: Vector3, at path: Double, walk: Double, variance: Double
  ) -> Double {
    guard let examinedPath, isSame(direction) else { return .infinity }
    let isSettled = verifiedVariance.map { variance > Self.examinedSureness * $0 } ?? false
    let share = isSettled ? Self.walkShareOnceVerified : Self.walkShare
    return (path - examinedPath) / max(Self.leastWalk, share * walk)
  }

  private func isSame(_ direction: Vector3) -> Bool {
    examinedDirection.map { abs($0.dot(direction)) > Self.sameDirection } ?? true
  }

  /// Takes note of an examination.
  ///
  /// - Parameters:
  ///   - widening: By what factor the variance is too small; `nil` when the place has not passed.
  ///   - rival: The log-likelihood of another place that the data do not rule out, relative to that of
  ///     this one.
  ///   - direction: The weakest direction.
  ///   - path: The device's path so far, metres.
  ///   - variance: The variance along the weak directions, m².
  mutating func add(
    widening: Double?, rival: Double?, along direction: Vector3, at path: Double, variance: Double
  ) {
    if !isSame(direction) { self = DirectionCheck() }
    examinedPath = path
    examinedDirection = direction
    self.widening = widening ?? 1
    passes = widening == nil ? 0 : passes + 1
    verifiedVariance = passes >= Self.convincing ? variance : nil
    isContested = rival.map { $0 > -Self.contestedNats } ?? false
  }

  /// The place has changed sides: nothing that was found holds any more, and where it was is a rival.
  mutating func restart(at path: Double) {
    self = DirectionCheck()
    examinedPath = path
    isContested = true
  }
}
