// SPDX-License-Identifier: Apache-2.0

/// The settings of an engine with the models that follow from them.
///
/// Performance: a reference, since the settings are too large to be handed on by value with every
/// sample.
final class Settings: Sendable {
  let configuration: FusionConfiguration
  let faults: FaultModel
  let motion: MotionModel
  let heightOffset: HeightOffset

  init(_ configuration: FusionConfiguration) {
    self.configuration = configuration
    faults = FaultModel(configuration)
    motion = MotionModel(configuration)
    heightOffset = HeightOffset(configuration.ranging)
  }
}
