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
    var parameters: InlineArray<5, Double>
    var covariance: InlineArray<15, Double>
    var logEvidence: Double

    var position: Vector3 { Vector3(parameters[0], parameters[1], parameters[2]) }
    var positionCovariance: SymmetricMatrix3 {
      // The first rows of the packed triangle of five.
      SymmetricMatrix3(
        xx: covariance[0], xy: covariance[1], xz: covariance[2], yy: covariance[5],
        yz: covariance[6], zz: covariance[9])
    }
  }

  /// The modes downhill from the starts, as hypotheses.
  func seeds(from starts: [Vector3]) -> [HypothesisBank.Seed] {
    let modes = starts.compactMap(fit).sorted { $0.logEvidence > $1.logEvidence }
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
      covariance_floor: 1 / (open * open), outlier_share: (0.1, 0.1, 0.1),
      outlier_density: (
        0.2 / max(configuration.faults.rangeExcess, 5 * ranging.rangeSigma), angleDensity,
        angleDensity
      ))
  }

  private func fit(_ start: Vector3) -> Mode? {
    var mode = Mode(
      parameters: [start.x, start.y, start.z, 0, 0], covariance: InlineArray(repeating: 0),
      logEvidence: 0)
    mode.logEvidence = unsafe keyframes.withUnsafeBufferPointer { keyframes in
      var model = model
      return unsafe withUnsafeMutableBytes(of: &mode.parameters) { parameters in
        unsafe withUnsafeMutableBytes(of: &mode.covariance) { covariance in
          unsafe nearby_fit(
            keyframes.baseAddress, Int32(keyframes.count), &model,
            parameters.assumingMemoryBound(to: Double.self).baseAddress,
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
      mean: InlineArray(repeating: 0), covariance: InlineArray(repeating: 0), weight: weight)
    seed.mean[0] = position.x
    seed.mean[1] = position.y
    seed.mean[2] = position.z
    seed.mean[3] = mode.parameters[3]
    seed.mean[4] = mode.parameters[4]
    var element = 0
    for row in 0..<5 {
      for column in row..<5 {
        seed.covariance[HypothesisBank.packed(row, column)] = mode.covariance[element]
        element += 1
      }
    }
    for component in 0..<3 {
      seed.covariance[HypothesisBank.packed(5 + component, 5 + component)] =
        wanderVariance[component]
    }
    return seed
  }
}
