// SPDX-License-Identifier: Apache-2.0

extension Rotation {
  /// Takes the axes of ARKit's camera to those of the device in portrait.
  ///
  /// `ARCamera.transform` is worldFromCamera. ARKit names the camera's axes for a phone in landscape
  /// with the home button at the right: +x toward the bottom of the phone, +y toward its right edge,
  /// +z out of the screen. The pose of the device in ``DeviceAxes/arkit``, as engine and recordings
  /// expect it, is `worldFromCamera * deviceFromCamera.inverse`: x is the camera's +y and y is its -x.
  public static let deviceFromARKitCamera = Rotation(
    xAxis: Vector3(0, -1, 0), yAxis: Vector3(1, 0, 0), zAxis: Vector3(0, 0, 1))
}
