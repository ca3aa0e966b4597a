// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// How much farther one anchor is than another, as a receiver of their messages measures it.
public struct RangeDifference: Hashable, Sendable {
  /// When, on the clock of the poses.
  public var timestamp: Timestamp
  /// The anchor whose distance is taken off, by its index.
  public var from: Int
  /// The anchor whose distance it is taken off from, by its index.
  public var to: Int
  /// Distance to ``to`` minus distance to ``from``, with what their clocks add, metres.
  public var metres: Double
  /// One standard deviation, metres; `nil` for that of the configuration.
  public var sigma: Double?

  /// Makes one.
  public init(
    timestamp: Timestamp, from: Int, to: Int, metres: Double, sigma: Double? = nil
  ) {
    self.timestamp = timestamp
    self.from = from
    self.to = to
    self.metres = metres
    self.sigma = sigma
  }
}

/// How a range difference was treated.
public enum RangeDifferenceOutcome: String, Hashable, Sendable {
  /// It is used.
  case accepted
  /// It was left out: no number, too large to be one, or of anchors that there are not.
  case rejectedNotADifference
  /// It was left out: no pose tells where the device was.
  case rejectedWithoutPose
  /// It was left out: it is older than the oldest knot.
  case rejectedTooLate
}

/// The posterior of an anchor's place and clock.
public struct AnchorEstimate: Hashable, Sendable {
  /// Its place in the fixed world, metres.
  public var position: Estimated<Vector3>
  /// The covariance of that place, m².
  public var covariance: SymmetricMatrix3
  /// The error of its clock against the first anchor's, as a length, metres.
  public var clockError: Double
  /// The rate of that error, metres per second.
  public var clockRate: Double
}

/// Locates a device that only listens, by how much farther one anchor is than another, with the odometry
/// between the measurements.
///
/// The antenna at p hears messages of anchors at `a_i`, whose clocks are wrong by `c_i` metres:
///
///     δ = |p - a_to| - |p - a_from| + c_to - c_from + noise
///
/// Unknown are the device's place and yaw at knots on its path, with the odometry's drift in between; the
/// error of each anchor's clock at those knots, whose rate walks at random, that of the first anchor being
/// zero; and the places of anchors that are not known exactly. All are found at once by least squares with
/// a mixture of inliers and outliers (the chain of the joint fit), from many starts at first, so that a
/// mirror image is found: as long as two places explain the differences about as well, there is no fix.
///
/// Places are those of the site where any anchor has one, and else those of the odometry's world as it was
/// at the first difference: gravity aligned, y up, metres. Differences of one moment count as independent.
/// Cost: ``locate()`` is a fit of up to 48 knots.
public struct RangeDifferenceLocator: Sendable {
  /// The priors of the anchors' places.
  public var anchors: [AnchorPlacement] { window.anchors }

  private let configuration: FusionConfiguration
  private var trajectory: Trajectory
  private var window: DifferenceWindow

  /// Makes a locator that has seen nothing.
  ///
  /// - Parameters:
  ///   - anchors: The priors of the anchors' places.
  ///   - clocks: How their clocks err.
  ///   - configuration: How accurate ranges and odometry are, and how often ranges are outliers.
  /// - Throws: The first setting that makes no sense, or an anchor that is nowhere.
  public init(
    anchors: [AnchorPlacement], clocks: AnchorClocks = .synchronized,
    _ configuration: FusionConfiguration = FusionConfiguration()
  ) throws(FusionConfigurationError) {
    try configuration.validate()
    try clocks.validate()
    for (index, anchor) in anchors.enumerated() {
      if let place = anchor.place, !(place.isFinite && place.length < 1e6) {
        throw FusionConfigurationError(setting: "anchors[\(index)]", problem: "must be a place")
      }
      if case .uncertain(_, let sigma) = anchor, !(sigma >= 0 && sigma < 1e6) {
        throw FusionConfigurationError(
          setting: "anchors[\(index)].sigma", problem: "must be 0 to 1e6")
      }
    }
    window = DifferenceWindow(anchors: anchors, clocks: clocks, configuration)
    self.configuration = configuration
    trajectory = Trajectory(
      odometry: configuration.odometry, maximumLateness: configuration.ranging.maximumLateness)
  }

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: How it was treated.
  @discardableResult
  public mutating func add(_ pose: DevicePose) -> PoseOutcome { trajectory.append(pose) }

  /// Sets the odometry's quality from now on.
  ///
  /// - Parameter sample: Its report.
  public mutating func add(_ sample: TrackingSample) { trajectory.setQuality(sample.quality) }

  /// Adds a range difference.
  ///
  /// - Parameter difference: The difference, not before the pose of its moment.
  /// - Returns: How it was treated.
  @discardableResult
  public mutating func add(_ difference: RangeDifference) -> RangeDifferenceOutcome {
    let sigma = difference.sigma ?? Self.sigma(configuration)
    guard anchors.indices.contains(difference.from), anchors.indices.contains(difference.to),
      difference.from != difference.to, abs(difference.metres) < Self.largest, sigma > 1e-6,
      sigma < 1e6
    else { return .rejectedNotADifference }
    guard let device = trajectory.point(at: difference.timestamp), device.isTracked else {
      return .rejectedWithoutPose
    }
    return window.add(difference, sigma: sigma, from: device) ? .accepted : .rejectedTooLate
  }

  /// Where the device is at the newest pose.
  ///
  /// - Returns: The fix; `nil` before the first pose and the first difference.
  public mutating func locate() -> AnchorFix? {
    guard let device = trajectory.newest, let fix = window.locate(at: device) else { return nil }
    return AnchorFix(fix, at: device)
  }

  /// What the differences say of the anchors' places, those numbered as in ``anchors``.
  public var surveyVerdict: SurveyVerdict { window.verdict }

  /// The anchors as of the newest fix, in the order of ``anchors``; empty before there is one.
  public var anchorEstimates: [AnchorEstimate] { window.anchorEstimates }

  /// Beyond this a difference is no measurement, metres: a millisecond, with which clocks may be wrong.
  private static let largest = 3e5

  /// The sigma of a difference that states none: two independent ranges.
  private static func sigma(_ configuration: FusionConfiguration) -> Double {
    configuration.ranging.rangeSigma * 2.0.squareRoot()
  }
}
