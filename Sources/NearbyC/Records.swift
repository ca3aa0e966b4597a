// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyFusion
import NearbyGeometry

extension nearby_pose_outcome {
  init(_ outcome: PoseOutcome) {
    switch outcome {
    case .accepted: self = NEARBY_POSE_ACCEPTED
    case .acceptedAfterJump: self = NEARBY_POSE_JUMPED
    case .acceptedInstead: self = NEARBY_POSE_INSTEAD
    case .rejectedNotFinite: self = NEARBY_POSE_NOT_FINITE
    case .rejectedNotLater: self = NEARBY_POSE_NOT_LATER
    }
  }
}

extension nearby_component {
  @inline(__always)
  init(_ report: ComponentReport) {
    let (outcome, weight): (nearby_outcome, Double) =
      switch report.outcome {
      case .absent: (NEARBY_ABSENT, 0)
      case .fused(let weight): (NEARBY_FUSED, weight)
      case .rejectedAsOutlier(let weight): (NEARBY_OUTLIER, weight)
      case .rejected(.notFinite): (NEARBY_REJECTED_NOT_FINITE, 0)
      case .rejected(.outOfBounds): (NEARBY_REJECTED_OUT_OF_BOUNDS, 0)
      case .rejected(.invalidSigma): (NEARBY_REJECTED_INVALID_SIGMA, 0)
      case .rejected(.tooLate): (NEARBY_REJECTED_TOO_LATE, 0)
      case .rejected(.duplicate): (NEARBY_REJECTED_DUPLICATE, 0)
      case .rejected(.stuck): (NEARBY_REJECTED_STUCK, 0)
      case .rejected(.noPose): (NEARBY_REJECTED_NO_POSE, 0)
      case .rejected(.trackingNotAvailable): (NEARBY_REJECTED_NO_TRACKING, 0)
      case .rejected(.unknownPeer): (NEARBY_REJECTED_UNKNOWN_PEER, 0)
      }
    self.init(
      outcome: outcome, weight: weight, value: report.value, variance: report.variance,
      innovation: report.innovation, innovation_variance: report.innovationVariance)
  }
}

extension nearby_estimate {
  /// An estimate in the caller's frames.
  @inline(__always)
  init(_ estimate: PeerEstimate, _ frames: FrameConvention) {
    let nowhere = Vector3(.nan, .nan, .nan)
    let (convergence, reasons): (nearby_convergence, ConvergenceReasons) =
      switch estimate.convergence {
      case .unknown: (NEARBY_CONVERGENCE_UNKNOWN, [])
      case .notConverged(let reasons): (NEARBY_NOT_CONVERGED, reasons)
      case .converged: (NEARBY_CONVERGED, [])
      }
    let direction = estimate.direction.value.map(frames.deviceVector(fromEngine:)) ?? nowhere
    let world =
      estimate.worldTransform.value.map { frames.worldVector(fromEngine: $0.translation) }
      ?? nowhere
    let mean = estimate.positionInWorld.map(frames.worldVector(fromEngine:)) ?? nowhere
    let none = SymmetricMatrix3(xx: .nan, xy: .nan, xz: .nan, yy: .nan, yz: .nan, zz: .nan)
    let spread =
      estimate.positionInWorld == nil
      ? none : frames.worldCovariance(fromEngine: estimate.covarianceInWorld)
    self.init(
      nanoseconds: estimate.timestamp.nanoseconds,
      peer: UInt32(truncatingIfNeeded: estimate.peer.index), convergence: convergence,
      reasons: UInt32(reasons.rawValue),
      vertical: nearby_vertical(rawValue: UInt32(estimate.verticalDirection.number)),
      hypothesis_count: Int32(truncatingIfNeeded: estimate.hypothesisCount),
      is_searching: estimate.isSearching ? 1 : 0, distance: estimate.distance.value ?? .nan,
      distance_sigma: estimate.distance.sigma, direction: (direction.x, direction.y, direction.z),
      direction_sigma: estimate.direction.sigma,
      horizontal_angle: estimate.horizontalAngleRadians.value ?? .nan,
      horizontal_angle_sigma: estimate.horizontalAngleRadians.sigma,
      height_difference: estimate.heightDifference.value ?? .nan,
      height_difference_sigma: estimate.heightDifference.sigma, world: (world.x, world.y, world.z),
      world_sigma: estimate.worldTransform.sigma, mean: (mean.x, mean.y, mean.z),
      covariance: (spread.xx, spread.xy, spread.xz, spread.yy, spread.yz, spread.zz))
  }
}

extension nearby_counts {
  mutating func count(_ outcome: PoseOutcome) {
    switch outcome {
    case .accepted: poses_accepted += 1
    case .acceptedAfterJump:
      poses_accepted += 1
      poses_jumped += 1
    case .acceptedInstead:
      // The pose that is taken back was counted as accepted.
      poses_not_later += 1
    case .rejectedNotFinite: poses_not_finite += 1
    case .rejectedNotLater: poses_not_later += 1
    }
  }

  mutating func count(_ use: SampleReport.Use) {
    switch use {
    case .all: samples_used += 1
    case .partial: samples_partial += 1
    case .rejected: samples_rejected += 1
    }
  }
}
