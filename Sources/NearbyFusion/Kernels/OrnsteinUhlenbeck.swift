// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels

/// An Ornstein-Uhlenbeck velocity `v̇ = -v/τ + w` over a time t, in units of its correlation time τ and
/// of a stationary variance of one; φ = exp(-t/τ).
struct OrnsteinUhlenbeck {
  private let kernel: nearby_ornstein_uhlenbeck

  /// To ten digits or more, however short the time.
  init(seconds: Double, correlationTime: Double) {
    kernel = nearby_ornstein_uhlenbeck_over(seconds / correlationTime)
  }

  /// φ, the correlation factor of the velocity.
  var correlation: Double { kernel.correlation }
  /// 1 - φ: how far the position moves on with the velocity.
  var reach: Double { kernel.reach }
  /// 2 t/τ - 3 + 4 φ - φ², added to the variance of the position.
  var position: Double { kernel.position }
  /// (1 - φ)², added to the covariance of position and velocity.
  var both: Double { kernel.both }
  /// 1 - φ², added to the variance of the velocity.
  var velocity: Double { kernel.velocity }
  /// t/τ - 1 + φ: half of the variance of the displacement when the velocity is unknown.
  var displacement: Double { kernel.displacement }
}
