// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The posterior of a whole window, as a mixture: every place that explains it.
///
/// While a posterior is still bent (a shell, a ring), Gaussians that are updated sample by sample
/// gather the error of each linearisation. So as long as that is so, the hypotheses are fitted anew to
/// all keyframes. The prior is cut in pieces; in each piece the posterior has one mode, found by Gauss
/// and Newton's method, and an evidence, by Laplace's approximation; the pieces weighted by their
/// evidence are the posterior. Where the window leaves a direction open its pieces stay side by side,
/// as wide as their priors: nothing is claimed that was not measured, and no mode is missed. Where
/// azimuths are measured, each piece is there twice: two antennas may confuse front and back.
struct ModeSearch: Sendable, Codable {
  /// A piece that has a share: what a search keeps of it for the next one.
  private struct Piece: Codable {
    /// Its number among all pieces.
    var index: Int
    /// The state at the mode found last.
    @Numbers var mode: StateVector
    /// The evidence of that mode, if the radio is such a one.
    var logEvidenceOfFit = 0.0
    /// The share of the ranges that the mode takes for inliers.
    var rangeInlierShare = 1.0
    /// Whether an azimuth has been taken for mirrored since the last sweep.
    var hasFolded = false

    /// Takes over what a fit has found; what could not be fitted stays where it was.
    ///
    /// - Parameters:
    ///   - lane: Which of the fits.
    ///   - fits: The fits; `inout` only to pass by reference.
    ///   - covariance: The covariance of the mode, if there is one.
    mutating func take(
      _ lane: Int, of fits: inout KernelFit, _ covariance: inout StateCovariance
    ) {
      logEvidenceOfFit = fits.logEvidence(lane)
      if fits.hasFolded(lane) { hasFolded = true }
      guard logEvidenceOfFit.isFinite else { return }
      fits.copyState(lane, to: &mode, &covariance)
      rangeInlierShare = fits.inlierShare(lane, of: .range)
    }

    /// Takes over the fit of its twin.
    mutating func take(_ twin: Piece) {
      mode = twin.mode
      logEvidenceOfFit = twin.logEvidenceOfFit
      rangeInlierShare = twin.rangeInlierShare
    }
  }

  /// The priors of the pieces, and of their twins, which may mirror azimuths; none while it is packed.
  private var priors: [SearchPrior]
  /// What the priors follow from, unless they were given, or only one is left.
  private var initial: InitialHypotheses?
  /// Whether each piece has a twin; the twins come after all others, in the same order.
  private var hasTwins: Bool
  /// From which piece on the radio confuses what is before it with what is behind.
  private var firstMirrored: Int
  /// The pieces that still have a share, in order; none before the first search.
  ///
  /// The others are not kept: a sweep begins at the priors.
  private var pieces: [Piece] = []
  private var hasBegun = false
  /// Whether the window holds height differences, whose offset is then fitted.
  private var hasHeights = false
  /// The share of the window's ranges that the best piece takes for inliers.
  private(set) var rangeInlierShare = 1.0

  /// More than there are pieces.
  private static let noneMirrored = 1 << 32
  /// Pieces whose evidence is so many nats below the best are left out until the next sweep.
  private static let leastLogEvidence = -16.0
  /// How likely a radio is that mirrors azimuths from behind.
  private static let logMirroredShare = log(0.03)

  /// - Parameters:
  ///   - priors: The prior of the place now, in pieces.
  ///   - features: What is switched on.
  init(_ priors: [SearchPrior], _ features: EngineFeatures) {
    self.priors = priors
    hasTwins = features.contains(.mirroredAzimuths)
    firstMirrored = hasTwins ? priors.count : Self.noneMirrored
  }

  /// - Parameters:
  ///   - initial: What the prior of the place now follows from.
  ///   - features: What is switched on.
  init(_ initial: InitialHypotheses, _ features: EngineFeatures) {
    self.init(initial.priors(), features)
    self.initial = initial
  }

  /// Whether a restored search has priors, and its parts lie within them.
  ///
  /// - Parameter mayBePacked: Whether it is unpacked before a search is made.
  /// - Returns: Whether it is so.
  func isConsistent(mayBePacked: Bool) -> Bool {
    (!priors.isEmpty || mayBePacked && initial != nil) && firstMirrored >= 0
      && pieces.allSatisfy { $0.index >= 0 }
  }

  /// Takes less memory until it is unpacked; no search can be made meanwhile.
  mutating func pack() {
    if initial != nil { priors = [] }
  }

  /// Undoes ``pack()``.
  mutating func unpack() {
    if let initial { priors = initial.priors() }
  }

  private func isMirrored(_ piece: Piece) -> Bool { piece.index >= firstMirrored }

  private func prior(_ piece: Piece) -> SearchPrior { priors[piece.index % priors.count] }

  private func logEvidence(_ piece: Piece) -> Double {
    isMirrored(piece) ? piece.logEvidenceOfFit + Self.logMirroredShare : piece.logEvidenceOfFit
  }

  /// Begins with all pieces, or without those that mirror azimuths, where their fits start.
  private mutating func restart(mirrored: Bool) {
    let count = hasTwins ? 2 * priors.count : priors.count
    pieces = (0..<(mirrored ? count : min(count, firstMirrored))).map {
      Piece(index: $0, mode: priors[$0 % priors.count].start)
    }
  }

  /// Fits the pieces to the keyframes and gives them out as hypotheses.
  ///
  /// - Parameters:
  ///   - keyframes: The window.
  ///   - isSweep: Whether all pieces are tried from their centres, or only those alive from where
  ///     they were.
  ///   - antennaInWorld: The antenna now.
  ///   - assumptions: What the fits assume.
  /// - Returns: The hypotheses, each weighted by its evidence; none when no piece could be fitted.
  mutating func seeds(
    _ keyframes: [FitKeyframe], isSweep: Bool, antennaInWorld: Vector3,
    _ assumptions: FitAssumptions
  ) -> [HypothesisBank.Seed] {
    hasHeights = keyframes.contains { $0[.heightDifference] != nil }
    if isSweep || !hasBegun {
      let hasAzimuth = keyframes.contains { $0[.azimuth] != nil }
      restart(mirrored: hasAzimuth || !isSweep)
      hasBegun = true
    }
    var covariances = [StateCovariance](
      repeating: StateCovariance(repeating: 0), count: pieces.count)
    fitAll(keyframes, widest: isSweep ? 400 : 3, assumptions, &covariances)
    guard let best = pieces.lazy.map(logEvidence).max(), best.isFinite else { return [] }
    rangeInlierShare = pieces.first { logEvidence($0) == best }?.rangeInlierShare ?? 1
    var seeds: [HypothesisBank.Seed] = []
    seeds.reserveCapacity(pieces.count)
    for index in pieces.indices
    where !(logEvidence(pieces[index]) < best + Self.leastLogEvidence) {
      if !hasHeights {
        covariances[index].setHeightOffset(assumptions.heightOffsetVariance)
      }
      seeds.append(seed(pieces[index], covariances[index], best: best, antennaInWorld))
      // The pieces that are kept move to the front.
      pieces.swapAt(seeds.count - 1, index)
    }
    pieces.removeLast(pieces.count - seeds.count)
    return seeds
  }

  /// Leaves only the best piece.
  mutating func keepBest() {
    guard var best = pieces.max(by: { logEvidence($0) < logEvidence($1) }) else { return }
    let prior = prior(best)
    firstMirrored = isMirrored(best) ? 0 : Self.noneMirrored
    hasTwins = false
    best.index = 0
    initial = nil
    priors = [prior]
    pieces = [best]
  }

  /// Fits all that are alive, each once: a fit that might have taken an azimuth for mirrored, and
  /// has not since it started with its twin, is that of its twin, too.
  private mutating func fitAll(
    _ keyframes: [FitKeyframe], widest: Double, _ assumptions: FitAssumptions,
    _ covariances: inout [StateCovariance]
  ) {
    // One for all: it is cleared when it is made.
    var fits = KernelFit()
    let firstTwin = pieces.firstIndex(where: isMirrored) ?? pieces.endIndex
    let (others, twins) = (0..<firstTwin, firstTwin..<pieces.endIndex)
    fit(twins, keyframes, widest: widest, assumptions, &covariances, with: &fits)
    guard hasTwins, !twins.isEmpty else {
      return fit(others, keyframes, widest: widest, assumptions, &covariances, with: &fits)
    }
    var (unlike, left) = ([Int](), firstTwin)
    unlike.reserveCapacity(others.count)
    for place in others {
      let twin = firstMirrored + pieces[place].index
      while left < pieces.endIndex, pieces[left].index < twin { left += 1 }
      let found = left
      if found < pieces.endIndex, pieces[found].index == twin, !pieces[found].hasFolded {
        pieces[place].take(pieces[found])
        covariances[place] = covariances[found]
      } else {
        unlike.append(place)
      }
    }
    fit(unlike, keyframes, widest: widest, assumptions, &covariances, with: &fits)
  }

  /// Fits pieces, however many.
  private mutating func fit(
    _ places: some RandomAccessCollection<Int>, _ keyframes: [FitKeyframe], widest: Double,
    _ assumptions: FitAssumptions, _ covariances: inout [StateCovariance],
    with fits: inout KernelFit
  ) {
    var rest = places[...]
    while !rest.isEmpty {
      fitSideBySide(
        rest.prefix(KernelFit.capacity), keyframes, widest: widest, assumptions, &covariances,
        with: &fits)
      rest = rest.dropFirst(KernelFit.capacity)
    }
  }

  /// Fits as many pieces side by side as there is room for.
  private mutating func fitSideBySide(
    _ places: some RandomAccessCollection<Int>, _ keyframes: [FitKeyframe], widest: Double,
    _ assumptions: FitAssumptions, _ covariances: inout [StateCovariance],
    with fits: inout KernelFit
  ) {
    for (lane, place) in places.enumerated() {
      let model = assumptions.model(
        prior(pieces[place]), isMirrored: isMirrored(pieces[place]), hasHeights: hasHeights)
      fits.setStart(lane, model, pieces[place].mode)
    }
    fits.fit(places.count, to: keyframes, widest: widest)
    for (lane, place) in places.enumerated() {
      pieces[place].take(lane, of: &fits, &covariances[place])
    }
  }

  /// The piece's posterior as a Gaussian: moved in along the line of sight by what its own width
  /// across adds to the mean distance, so that a wide one still has the distance that was measured.
  private func seed(
    _ piece: Piece, _ covariance: StateCovariance, best: Double, _ antennaInWorld: Vector3
  ) -> HypothesisBank.Seed {
    var seed = HypothesisBank.Seed(
      mean: piece.mode, covariance: covariance, weight: exp(logEvidence(piece) - best))
    let line = seed.position - antennaInWorld
    let length = max(line.length, 1e-3)
    let unit = line / length
    let p = seed.positionCovariance
    let across = max(p.trace - p.quadraticForm(unit), 0)
    let inward = min(0.5 * across / length, 0.3 * length)
    seed.mean[0] -= inward * unit.x
    seed.mean[1] -= inward * unit.y
    seed.mean[2] -= inward * unit.z
    return seed
  }
}

/// What the fits of one search assume besides their priors of the place.
struct FitAssumptions {
  private let errors: FitModel.Errors
  private let settings: Settings

  /// The prior variance of the offset of height differences.
  fileprivate var heightOffsetVariance: Double { settings.heightOffset.variance }

  /// - Parameters:
  ///   - constant: The prior variances of the radio's constant errors.
  ///   - wandering: Those of its wandering errors.
  ///   - settings: The settings.
  init(constant: PerKind<Double>, wandering: PerKind<Double>, _ settings: Settings) {
    self.settings = settings
    errors = FitModel.Errors(
      rangeScaleSigma: settings.configuration.ranging.rangeScaleSigma,
      constant: constant, wandering: wandering)
  }

  /// For a radio that is so noisy.
  init(_ noise: NoiseLevels, _ settings: Settings) {
    let errors = settings.configuration.errorVariances(noise)
    self.init(
      constant: settings.configuration.constantErrorVariances(noise),
      wandering: PerKind { errors[$0].wandering }, settings)
  }

  /// A prior that has no inverse is none, and is refused.
  func model(_ prior: SearchPrior, isMirrored: Bool, hasHeights: Bool) -> FitModel {
    FitModel(
      center: prior.center, information: prior.covariance.positiveDefiniteInverse ?? .zero, errors,
      settings.faults, settings.configuration.ranging, isMirrored: isMirrored,
      hasHeights: hasHeights)
  }
}

extension StateCovariance {
  /// Sets the variance of an offset that was not fitted to its prior.
  fileprivate mutating func setHeightOffset(_ variance: Double) {
    let offset = StateIndex.wander(.heightDifference)
    self[StateIndex.packed(offset, offset)] = variance
  }
}

extension SearchPrior {
  /// The state from which a fit starts.
  fileprivate var start: StateVector {
    var state = StateVector(repeating: 0)
    state[0] = center.x
    state[1] = center.y
    state[2] = center.z
    return state
  }
}
