// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment

/// The capabilities of a device.
public protocol NIDeviceCapability: NSObjectProtocol, Sendable {
  /// Whether it measures distances, which everything else requires.
  var supportsPreciseDistanceMeasurement: Bool { get }
  /// Whether its antennas measure directions at once, without a camera.
  var supportsDirectionMeasurement: Bool { get }
  /// Whether it fuses the camera's odometry.
  var supportsCameraAssistance: Bool { get }
  /// Whether it measures extended distances.
  var supportsExtendedDistanceMeasurement: Bool { get }
  /// Whether it measures differences of arrival from anchors; simulated devices do in a world with anchors.
  var supportsDLTDOAMeasurement: Bool { get }
  /// Whether it measures distances over Bluetooth; no device here does.
  var supportsBluetoothChannelSounding: Bool { get }
}

extension NIDeviceCapability {
  /// False, unless a type says otherwise.
  public var supportsDLTDOAMeasurement: Bool { false }
  /// Always false.
  public var supportsBluetoothChannelSounding: Bool { false }
}

/// The capabilities of a device as Apple's interface asks for them.
final class DeviceCapabilityReport: NSObject, NIDeviceCapability {
  private let capabilities: DeviceCapabilities

  init(_ capabilities: DeviceCapabilities) { self.capabilities = capabilities }

  var supportsPreciseDistanceMeasurement: Bool { capabilities.contains(.preciseDistance) }
  var supportsDirectionMeasurement: Bool { capabilities.contains(.direction) }
  var supportsCameraAssistance: Bool { capabilities.contains(.cameraAssistance) }
  var supportsExtendedDistanceMeasurement: Bool { capabilities.contains(.extendedDistance) }
  var supportsDLTDOAMeasurement: Bool { capabilities.contains(.downlink) }

  override func isEqual(_ object: Any?) -> Bool {
    (object as? DeviceCapabilityReport)?.capabilities == capabilities
  }

  override var hash: Int { capabilities.hashValue }
}
