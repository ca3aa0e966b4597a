// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Notices an angle that no longer follows the device.
///
/// Some radios repeat their last angle when they cannot measure one. A device at rest may well measure
/// the same twice; one that has turned since does not, to the last digit.
struct StuckAngle: Hashable, Sendable, Codable {
  private var value = Double.nan
  private var since: RigidTransform?

  /// More than this, radians, is a turn.
  private static let turn = 0.03
  /// More than this, metres, changes the direction to most peers as much.
  private static let step = 0.1

  /// Whether a value only repeats what was measured in another pose.
  mutating func isStuck(_ newValue: Double, at worldFromDevice: RigidTransform) -> Bool {
    guard newValue == value, let since else {
      value = newValue
      since = worldFromDevice
      return false
    }
    return since.rotation.angle(to: worldFromDevice.rotation) > Self.turn
      || (since.translation - worldFromDevice.translation).length > Self.step
  }
}
