// SPDX-License-Identifier: Apache-2.0

/// The capabilities of a device.
public struct DeviceCapabilities: OptionSet, Hashable, Sendable, Codable {
  /// One bit for each capability; part of the archive of a token, so bits keep their meaning.
  public let rawValue: UInt8

  /// Makes a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Distances, which everything else requires.
  public static let preciseDistance = DeviceCapabilities(rawValue: 1 << 0)
  /// Angles of arrival from an antenna array, without a camera.
  public static let direction = DeviceCapabilities(rawValue: 1 << 1)
  /// A camera whose odometry is fused with the radio.
  public static let cameraAssistance = DeviceCapabilities(rawValue: 1 << 2)
  /// Ranging far beyond the usual reach.
  public static let extendedDistance = DeviceCapabilities(rawValue: 1 << 3)
  /// Messages of anchors, from which it locates itself without answering.
  public static let downlink = DeviceCapabilities(rawValue: 1 << 4)

  /// A phone with an antenna array, as those of 2019 to 2021.
  public static let phoneWithAntennaArray: DeviceCapabilities = [
    .preciseDistance, .direction, .cameraAssistance,
  ]
  /// A phone that finds directions with its camera only, as those from 2022 on.
  public static let phoneWithoutAntennaArray: DeviceCapabilities = [
    .preciseDistance, .cameraAssistance, .extendedDistance,
  ]
  /// A watch: distances only.
  public static let watch: DeviceCapabilities = [.preciseDistance]
}
