// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// What has been measured of a peer at rest since its first track began, condensed: two places are
/// compared by how well each explains all of it.
///
/// A filter keeps only what follows from the samples for the place that it has. Where the ranges of a
/// part of the walk are those of a reflection, another place explains that part, and only the rest of
/// the walk tells which of the two is the peer's.
struct WalkHistory: Sendable, Codable {
  private(set) var window: ObservationWindow
  /// The path at which it began, and at which the next sample is taken in, metres.
  private let firstPath: Double
  private var nextPath: Double

  /// Samples are taken in this often: metres of the path, and a share of all of it, as the window holds
  /// no more of a longer walk.
  private static let spacing = 1.0
  private static let share = 0.03
  /// A range below the prediction by more than this is too short, metres; the largest share of such ranges
  /// that a place may have.
  private static let shortMetres = 0.8
  private static let shortShare = 0.08
  /// The prior of a place of which nothing else is known, one sigma, metres.
  private static let priorSigma = 10.0

  /// Begins with the window of the search that found the first place.
  init(_ window: ObservationWindow, at device: TrajectoryPoint) {
    self.window = window
    self.window.reserve()
    firstPath = device.path
    nextPath = device.path + Self.spacing
  }

  /// Whether a restored history is within its capacity.
  var isConsistent: Bool { window.isConsistent }

  /// Takes a sample in, if the device has walked on far enough.
  @inline(__always)
  mutating func add(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    place: Vector3
  ) -> Bool {
    guard device.path >= nextPath else { return false }
    record(measurements, at: device, noise, place: place)
    return true
  }

  /// Whether hardly any range was too short for a place.
  func explainsShortRanges(_ place: Vector3, now: TrajectoryPoint) -> Bool {
    let share = window.shareOfShortRanges(for: place, by: Self.shortMetres, now: now)
    return share <= Self.shortShare
  }

  @inline(never)
  private mutating func record(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    place: Vector3
  ) {
    nextPath = device.path + max(Self.spacing, Self.share * (device.path - firstPath))
    _ = window.add(
      measurements, at: device, noise: noise,
      expecting: ObservationWindow.Expectation(position: place, spread: 0.1))
  }

  /// The history until a time.
  func until(_ time: Timestamp) -> WalkHistory {
    var history = self
    history.window.removeAll(from: time)
    return history
  }

  /// The logarithm of the evidence of one place over that of another, given all that was measured.
  ///
  /// Both are fitted to the window from where they are, with the same model of faults: a range too long is an
  /// obstructed one, a range too short is hardly ever measured.
  ///
  /// - Parameters:
  ///   - place: The place, metres. Its prior is wide.
  ///   - other: The other one.
  ///   - covariance: The covariance of the other one's prior, m²; that of the first when `nil`.
  ///   - now: The device now.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  /// - Returns: The logarithm of the ratio, nats.
  func logEvidenceRatio(
    of place: Vector3, over other: Vector3, _ covariance: SymmetricMatrix3? = nil,
    now: TrajectoryPoint, _ noise: NoiseLevels, _ settings: Settings
  ) -> Double {
    let keyframes = window.fitKeyframes(now: now, mayMove: false, settings)
    let assumptions = FitAssumptions(noise, settings)
    let variance = Self.priorSigma * Self.priorSigma
    let wide = SymmetricMatrix3(
      xx: variance, xy: 0, xz: 0, yy: variance, yz: 0, zz: variance)
    let priors = [
      SearchPrior(center: place, covariance: wide),
      SearchPrior(center: other, covariance: covariance ?? wide),
    ]
    var fits = KernelFit()
    for (lane, prior) in priors.enumerated() {
      fits.setStart(
        lane, assumptions.model(prior, isMirrored: false, hasHeights: false), at: prior.center)
    }
    fits.fit(2, to: keyframes, widest: 1)
    return fits.logEvidence(0) - fits.logEvidence(1)
  }
}
