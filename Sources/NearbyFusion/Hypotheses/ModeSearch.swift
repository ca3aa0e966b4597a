// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// Finds the modes of the posterior of a whole window: every place that explains it.
///
/// While a posterior is still bent (a shell, a ring), Gaussians that are updated sample by sample
/// gather the error of each linearisation. So as long as that is so, the hypotheses are fitted anew to
/// all keyframes, from many starts; where the window leaves a direction open, the modes stand side by
/// side along it, as wide as ``openSpread`` lets them.
struct ModeSearch {
  var keyframes: [nearby_keyframe]
  var configuration: FusionConfiguration
  /// Variances of the wandering errors: range, azimuth, elevation.
  var wanderVariance: InlineArray<3, Double>
  var antennaInWorld: Vector3
  /// About how far the peer is, metres.
  var distance: Double

  /// A mode's largest spread across the line of sight, as a ratio to the distance.
  private static let openSpread = 0.35
  /// Modes nearer than this, in standard deviations, are one.
  private static let apart = 1.5
  private static let leastWeight = 1e-5
  private static let most = 48

  private struct Mode {
    var state: InlineArray<8, Double>
    var covariance: InlineArray<36, Double>
    var logEvidence: Double

    var position: Vector3 { Vector3(state[0], state[1], state[2]) }
    var positionCovariance: SymmetricMatrix3 {
      func element(_ row: Int, _ column: Int) -> Double {
        covariance[HypothesisBank.packed(row, column)]
      }
      return SymmetricMatrix3(
        xx: element(0, 0), xy: element(0, 1), xz: element(0, 2), yy: element(1, 1),
        yz: element(1, 2), zz: element(2, 2))
    }
  }

  /// The modes downhill from the starts, as hypotheses.
  ///
  /// - Parameters:
  ///   - anywhere: Starts that may be far from any mode.
  ///   - nearby: Starts that were modes of almost the same window.
  func seeds(anywhere: [Vector3], nearby: [Vector3]) -> [HypothesisBank.Seed] {
    var modes = anywhere.compactMap { fit($0, widest: 400) }
    modes += nearby.compactMap { fit($0, widest: 1) }
    modes.sort { $0.logEvidence > $1.logEvidence }
    guard let best = modes.first else { return [] }
    var distinct: [Mode] = []
    for mode in modes where exp(mode.logEvidence - best.logEvidence) > Self.leastWeight {
      if distinct.count == Self.most { break }
      if !distinct.contains(where: { isSame($0, mode) }) { distinct.append(mode) }
    }
    return distinct.map { seed($0, weight: exp($0.logEvidence - best.logEvidence)) }
  }

  private var model: nearby_fit_model {
    let reach = max(1.5 * distance, 3)
    let ranging = configuration.ranging
    let isPlanar = configuration.odometry.isPlanar
    let open = Self.openSpread * max(distance, 0.3)
    let angleDensity = 1 / ranging.fieldOfViewRadians
    return nearby_fit_model(
      center: (antennaInWorld.x, antennaInWorld.y, antennaInWorld.z), horizontal_sigma: reach,
      vertical_sigma: isPlanar ? Birth.planarHeightSigma : reach,
      range_bias_sigma: ranging.rangeBiasSigma, range_scale_sigma: ranging.rangeScaleSigma,
      wander_variance: (wanderVariance[0], wanderVariance[1], wanderVariance[2]),
      covariance_floor: 1 / (open * open), outlier_share: (0.1, 0.1, 0.1),
      outlier_density: (
        0.2 / max(configuration.faults.rangeExcess, 5 * ranging.rangeSigma), angleDensity,
        angleDensity
      ))
  }

  private func fit(_ start: Vector3, widest: Double) -> Mode? {
    var mode = Mode(
      state: [start.x, start.y, start.z, 0, 0, 0, 0, 0], covariance: InlineArray(repeating: 0),
      logEvidence: 0)
    mode.logEvidence = unsafe keyframes.withUnsafeBufferPointer { keyframes in
      var model = model
      return unsafe withUnsafeMutableBytes(of: &mode.state) { state in
        unsafe withUnsafeMutableBytes(of: &mode.covariance) { covariance in
          unsafe nearby_fit(
            keyframes.baseAddress, Int32(keyframes.count), &model, widest,
            state.assumingMemoryBound(to: Double.self).baseAddress,
            covariance.assumingMemoryBound(to: Double.self).baseAddress)
        }
      }
    }
    return mode.logEvidence.isFinite ? mode : nil
  }

  private func isSame(_ a: Mode, _ b: Mode) -> Bool {
    let difference = a.position - b.position
    let mean = 0.5 * (a.positionCovariance + b.positionCovariance)
    guard let inverse = mean.positiveDefiniteInverse else { return true }
    return inverse.quadraticForm(difference) < Self.apart * Self.apart
  }

  /// The mode as a Gaussian: moved in along the line of sight by what its own width across adds to the
  /// mean distance, so that a wide one still has the distance that was measured.
  private func seed(_ mode: Mode, weight: Double) -> HypothesisBank.Seed {
    let line = mode.position - antennaInWorld
    let length = max(line.length, 1e-3)
    let unit = line / length
    let p = mode.positionCovariance
    let across = max(p.trace - p.quadraticForm(unit), 0)
    let inward = min(0.5 * across / length, 0.3 * length)
    let position = mode.position - inward * unit

    var seed = HypothesisBank.Seed(
      mean: mode.state, covariance: mode.covariance, weight: weight)
    seed.mean[0] = position.x
    seed.mean[1] = position.y
    seed.mean[2] = position.z
    return seed
  }
}
