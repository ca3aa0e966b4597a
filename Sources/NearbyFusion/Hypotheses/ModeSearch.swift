// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// The posterior of a whole window, as a mixture: every place that explains it.
///
/// While a posterior is still bent (a shell, a ring), Gaussians that are updated sample by sample
/// gather the error of each linearisation. So as long as that is so, the hypotheses are fitted anew to
/// all keyframes. The prior is cut in pieces; in each piece the posterior has one mode, found by Gauss
/// and Newton's method, and an evidence, by Laplace's approximation; the pieces weighted by their
/// evidence are the posterior. Where the window leaves a direction open its pieces stay side by side,
/// as wide as their priors: nothing is claimed that was not measured, and no mode is missed. Where
/// azimuths are measured, each piece is there twice: two antennas may confuse front and back.
struct ModeSearch: Sendable {
  /// A piece that has a share: what a search keeps of it for the next one.
  private struct Piece {
    /// Its number among all pieces.
    var index: Int
    /// The state at the mode found last.
    var mode: InlineArray<13, Double>
    /// The evidence of that mode, if the radio is such a one.
    var logEvidenceOfFit = 0.0
    /// The share of the ranges that the mode takes for honest.
    var honestRanges = 1.0
    /// Whether an azimuth has been taken for mirrored since the last sweep.
    var hasFolded = false

    /// Takes over what a fit has found; what could not be fitted stays where it was.
    ///
    /// - Parameters:
    ///   - lane: Which of the fits.
    ///   - fits: Not changed: inout, so that they are read where they stand.
    ///   - size: The number of states.
    ///   - covariance: The covariance of the mode, if there is one.
    mutating func take(
      _ lane: Int, of fits: inout FitsSideBySide, size: Int, _ covariance: inout Covariance
    ) {
      logEvidenceOfFit = fits.logEvidences.span[lane]
      if fits.hasFolded.span[lane] != 0 { hasFolded = true }
      guard logEvidenceOfFit.isFinite else { return }
      let triangle = size * (size + 1) / 2
      let (states, covariances) = (fits.states.span, fits.covariances.span)
      for state in 0..<size { mode[state] = states[lane * size + state] }
      for entry in 0..<triangle { covariance[entry] = covariances[lane * triangle + entry] }
      honestRanges = fits.honest.span[lane * 3]
    }

    /// Takes over the fit of its twin.
    mutating func take(_ twin: Piece) {
      mode = twin.mode
      logEvidenceOfFit = twin.logEvidenceOfFit
      honestRanges = twin.honestRanges
    }
  }

  private typealias Covariance = InlineArray<91, Double>

  private let moves: Bool
  /// The priors of the pieces, and of their twins, which may mirror azimuths; none while it sleeps.
  private var priors: [PositionPrior]
  /// What the priors follow from, unless they were given, or only one is left.
  private var birth: Birth?
  /// Whether each piece has a twin; the twins come after all others, in the same order.
  private var hasTwins: Bool
  /// From which piece on the radio confuses what is before it with what is behind.
  private var firstMirrored: Int
  /// The pieces that still have a share, in order; none before the first search.
  ///
  /// The others are not kept: a sweep begins at the priors.
  private var pieces: [Piece] = []
  private var hasBegun = false
  /// The share of the window's ranges that the best piece takes for honest.
  private(set) var honestRanges = 1.0

  /// Pieces whose evidence is so many nats below the best are left out until the next sweep.
  private static let leastLogEvidence = -16.0
  private static let outlierShare = 0.1
  /// How likely a radio is that mirrors azimuths from behind.
  private static let logMirroredShare = log(0.03)

  /// - Parameters:
  ///   - priors: The prior of the place now, in pieces.
  ///   - moves: Whether the peer moves.
  ///   - features: What is switched on.
  init(_ priors: [PositionPrior], moves: Bool, _ features: EngineFeatures) {
    self.moves = moves
    self.priors = priors
    hasTwins = features.contains(.mirroredAzimuths)
    firstMirrored = hasTwins ? priors.count : .max
  }

  /// - Parameters:
  ///   - birth: What the prior of the place now follows from.
  ///   - moves: Whether the peer moves.
  ///   - features: What is switched on.
  init(_ birth: Birth, moves: Bool, _ features: EngineFeatures) {
    self.init(birth.priors(), moves: moves, features)
    self.birth = birth
  }

  /// Takes less memory until it is woken up; no search can be made meanwhile.
  mutating func sleep() {
    if birth != nil { priors = [] }
  }

  /// Undoes ``sleep()``.
  mutating func wake() {
    if let birth { priors = birth.priors() }
  }

  private func isMirrored(_ piece: Piece) -> Bool { piece.index >= firstMirrored }

  private func prior(_ piece: Piece) -> PositionPrior { priors[piece.index % priors.count] }

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
  ///   - errors: Prior variances of the constant and the wandering errors.
  ///   - configuration: The settings.
  /// - Returns: The hypotheses, each weighted by its evidence; none when no piece could be fitted.
  mutating func seeds(
    _ keyframes: [nearby_keyframe], isSweep: Bool, antennaInWorld: Vector3,
    _ errors: ErrorVariances, _ configuration: FusionConfiguration
  ) -> [HypothesisBank.Seed] {
    if isSweep || !hasBegun {
      let hasAzimuth = keyframes.contains { $0.present & 1 << NEARBY_AZIMUTH != 0 }
      restart(mirrored: hasAzimuth || !isSweep)
      hasBegun = true
    }
    var covariances = [Covariance](repeating: Covariance(repeating: 0), count: pieces.count)
    fitAll(keyframes, widest: isSweep ? 400 : 3, errors, configuration, &covariances)
    guard let best = pieces.lazy.map(logEvidence).max(), best.isFinite else { return [] }
    honestRanges = pieces.first { logEvidence($0) == best }?.honestRanges ?? 1
    let alive = pieces.indices.filter { !(logEvidence(pieces[$0]) < best + Self.leastLogEvidence) }
    let seeds = alive.map { seed(pieces[$0], covariances[$0], best: best, antennaInWorld) }
    if alive.count < pieces.count { pieces = alive.map { pieces[$0] } }
    return seeds
  }

  /// Leaves only the best piece.
  mutating func keepBest() {
    guard var best = pieces.max(by: { logEvidence($0) < logEvidence($1) }) else { return }
    let prior = prior(best)
    firstMirrored = isMirrored(best) ? 0 : .max
    hasTwins = false
    best.index = 0
    birth = nil
    priors = [prior]
    pieces = [best]
  }

  /// Fits all that are alive, each once: a fit that might have taken an azimuth for mirrored, and
  /// has not since it started with its twin, is that of its twin, too.
  private mutating func fitAll(
    _ keyframes: [nearby_keyframe], widest: Double, _ errors: ErrorVariances,
    _ configuration: FusionConfiguration, _ covariances: inout [Covariance]
  ) {
    // One for all: it is cleared when it is made.
    var fits = FitsSideBySide()
    let all = Array(pieces.indices)
    let twins = all.drop { !isMirrored(pieces[$0]) }
    let others = all[..<twins.startIndex]
    fit(twins, keyframes, widest: widest, errors, configuration, &covariances, with: &fits)
    guard hasTwins, !twins.isEmpty else {
      return fit(
        others, keyframes, widest: widest, errors, configuration, &covariances, with: &fits)
    }
    var (unlike, left) = ([Int](), twins)
    unlike.reserveCapacity(others.count)
    for place in others {
      let twin = firstMirrored + pieces[place].index
      left = left.drop { pieces[$0].index < twin }
      if let found = left.first, pieces[found].index == twin, !pieces[found].hasFolded {
        pieces[place].take(pieces[found])
        covariances[place] = covariances[found]
      } else {
        unlike.append(place)
      }
    }
    fit(unlike[...], keyframes, widest: widest, errors, configuration, &covariances, with: &fits)
  }

  /// Fits pieces, however many.
  private mutating func fit(
    _ places: ArraySlice<Int>, _ keyframes: [nearby_keyframe], widest: Double,
    _ errors: ErrorVariances, _ configuration: FusionConfiguration,
    _ covariances: inout [Covariance], with fits: inout FitsSideBySide
  ) {
    var rest = places
    while !rest.isEmpty {
      fitSideBySide(
        rest.prefix(FitsSideBySide.capacity), keyframes, widest: widest, errors, configuration,
        &covariances, with: &fits)
      rest = rest.dropFirst(FitsSideBySide.capacity)
    }
  }

  /// Fits as many pieces side by side as there is room for.
  private mutating func fitSideBySide(
    _ places: ArraySlice<Int>, _ keyframes: [nearby_keyframe], widest: Double,
    _ errors: ErrorVariances, _ configuration: FusionConfiguration,
    _ covariances: inout [Covariance], with fits: inout FitsSideBySide
  ) {
    let size = Int(moves ? NEARBY_MOVING_STATE_SIZE : NEARBY_STATE_SIZE)
    for (lane, place) in places.enumerated() {
      let model = model(
        prior(pieces[place]), isMirrored: isMirrored(pieces[place]), errors, configuration)
      var models = fits.models.mutableSpan
      models[lane] = model
      var states = fits.states.mutableSpan
      for state in 0..<size { states[lane * size + state] = pieces[place].mode[state] }
    }
    fits.fit(places.count, to: keyframes, widest: widest)
    for (lane, place) in places.enumerated() {
      pieces[place].take(lane, of: &fits, size: size, &covariances[place])
    }
  }

  /// What the fit of a piece assumes; a prior that has no inverse is none, and is refused.
  private func model(
    _ prior: PositionPrior, isMirrored: Bool, _ errors: ErrorVariances,
    _ configuration: FusionConfiguration
  ) -> nearby_fit_model {
    let ranging = configuration.ranging
    let information = prior.covariance.positiveDefiniteInverse ?? .zero
    let center = prior.center
    let speeds = configuration.speedVariances
    return nearby_fit_model(
      center: (center.x, center.y, center.z),
      information: (
        information.xx, information.xy, information.xz, information.yy, information.yz,
        information.zz
      ),
      range_scale_sigma: ranging.rangeScaleSigma,
      bias_variance: (
        errors.constant.range, errors.constant.azimuth, errors.constant.elevation
      ),
      wander_variance: (
        errors.wandering.range, errors.wandering.azimuth, errors.wandering.elevation
      ),
      outlier_share: Self.outlierShare,
      range_excess: max(configuration.faults.rangeExcess, 5 * ranging.rangeSigma),
      field_of_view: ranging.fieldOfViewRadians, is_mirrored: isMirrored ? 1 : 0,
      may_move: moves ? 1 : 0, speed_variance: (speeds[0], speeds[1], speeds[2]))
  }

  /// The piece's posterior as a Gaussian: moved in along the line of sight by what its own width
  /// across adds to the mean distance, so that a wide one still has the distance that was measured.
  private func seed(
    _ piece: Piece, _ covariance: Covariance, best: Double, _ antennaInWorld: Vector3
  ) -> HypothesisBank.Seed {
    var seed = HypothesisBank.Seed(
      mean: piece.mode, covariance: covariance, weight: exp(logEvidence(piece) - best),
      moves: moves)
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

extension PositionPrior {
  /// The state from which a fit starts.
  fileprivate var start: InlineArray<13, Double> {
    var state = InlineArray<13, Double>(repeating: 0)
    state[0] = center.x
    state[1] = center.y
    state[2] = center.z
    return state
  }
}
