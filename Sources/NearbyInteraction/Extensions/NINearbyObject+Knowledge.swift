// SPDX-License-Identifier: Apache-2.0
internal import ARKit
internal import Foundation
public import NearbyEnvironment
public import NearbyFusion
public import NearbyGeometry

// What Apple's interface leaves out. All of it is `nil` for an object that comes from an archive or
// from a callback that carries no measurement, such as `didRemove`.
extension NINearbyObject {
  /// When the measurement was made, on the device's monotonic clock.
  public var timestamp: Timestamp? { knowledge?.measurement.timestamp }

  /// What the radio measured, without distances and angles that cannot be: with it come the peer's
  /// address, the signal strength and the offset of the clocks, if the radio tells them.
  public var measurement: RadioMeasurement? { knowledge?.measurement }

  /// What the engine did with the measurement; `nil` without camera assistance.
  public var report: SampleReport? { knowledge?.report }

  /// The engine's whole estimate, before the gates of Apple's interface; `nil` without camera
  /// assistance.
  public var estimate: PeerEstimate? { knowledge?.estimate }

  /// The distance, smoothed, and its rate, from the ranges alone: the most that a device without camera
  /// and antenna array knows; `nil` when the peer has not been heard lately.
  public var smoothedRange: RangeEstimate? { knowledge?.smoothedRange }

  /// Whether the peer is so near that measurements are as good as the device says.
  public var isWithinValidatedRange: Bool? {
    guard let distance, let knowledge else { return nil }
    return Double(distance) <= knowledge.validatedRange
  }

  /// One standard deviation of ``distance``, metres: of the radio's constant error, too.
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

  /// The covariance of the peer's place in the odometry's world, m²; `nil` without camera assistance.
  public var covarianceInWorld: SymmetricMatrix3? { knowledge?.estimate?.covarianceInWorld }

  /// How far each sweep has got; `nil` without camera assistance.
  public var progress: ConvergenceProgress? { knowledge?.estimate?.progress }

  /// How well the device points at the peer: 1 straight at it, 0 across, -1 away.
  ///
  /// From ``direction``, else from ``horizontalAngle``. The peer with the largest is the one that the
  /// user means.
  public var pointing: Float? {
    direction.map { -$0.z } ?? horizontalAngle.map { cos($0) }
  }

  /// Why a quantity is `nil`.
  public enum AbsenceReason: String, Hashable, Sendable {
    /// The peer has not been heard lately.
    case outOfReach
    /// It needs camera assistance, which is off.
    case withoutCameraAssistance
    /// It needs an antenna array or camera assistance, and there is neither.
    case noAntennaArray
    /// The peer is outside the antennas' cone, or something is in the way.
    case outsideFieldOfView
    /// The device has not moved enough, or the scene is dark.
    case notConverged
    /// The posterior is too wide.
    case tooUncertain
  }

  /// Why ``distance`` is `nil`; `nil` when it is not.
  public var distanceAbsence: AbsenceReason? {
    distance == nil && knowledge != nil ? .outOfReach : nil
  }

  /// Why ``direction`` is `nil`; `nil` when it is not.
  public var directionAbsence: AbsenceReason? {
    guard direction == nil, let knowledge else { return nil }
    if !knowledge.isFresh || distance == nil { return .outOfReach }
    guard let estimate = knowledge.estimate else {
      return knowledge.measuresAngles ? .outsideFieldOfView : .noAntennaArray
    }
    // The engine knows it, and strict compatibility holds it back.
    return estimate.direction.value == nil ? .tooUncertain : .outsideFieldOfView
  }

  /// Why ``horizontalAngle`` is `nil`; `nil` when it is not.
  public var horizontalAngleAbsence: AbsenceReason? {
    guard horizontalAngle == nil, let knowledge else { return nil }
    guard let estimate = knowledge.estimate else { return .withoutCameraAssistance }
    if !knowledge.isFresh { return .outOfReach }
    return estimate.horizontalAngleRadians.value == nil ? .tooUncertain : .notConverged
  }

  /// What the user could do, beyond Apple's reasons; the most useful comes first.
  public enum Advice: String, Hashable, Sendable, CaseIterable {
    /// The peer is out of reach, or beyond the range within which measurements are good.
    case comeCloser
    /// Something stands in the line of sight.
    case clearTheView
    /// The peer is outside the antennas' cone: turn the back of the device to it.
    case facePeer

    /// What to tell the user.
    public var localizedDescription: String {
      switch self {
      case .comeCloser: "Move closer."
      case .clearTheView: "Something is in the way."
      case .facePeer: "Point the back of the device at the peer."
      }
    }
  }

  /// What the user could do to be measured better, beyond what convergence asks for.
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
