// SPDX-License-Identifier: Apache-2.0
public import ARKit
internal import NearbyEnvironment
public import NearbyFusion
internal import NearbyGeometry

// Locates an app among anchors, by a session with each of them and one AR session.
extension AnchorLocator {
  /// Extends the device's trajectory by a frame of an AR session.
  ///
  /// - Parameter frame: The frame.
  /// - Returns: How the locator treated its pose.
  @discardableResult
  public mutating func add(_ frame: ARFrame) -> PoseOutcome { add(DevicePose(frame)) }

  /// Adds a session's measurement of an anchor.
  ///
  /// - Parameters:
  ///   - object: The object that the session's delegate got.
  ///   - anchor: The anchor's index in the locator's `anchors`.
  /// - Returns: Whether its range is used.
  @discardableResult
  public mutating func add(_ object: NINearbyObject, to anchor: Int) -> Bool {
    guard let measurement = object.measurement, let distance = measurement.distance else {
      return false
    }
    return add(
      distance, to: anchor, sigma: measurement.distanceSigma, at: measurement.timestamp)
  }
}

extension DevicePose {
  /// The pose of a frame, in device axes.
  init(_ frame: ARFrame) {
    self.init(
      timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: frame.timestamp),
      worldFromDevice: frame.camera.worldFromDevice)
  }
}
