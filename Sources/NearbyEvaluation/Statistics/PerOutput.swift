// SPDX-License-Identifier: Apache-2.0

/// A number for each output.
public struct PerOutput: Sendable, Codable {
  /// Of the distance.
  public var distance: Double?
  /// Of the direction.
  public var direction: Double?
  /// Of the horizontal angle.
  public var horizontalAngle: Double?
  /// Of the height, or of the vertical direction.
  public var vertical: Double?
  /// Of the world transform.
  public var worldTransform: Double?
}
