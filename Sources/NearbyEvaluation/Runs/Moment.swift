// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyFusion
public import NearbyGeometry
public import NearbySimulation

/// What an engine said after one sample, beside the truth.
public struct Moment: Sendable {
  /// Seconds after the start of the run.
  public var seconds: Double
  /// Whether it has converged, or what stands in the way.
  public var convergence: Convergence
  /// The estimated position minus the true one, both in the odometry's world, metres; `nil` without
  /// an estimate.
  ///
  /// As long as the error relative to the device in the device's frame, and with the same normalised
  /// square: the two differ by the device's rotation.
  public var errorInOdometry: Vector3?
  /// The square root of the trace of the claimed covariance, metres.
  public var claimedSigma: Double
  /// The normalised estimation error squared, three degrees of freedom; `nil` when the claimed
  /// covariance is not positive definite.
  public var normalizedErrorSquared: Double?
  /// The bound on the square root of the trace of the covariance, metres.
  public var bound: Double
  /// The true distance from the device to the peer, metres.
  public var distance: Double
  /// The true height of the peer over the device, metres.
  public var heightDifference: Double
  /// The length of the path that the device has travelled, metres.
  public var travelled: Double
  /// The errors of what was published.
  public var outputs: OutputErrors
  /// For range, azimuth and elevation: innovation squared over its variance, of measured components
  /// that are honest in truth and that the engine compared with a prediction.
  public var normalizedInnovationSquared: InlineArray<3, Double?>
  /// Whether the sample contradicts the place where the peer was before the run's event.
  ///
  /// See ``RunEvent/isContradicted(by:radio:)``.
  public var contradictsFormerPlace = false
  /// How many hypotheses are alive.
  public var hypothesisCount: Int

  /// The errors of the outputs that were published; `nil` for those that were not.
  public struct OutputErrors: Sendable {
    /// Estimated minus true distance, metres.
    public var distance: Double?
    /// The angle between the estimated and the true direction, radians.
    public var directionRadians: Double?
    /// Estimated minus true horizontal angle, radians, wrapped.
    public var horizontalAngleRadians: Double?
    /// Estimated minus true height of the peer over the device, metres.
    public var height: Double?
    /// The word on above and below.
    public var verticalDirection: VerticalDirectionEstimate
    /// Whether there was a world transform.
    public var isPlaced: Bool

    /// Makes the errors of nothing published.
    public init() {
      verticalDirection = .unknown
      isPlaced = false
    }
  }

  /// Whether it has converged.
  public var isConverged: Bool { convergence == .converged }

  /// The length of the error of the peer's position relative to the device, metres; infinite without
  /// an estimate.
  public var error: Double { errorInOdometry?.length ?? .infinity }

  /// Whether this is a false convergence: an error beyond both 0.5 m and 3.4 claimed sigma.
  public var isFalselyConverged: Bool {
    isConverged && error > 0.5 && error > 3.4 * claimedSigma
  }

  /// Whether the bound meets the engine's criterion of convergence: max(0.35 m, 7 % of the distance).
  public var isConvergencePossible: Bool { bound <= max(0.35, 0.07 * distance) }

  /// Whether the engine names a side, and the wrong one.
  public var isOnWrongSide: Bool {
    outputs.verticalDirection == .above && heightDifference < 0
      || outputs.verticalDirection == .below && heightDifference > 0
  }
}

extension Moment {
  /// Makes the moment after a sample.
  ///
  /// - Parameters:
  ///   - estimate: What the engine said.
  ///   - report: What it made of the sample.
  ///   - sample: The sample.
  ///   - truth: The newest sample so far, which a late one is not: the truth at its moment is what the
  ///     estimate is held against.
  ///   - bound: The bound at that moment, metres.
  public init(
    estimate: PeerEstimate, report: SampleReport, of sample: SimulatedRun.Sample,
    truth: SimulatedRun.Sample, bound: Double
  ) {
    let fromDevice = truth.peerInOdometry - truth.odometryFromDevice.translation
    let difference = estimate.meanInWorld.map { $0 - truth.peerInOdometry }
    seconds = truth.seconds
    convergence = estimate.convergence
    errorInOdometry = difference
    claimedSigma = estimate.covarianceInWorld.trace.squareRoot()
    normalizedErrorSquared = difference.flatMap { difference in
      estimate.covarianceInWorld.positiveDefiniteInverse?.quadraticForm(difference)
    }
    self.bound = bound
    distance = fromDevice.length
    heightDifference = fromDevice.y
    travelled = truth.travelled
    outputs = OutputErrors(estimate, device: truth.odometryFromDevice, fromDevice: fromDevice)
    normalizedInnovationSquared = [
      Self.normalizedSquare(report.range, isFaulty: sample.isRangeFaulty),
      Self.normalizedSquare(report.azimuth, isFaulty: sample.isAzimuthFaulty),
      Self.normalizedSquare(report.elevation, isFaulty: sample.isElevationFaulty),
    ]
    hypothesisCount = estimate.hypothesisCount
  }

  private static func normalizedSquare(_ report: ComponentReport, isFaulty: Bool) -> Double? {
    switch report.outcome {
    case .absent, .rejected: nil
    case .fused, .rejectedAsOutlier:
      isFaulty ? nil : report.innovation * report.innovation / report.innovationVariance
    }
  }
}

extension Moment.OutputErrors {
  fileprivate init(_ estimate: PeerEstimate, device: RigidTransform, fromDevice: Vector3) {
    distance = estimate.distance.value.map { $0 - fromDevice.length }
    directionRadians = estimate.direction.value.map { direction in
      let truth = device.rotation.inverse.act(fromDevice)
      return atan2(direction.cross(truth).length, direction.dot(truth))
    }
    horizontalAngleRadians = estimate.horizontalAngleRadians.value.map { angle in
      (angle - Heading(device.rotation).bearing(of: fromDevice)).wrappedAngle
    }
    height = estimate.heightDifference.value.map { $0 - fromDevice.y }
    verticalDirection = estimate.verticalDirection
    isPlaced = estimate.worldTransform.value != nil
  }
}
