// SPDX-License-Identifier: Apache-2.0

/// The settings of an engine with what follows from them: made once, shared by all that read them.
///
/// A reference, since the settings are too large to be handed on by value with every sample.
final class Settings: Sendable {
  let configuration: FusionConfiguration
  /// The share of the variance of an angle's wandering error that is constant.
  let constantAngleShare: Double

  init(_ configuration: FusionConfiguration) {
    self.configuration = configuration
    constantAngleShare =
      configuration.features.contains(.constantAngleErrors) ? WanderModel.constantAngleShare : 0
  }
}
