// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyFusion
public import NearbyGeometry

/// The outputs relative to the device that were published at a moment, converged or not.
///
/// An output that was withheld claims nothing, and cannot be wrong.
public struct PublishedOutputs: Hashable, Sendable {
  /// A value with one standard deviation.
  public struct Value: Hashable, Sendable {
    /// The value: metres, or radians.
    public var value: Double
    /// One standard deviation, in the same unit.
    public var sigma: Double

    /// Makes a value.
    public init(value: Double, sigma: Double) {
      self.value = value
      self.sigma = sigma
    }
  }

  /// The distance from the device, metres.
  public var distance: Value?
  /// The bearing from the device's heading, clockwise as seen from above, radians.
  public var horizontalAngleRadians: Value?

  /// Makes the outputs of a moment; `nil` for what was withheld.
  public init(distance: Value? = nil, horizontalAngleRadians: Value? = nil) {
    self.distance = distance
    self.horizontalAngleRadians = horizontalAngleRadians
  }

  /// Takes the outputs of an estimate.
  package init(_ estimate: PeerEstimate) {
    distance = Value(estimate.distance)
    horizontalAngleRadians = Value(estimate.horizontalAngleRadians)
  }

  /// Takes the outputs of a row of `estimates.csv`; one without a sigma claims nothing.
  package init(_ row: EstimateRow) {
    distance = Value(row.distance, row.distanceSigma)
    horizontalAngleRadians = Value(row.horizontalAngleRadians, row.horizontalAngleSigmaRadians)
  }

  /// Whether an output is wrong: off by more than 0.5 m or 15°, and by more than four of its sigmas.
  ///
  /// - Parameters:
  ///   - fromDevice: The true place of the peer relative to the device, in a world with y up, metres.
  ///   - device: The device's true attitude in that world.
  /// - Returns: Whether any output is.
  public func areWrong(fromDevice: Vector3, _ device: Rotation) -> Bool {
    if let distance, distance.isWrong(by: distance.value - fromDevice.length, beyond: Self.metres) {
      return true
    }
    // Straight above or below the device there is no bearing.
    guard let angle = horizontalAngleRadians, hypot(fromDevice.x, fromDevice.z) > Self.metres else {
      return false
    }
    let error = (angle.value - Heading(device).bearing(of: fromDevice)).wrappedAngle
    return angle.isWrong(by: error, beyond: Self.angle)
  }

  /// What one would notice.
  private static let metres = 0.5
  private static let angle = 15.0.degreesAsRadians
}

extension PublishedOutputs.Value {
  fileprivate init?(_ output: Estimated<Double>) {
    self.init(output.value, output.sigma)
  }

  fileprivate init?(_ value: Double?, _ sigma: Double?) {
    guard let value, let sigma else { return nil }
    self.init(value: value, sigma: sigma)
  }

  private static let sigmas = 4.0

  fileprivate func isWrong(by error: Double, beyond limit: Double) -> Bool {
    abs(error) > limit && abs(error) > Self.sigmas * sigma
  }
}
