// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// The source of measurements, which provides the devices on which sessions run.
public protocol NearbyEnvironment: AnyObject, Sendable {
  /// The device of a session or an AR session that is made without a device.
  func defaultDevice() -> any NearbyDevice
  /// The capabilities of such a device.
  var defaultCapabilities: DeviceCapabilities { get }
}

/// The environment of this process.
///
/// Unless the host sets another one, the environment variable `NEARBY_ENVIRONMENT` selects it
/// (``EnvironmentSelection``). So an app that does not use this module has an environment, too.
public enum NearbyEnvironments {
  private static let chosen = Locked<(any NearbyEnvironment)?>(nil)

  /// The environment in which new sessions are made.
  public static var current: any NearbyEnvironment {
    get {
      chosen.withLock { chosen in
        if let chosen { return chosen }
        let environment = EnvironmentSelection().environment()
        chosen = environment
        return environment
      }
    }
    set { chosen.withLock { $0 = newValue } }
  }
}
