// SPDX-License-Identifier: Apache-2.0

/// The settings of an engine with what follows from them: made once, shared by all that read them.
///
/// A reference, since the settings are too large to be handed on by value with every sample.
final class Settings: Sendable {
  let configuration: FusionConfiguration
  /// The variances of a moving peer's speed along the world's axes, m²/s².
  let speedVariances: InlineArray<3, Double>
  /// How fast it becomes likely that a fault, or honesty, has ended, 1/s.
  let faultRate: Double

  init(_ configuration: FusionConfiguration) {
    self.configuration = configuration
    speedVariances = configuration.speedVariances
    faultRate = 1 / configuration.faults.lastingSeconds
  }
}
