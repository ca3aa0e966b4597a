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
  private struct Piece {
    let prior: PositionPrior
    /// Whether the radio confuses what is before it with what is behind.
    let isMirrored: Bool
    /// The state at the mode found last.
    var mode: InlineArray<13, Double>
    var covariance: InlineArray<91, Double>
    /// The evidence of that mode, if the radio is such a one.
    var logEvidenceOfFit = 0.0
    /// The share of each component's values that the mode takes for honest.
    var honest: InlineArray<3, Double> = [1, 1, 1]
    /// Whether an azimuth has been taken for mirrored since the last sweep.
    var hasFolded = false

    var logEvidence: Double {
      isMirrored ? logEvidenceOfFit + ModeSearch.logMirroredShare : logEvidenceOfFit
    }

    init(_ prior: PositionPrior, isMirrored: Bool) {
      self.prior = prior
      self.isMirrored = isMirrored
      mode = prior.start
      covariance = InlineArray(repeating: 0)
    }

    /// Goes back to where the first fit starts.
    mutating func restart() {
      mode = prior.start
      hasFolded = false
    }

    /// Takes over what a fit has found; what could not be fitted stays where it was.
    ///
    /// - Parameters:
    ///   - lane: Which of the fits.
    ///   - fits: Not changed: inout, so that they are read where they stand.
    ///   - size: The number of states.
    mutating func take(_ lane: Int, of fits: inout FitsSideBySide, size: Int) {
      logEvidenceOfFit = fits.logEvidences.span[lane]
      if fits.hasFolded.span[lane] != 0 { hasFolded = true }
      guard logEvidenceOfFit.isFinite else { return }
      let triangle = size * (size + 1) / 2
      let (states, covariances) = (fits.states.span, fits.covariances.span)
      for state in 0..<size { mode[state] = states[lane * size + state] }
      for entry in 0..<triangle { covariance[entry] = covariances[lane * triangle + entry] }
      let shares = fits.honest.span
      for component in 0..<3 { honest[component] = shares[lane * 3 + component] }
    }

    /// Takes over the fit of its twin.
    mutating func take(_ twin: Piece) {
      mode = twin.mode
      covariance = twin.covariance
      logEvidenceOfFit = twin.logEvidenceOfFit
      honest = twin.honest
    }
  }

  private let moves: Bool
  private var pieces: [Piece]
  /// Where the twins begin that may mirror azimuths, in the order of the pieces that may not.
  private var firstTwin: Int?
  /// The pieces that still have a share, by index, in order.
  private var alive: [Int]
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
    pieces = priors.map { Piece($0, isMirrored: false) }
    if features.contains(.mirroredAzimuths) {
      firstTwin = pieces.count
      pieces += priors.map { Piece($0, isMirrored: true) }
    }
    alive = Array(pieces.indices)
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
    if isSweep {
      let hasAzimuth = keyframes.contains { $0.present & 1 << NEARBY_AZIMUTH != 0 }
      alive = pieces.indices.filter { hasAzimuth || !pieces[$0].isMirrored }
    }
    if isSweep {
      for index in alive { pieces[index].restart() }
    }
    fitAlive(keyframes, widest: isSweep ? 400 : 3, errors, configuration)
    guard let best = alive.map({ pieces[$0].logEvidence }).max(), best.isFinite else {
      return []
    }
    honestRanges = alive.first { pieces[$0].logEvidence == best }.map { pieces[$0].honest[0] } ?? 1
    alive.removeAll { pieces[$0].logEvidence < best + Self.leastLogEvidence }
    return alive.map { seed(pieces[$0], best: best, antennaInWorld) }
  }

  /// Leaves only the best piece.
  mutating func keepBest() {
    guard let best = alive.max(by: { pieces[$0].logEvidence < pieces[$1].logEvidence }) else {
      return
    }
    pieces = [pieces[best]]
    firstTwin = nil
    alive = [0]
  }

  /// Fits all that are alive, each once: a fit that might have taken an azimuth for mirrored, and
  /// has not since it started with its twin, is that of its twin, too.
  private mutating func fitAlive(
    _ keyframes: [nearby_keyframe], widest: Double, _ errors: ErrorVariances,
    _ configuration: FusionConfiguration
  ) {
    // One for all: it is cleared when it is made.
    var fits = FitsSideBySide()
    let twins = alive.drop { !pieces[$0].isMirrored }
    let others = alive[..<twins.startIndex]
    fit(twins, keyframes, widest: widest, errors, configuration, with: &fits)
    guard let firstTwin, !twins.isEmpty else {
      return fit(others, keyframes, widest: widest, errors, configuration, with: &fits)
    }
    var (unlike, left) = ([Int](), twins)
    unlike.reserveCapacity(others.count)
    for index in others {
      let twin = firstTwin + index
      left = left.drop { $0 < twin }
      if left.first == twin, !pieces[twin].hasFolded {
        pieces[index].take(pieces[twin])
      } else {
        unlike.append(index)
      }
    }
    fit(unlike[...], keyframes, widest: widest, errors, configuration, with: &fits)
  }

  /// Fits pieces, however many.
  private mutating func fit(
    _ indices: ArraySlice<Int>, _ keyframes: [nearby_keyframe], widest: Double,
    _ errors: ErrorVariances, _ configuration: FusionConfiguration,
    with fits: inout FitsSideBySide
  ) {
    var rest = indices
    while !rest.isEmpty {
      fitSideBySide(
        rest.prefix(FitsSideBySide.capacity), keyframes, widest: widest, errors, configuration,
        with: &fits)
      rest = rest.dropFirst(FitsSideBySide.capacity)
    }
  }

  /// Fits as many pieces side by side as there is room for.
  private mutating func fitSideBySide(
    _ indices: ArraySlice<Int>, _ keyframes: [nearby_keyframe], widest: Double,
    _ errors: ErrorVariances, _ configuration: FusionConfiguration,
    with fits: inout FitsSideBySide
  ) {
    let size = Int(moves ? NEARBY_MOVING_STATE_SIZE : NEARBY_STATE_SIZE)
    for (lane, index) in indices.enumerated() {
      let model = model(
        pieces[index].prior, isMirrored: pieces[index].isMirrored, errors, configuration)
      var models = fits.models.mutableSpan
      models[lane] = model
      var states = fits.states.mutableSpan
      for state in 0..<size { states[lane * size + state] = pieces[index].mode[state] }
    }
    fits.fit(indices.count, to: keyframes, widest: widest)
    for (lane, index) in indices.enumerated() {
      pieces[index].take(lane, of: &fits, size: size)
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
    _ piece: Piece, best: Double, _ antennaInWorld: Vector3
  ) -> HypothesisBank.Seed {
    var seed = HypothesisBank.Seed(
      mean: piece.mode, covariance: piece.covariance, weight: exp(piece.logEvidence - best),
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
