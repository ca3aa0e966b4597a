// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyFusion
package import NearbyGeometry
internal import NearbyRecordings
package import NearbySimulation

/// An engine's state after one sample, compared with the truth.
package struct Moment: Sendable {
  /// Seconds after the start of the run.
  package var seconds: Double
  /// Whether it has converged, or the reasons why not.
  package var convergence: Convergence
  /// The estimated position minus the true one, both in the odometry's world, metres; `nil` without
  /// an estimate.
  ///
  /// It has the same length and the same normalised square as the error relative to the device in
  /// the device's frame, since the two differ by the device's rotation.
  package var errorInOdometry: Vector3?
  /// The square root of the trace of the claimed covariance, metres.
  package var claimedSigma: Double
  /// The normalised estimation error squared, three degrees of freedom; `nil` when the claimed
  /// covariance is not positive definite.
  package var normalizedErrorSquared: Double?
  /// The bound on the square root of the trace of the covariance, metres.
  package var bound: Double
  /// The true distance from the device to the peer, metres.
  package var distance: Double
  /// The true height of the peer over the device, metres.
  package var heightDifference: Double
  /// The length of the path that the device has travelled, metres.
  package var travelled: Double
  /// The errors of the published outputs.
  package var outputs: OutputErrors
  /// For each kind of measurement: innovation squared over its variance, for those that are true
  /// inliers and that the engine compared with a prediction.
  package var normalizedInnovationSquared: PerKind<Double?>
  /// Whether the sample contradicts the peer's position before the run's event.
  ///
  /// See ``RunEvent/isContradicted(by:in:)``.
  package var contradictsFormerPlace = false
  /// What the sample has revealed of the past.
  package var event: SampleEvent?
  /// How many hypotheses the filter holds.
  package var hypothesisCount: Int

  /// The errors of the published outputs; `nil` for outputs that were not published.
  package struct OutputErrors: Sendable {
    /// Estimated minus true distance, metres.
    package var distance: Double?
    /// The angle between the estimated and the true direction, radians.
    package var directionRadians: Double?
    /// Estimated minus true horizontal angle, radians, wrapped.
    package var horizontalAngleRadians: Double?
    /// Estimated minus true height of the peer over the device, metres.
    package var height: Double?
    /// The published vertical direction.
    package var verticalDirection: VerticalDirectionEstimate
    /// Whether there was a world transform.
    package var isPlaced: Bool
    /// Whether the distance or the horizontal angle was wrong (``PublishedOutputs``).
    package var areWrong = false

    /// Makes the errors when nothing was published.
    package init() {
      verticalDirection = .unknown
      isPlaced = false
    }
  }

  /// Whether the engine has converged.
  package var isConverged: Bool { convergence == .converged }

  /// The length of the error of the peer's position relative to the device, metres; infinite without
  /// an estimate.
  package var error: Double { errorInOdometry?.length ?? .infinity }

  /// Whether this is a false convergence: an error beyond both 0.5 m and 3.4 claimed sigma.
  package var isFalselyConverged: Bool {
    isConverged && Self.isFalse(error: error, claimedSigma: claimedSigma)
  }

  /// Whether an error refutes a claim: it is beyond both 0.5 m and 3.4 claimed sigma.
  ///
  /// - Parameters:
  ///   - error: The length of the error, metres.
  ///   - claimedSigma: The square root of the trace of the claimed covariance, metres.
  /// - Returns: Whether it does.
  static func isFalse(error: Double, claimedSigma: Double) -> Bool {
    error > 0.5 && error > 3.4 * claimedSigma
  }

  /// Whether the bound meets the engine's criterion of convergence: max(0.35 m, 7 % of the distance).
  package var isConvergencePossible: Bool { bound <= max(0.35, 0.07 * distance) }

  /// Whether the engine reports the wrong vertical direction.
  package var isOnWrongSide: Bool {
    outputs.verticalDirection == .above && heightDifference < 0
      || outputs.verticalDirection == .below && heightDifference > 0
  }
}

extension Moment {
  /// Makes the moment after a sample.
  ///
  /// - Parameters:
  ///   - estimate: The engine's estimate.
  ///   - report: The engine's report on the sample.
  ///   - sample: The sample.
  ///   - truth: The newest sample so far, which a late sample is not. The estimate is compared with
  ///     the truth at its time.
  ///   - bound: The bound at that time, metres.
  package init(
    estimate: PeerEstimate, report: SampleReport, of sample: SimulatedRun.Sample,
    truth: SimulatedRun.Sample, bound: Double
  ) {
    let fromDevice = truth.peerInOdometry - truth.odometryFromDevice.translation
    let difference = estimate.positionInWorld.map { $0 - truth.peerInOdometry }
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
    normalizedInnovationSquared = PerKind { kind in
      Self.normalizedSquare(report[kind], isFaulty: sample.faults[kind])
    }
    event = report.event
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
    areWrong = PublishedOutputs(estimate).areWrong(fromDevice: fromDevice, device.rotation)
  }
}
