// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// What a recording tells of the radio and the odometry that made it, before it is run.
///
/// It is the posterior of their constants under one model of all errors (`ErrorModel`). Each setting stays as
/// stated unless the recording contradicts it: by odds of ``leastOdds`` to one. Noise and drift must also differ by
/// a factor of ``leastFactor``, as less does not matter. A drift is only raised, within a decade, and only where it
/// explains the recording better, by the same odds, than errors of the ranges that depend on place, time and direction
/// in the device. An odometry that is stated to have no drift keeps none.
///
/// Ranges tell only the ratio of their scale and the odometry's. That of a visual-inertial odometry is among the unknowns
/// of the engine's chain, so its scale error is reported only. With another odometry the prior of the ranges' scale error
/// is widened to what is found.
///
/// Nothing is used where clock or scale differ between the halves of the recording, where the noise of ranges is not
/// white or exceeds ten times what is stated, or where 29 % of the ranges are outliers.
public struct RecordingCalibration: Sendable {
  /// The settings as stated, with what is used of the findings.
  public var configuration: FusionConfiguration
  /// The findings.
  public var summary: CalibrationSummary

  /// The odds against what is stated at which it is replaced.
  public static let leastOdds = 1000.0
  /// The factor by which noise or drift must differ from what is stated.
  public static let leastFactor = 1.2

  /// Calibrates.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - mode: What is done with the findings; with `off` the recording is not read.
  ///   - stated: The settings as they are stated.
  /// - Throws: The first fault of the recording.
  public init(
    _ recording: RecordingReader, _ mode: CalibrationMode, stated: FusionConfiguration
  ) throws {
    self =
      mode == .off
      ? RecordingCalibration(configuration: stated)
      : RecordingCalibration(try CalibrationData(recording, stated: stated), mode)
  }

  private init(configuration: FusionConfiguration) {
    self.configuration = configuration
    summary = CalibrationSummary()
  }

  /// Calibrates with what is taken from a recording.
  ///
  /// - Parameters:
  ///   - data: What is taken from it, with the settings as they are stated.
  ///   - mode: What is done with the findings.
  public init(_ data: CalibrationData, _ mode: CalibrationMode) {
    self.init(configuration: data.stated)
    guard mode != .off, let explanation = Explanation(of: data) else { return }
    let posterior = ConstantsPosterior(explanation)
    // Performance: halves are compared only where there is something to be used.
    let isTrusted = posterior.isAnySignificant && explanation.isTrusted
    let isUsed = mode == .use && isTrusted
    if isUsed { posterior.apply(to: &configuration) }
    summary.findings = posterior.findings(areTrusted: isTrusted, areUsed: isUsed)
    let misfits = explanation.misfits
    summary.misfits = misfits.isEmpty ? nil : misfits
  }
}
