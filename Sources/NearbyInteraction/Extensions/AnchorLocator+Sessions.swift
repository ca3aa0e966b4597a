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
  public mutating func add(_ frame: ARFrame) -> PoseOutcome {
    let transform = frame.camera.transform
    return add(
      DevicePose(
        timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: frame.timestamp),
        worldFromDevice: RigidTransform(
          rotation: Rotation(
            xAxis: Vector3(transform.columns.0), yAxis: Vector3(transform.columns.1),
            zAxis: Vector3(transform.columns.2)),
          translation: Vector3(transform.columns.3))))
  }

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

extension Vector3 {
  /// The first three components, in double precision.
  fileprivate init(_ column: simd_float4) {
    self.init(Double(column.x), Double(column.y), Double(column.z))
  }
}
