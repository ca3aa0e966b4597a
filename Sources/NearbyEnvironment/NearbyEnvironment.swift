// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Where measurements come from: it hands out the devices on which sessions run.
public protocol NearbyEnvironment: AnyObject, Sendable {
  /// The device of a session or of an AR session that is made without naming one.
  func defaultDevice() -> any NearbyDevice
  /// What such a device can measure.
  var defaultCapabilities: DeviceCapabilities { get }
}

/// The environment of this process.
///
/// Unless the host sets another, it is the one that the environment variable `NEARBY_ENVIRONMENT`
/// names (``EnvironmentSelection``), so that an app that knows nothing of this module gets one, too.
public enum NearbyEnvironments {
  private static let chosen = Mutex<(any NearbyEnvironment)?>(nil)

  /// The environment in which sessions are made from now on.
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
