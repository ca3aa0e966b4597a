// SPDX-License-Identifier: Apache-2.0

/// The errors of a run against the truth.
///
/// All are of the peer's position relative to the device, in device axes, at each sample at which
/// both an estimate and the truth exist:
///
///     e = R̂ᵀ (p̂ - d̂) - Rᵀ (p - d)
///
/// with the peer's position `p`, the device's position `d` and attitude `R` (world from device);
/// the hats mark estimate and odometry, in the odometry's world, the others the truth, in its own
/// world. No alignment of the two worlds is made or needed. Poses and moving peers are interpolated
/// at the sample's time. The lever arm of the antenna is not included: positions count from the
/// device's origin. *Converged* samples are those after which the peer's status was `converged`;
/// the *second half* are the samples that are not before the middle between the first and the last
/// sample of the recording, converged or not.
///
/// A number is `nil` when there is no sample to compute it from.
public struct ErrorStatistics: Hashable, Sendable, Codable {
  /// How many samples were compared.
  public var samples = 0
  /// How many of them were converged.
  public var convergedSamples = 0
  /// The root of the mean of `‖e‖²` over converged samples, metres.
  @OrNull public var rmseConverged: Double? = nil
  /// The root of the mean of `‖e‖²` over the second half, metres.
  @OrNull public var rmseSecondHalf: Double? = nil
  /// The median of `| ‖p̂ - d̂‖ - ‖p - d‖ |` over the second half, metres.
  @OrNull public var medianDistanceErrorSecondHalf: Double? = nil
  /// The median of the absolute error of the horizontal angle over the second half, degrees.
  ///
  /// Both relative positions are turned into the true world by the true attitude; the error is the
  /// angle between their horizontal parts. It therefore needs no heading, and equals the error of
  /// the horizontal angle wherever that is defined.
  @OrNull public var medianBearingErrorDegreesSecondHalf: Double? = nil
  /// `‖e‖` at the last sample, metres; over several peers the root of the mean of its squares.
  @OrNull public var finalError: Double? = nil
  /// The 95th percentile of `‖e‖` over converged samples, metres.
  @OrNull public var percentile95Converged: Double? = nil
  /// The mean of `eᵀ P⁻¹ e / n` over converged samples: 1 when the claimed covariance `P` is right,
  /// more when it is too small.
  ///
  /// `n` is 3; in a planar recording 2, with the horizontal parts of `e` and `P` alone.
  @OrNull public var meanNormalizedNEES: Double? = nil
  /// The share of converged samples with `‖e‖` above both 0.5 m and 3.4 times the claimed standard
  /// deviation along `e`: the share of false convergence.
  @OrNull public var falselyConvergedShare: Double? = nil
  /// The share of all samples, converged or not, after which a published distance or horizontal angle was
  /// wrong: off by more than 0.5 m or 15°, and by more than four of its sigmas.
  @OrNull public var wronglyPublishedShare: Double? = nil

  /// Makes statistics without samples.
  public init() {}
}
