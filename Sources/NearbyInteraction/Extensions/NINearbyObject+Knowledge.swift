// SPDX-License-Identifier: Apache-2.0
internal import ARKit
internal import Foundation
public import NearbyEnvironment
public import NearbyFusion
public import NearbyGeometry

// Information beyond Apple's interface. All of it is `nil` for an object from an archive or from a
// callback without a measurement, such as `didRemove`.
extension NINearbyObject {
  /// The time of the measurement, on the device's monotonic clock.
  public var timestamp: Timestamp? { knowledge?.measurement.timestamp }

  /// The radio's measurement, without impossible distances and angles.
  ///
  /// It includes the peer's address, the signal strength and the clock offset, if the radio reports
  /// them.
  public var measurement: RadioMeasurement? { knowledge?.measurement }

  /// The engine's report on the measurement; `nil` without camera assistance.
  public var report: SampleReport? { knowledge?.report }

  /// The engine's whole estimate, before the gates of Apple's interface; `nil` without camera
  /// assistance.
  public var estimate: PeerEstimate? { knowledge?.estimate }

  /// The smoothed distance and its rate, from the ranges alone, which is all that a device without
  /// camera and antenna array can know; `nil` when the peer was not measured recently.
  public var smoothedRange: RangeEstimate? { knowledge?.smoothedRange }

  /// Whether the peer is within the range for which the device's accuracy is specified.
  public var isWithinValidatedRange: Bool? {
    guard let distance, let knowledge else { return nil }
    return Double(distance) <= knowledge.validatedRange
  }

  /// One standard deviation of ``distance``, metres, including the radio's constant error.
  public var distanceSigma: Double? {
    guard distance != nil, let knowledge else { return nil }
    if let estimate = knowledge.estimate, estimate.distance.value != nil {
      return estimate.distance.sigma
    }
    let ranging = knowledge.ranging
    let noise = knowledge.measurement.distanceSigma ?? ranging.rangeSigma
    let scale = ranging.rangeScaleSigma * (knowledge.measurement.distance ?? 0)
    let bias = ranging.rangeBiasSigma
    return (noise * noise + bias * bias + scale * scale).squareRoot()
  }

  /// One standard deviation of ``direction``, radians about each axis across it.
  public var directionSigmaRadians: Double? {
    guard direction != nil, let knowledge else { return nil }
    if let estimate = knowledge.estimate { return estimate.direction.sigma }
    return max(
      knowledge.measurement.azimuthSigmaRadians ?? knowledge.ranging.azimuthSigmaRadians,
      knowledge.measurement.elevationSigmaRadians ?? knowledge.ranging.elevationSigmaRadians)
  }

  /// One standard deviation of ``horizontalAngle``, radians.
  public var horizontalAngleSigmaRadians: Double? {
    horizontalAngle == nil ? nil : knowledge?.estimate?.horizontalAngleRadians.sigma
  }

  /// The covariance of the peer's position in the odometry's world, m²; `nil` without camera
  /// assistance.
  public var covarianceInWorld: SymmetricMatrix3? { knowledge?.estimate?.covarianceInWorld }

  /// The progress of each sweep; `nil` without camera assistance.
  public var progress: ConvergenceProgress? { knowledge?.estimate?.progress }

  /// How well the device points at the peer: 1 straight at it, 0 at a right angle, -1 away from it.
  ///
  /// It is computed from ``direction``, or else from ``horizontalAngle``. The user most likely
  /// means the peer with the largest value.
  public var pointing: Float? {
    direction.map { -$0.z } ?? horizontalAngle.map { cos($0) }
  }

  /// The reason why a quantity is `nil`.
  public enum AbsenceReason: String, Hashable, Sendable {
    /// The peer was not measured recently.
    case outOfReach
    /// It needs camera assistance, which is off.
    case withoutCameraAssistance
    /// It needs an antenna array or camera assistance, and there is neither.
    case noAntennaArray
    /// The peer is outside the antennas' cone, or the line of sight is obstructed.
    case outsideFieldOfView
    /// The device has not moved enough, or the scene is dark.
    case notConverged
    /// The posterior is too wide.
    case tooUncertain
  }

  /// The reason why ``distance`` is `nil`; `nil` when it has a value.
  public var distanceAbsence: AbsenceReason? {
    distance == nil && knowledge != nil ? .outOfReach : nil
  }

  /// The reason why ``direction`` is `nil`; `nil` when it has a value.
  public var directionAbsence: AbsenceReason? {
    guard direction == nil, let knowledge else { return nil }
    if !knowledge.isFresh || distance == nil { return .outOfReach }
    guard let estimate = knowledge.estimate else {
      return knowledge.measuresAngles ? .outsideFieldOfView : .noAntennaArray
    }
    // The engine has a value that strict compatibility withholds.
    return estimate.direction.value == nil ? .tooUncertain : .outsideFieldOfView
  }

  /// The reason why ``horizontalAngle`` is `nil`; `nil` when it has a value.
  public var horizontalAngleAbsence: AbsenceReason? {
    guard horizontalAngle == nil, let knowledge else { return nil }
    guard let estimate = knowledge.estimate else { return .withoutCameraAssistance }
    if !knowledge.isFresh { return .outOfReach }
    return estimate.horizontalAngleRadians.value == nil ? .tooUncertain : .notConverged
  }

  /// Advice to the user beyond Apple's reasons, in order of usefulness.
  public enum Advice: String, Hashable, Sendable, CaseIterable {
    /// The peer is out of reach, or beyond the validated range.
    case comeCloser
    /// The line of sight is obstructed.
    case clearTheView
    /// The peer is outside the antennas' cone: turn the back of the device to it.
    case facePeer

    /// A text for the user.
    public var localizedDescription: String {
      switch self {
      case .comeCloser: "Move closer."
      case .clearTheView: "Something is in the way."
      case .facePeer: "Point the back of the device at the peer."
      }
    }
  }

  /// Advice for better measurements, beyond the reasons of convergence.
  public var advice: [Advice] {
    guard let knowledge else { return [] }
    var advice: [Advice] = []
    if !knowledge.isFresh || isWithinValidatedRange == false { advice.append(.comeCloser) }
    if knowledge.measurement.isNonLineOfSight == true { advice.append(.clearTheView) }
    if knowledge.measuresAngles, knowledge.measurement.distance != nil,
      knowledge.measurement.azimuthRadians == nil
    {
      advice.append(.facePeer)
    }
    return advice
  }
}
