// SPDX-License-Identifier: Apache-2.0

/// Whether the height of a peer may be believed that is known from ranges and azimuths of a level walk
/// alone.
///
/// Such a height enters at second order: the posterior is bent, a peer has a mirror image beyond the
/// plane of the device, and the covariance of a fit says little. So the fit is repeated with the height
/// held elsewhere: a height is verified when several examinations in a row, each after more of a walk,
/// have found no rival at its mirror image and a cost that rises to either side as a Gaussian's does.
struct HeightCheck: Hashable, Sendable {
  /// How many examinations in a row it has passed.
  private var passes = 0
  /// The path at which it was last examined, metres.
  private var examinedPath: Double?
  /// The variance of the height when it was verified, m²; `nil` when it is not.
  private var verifiedVariance: Double?

  /// So many examinations in a row convince.
  private static let convincing = 4
  /// The walk between two examinations: metres, and as a share of all that is fitted.
  private static let leastWalk = 0.3
  private static let walkShare = 0.04
  /// The same after an examination that has not been passed.
  private static let walkShareAfterFailure = 0.08
  /// A height that has become so much surer, in variance, is examined again, and is not believed any more
  /// when it has become so much surer without that.
  private static let examinedSureness = 0.7
  private static let unverifiedSureness = 0.5

  /// Whether it may be believed with a variance, m².
  func isVerified(with variance: Double) -> Bool {
    verifiedVariance.map { variance > Self.unverifiedSureness * $0 } ?? false
  }

  /// Whether it is to be examined.
  ///
  /// - Parameters:
  ///   - path: The device's path so far, metres.
  ///   - walk: How much of it the fit is about, metres.
  ///   - variance: The variance of the height, m².
  /// - Returns: Whether it is.
  func isDue(at path: Double, walk: Double, variance: Double) -> Bool {
    if let verifiedVariance, variance > Self.examinedSureness * verifiedVariance { return false }
    guard let examinedPath else { return true }
    let share = passes > 0 ? Self.walkShare : Self.walkShareAfterFailure
    return path - examinedPath >= max(Self.leastWalk, share * walk)
  }

  /// By what factor the variance of the height is too small.
  private(set) var widening = 1.0

  /// Takes note of an examination.
  ///
  /// - Parameters:
  ///   - widening: By what factor the variance of the height is too small; `nil` when the height has not
  ///     passed.
  ///   - path: The device's path so far, metres.
  ///   - variance: The variance of the height, m².
  mutating func add(widening: Double?, at path: Double, variance: Double) {
    examinedPath = path
    self.widening = widening ?? 1
    passes = widening == nil ? 0 : passes + 1
    verifiedVariance = passes >= Self.convincing ? variance : nil
  }

  /// The place has changed sides: nothing that was found holds any more.
  mutating func restart(at path: Double) {
    self = HeightCheck()
    examinedPath = path
  }
}
