// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Where a device is among anchors of known places.
public struct AnchorFix: Hashable, Sendable {
  /// The moment for which it holds.
  public var timestamp: Timestamp
  /// The device's place in the site, metres.
  public var position: Estimated<Vector3>
  /// The covariance of that place, m².
  public var covariance: SymmetricMatrix3
  /// Takes the odometry's world to the site.
  ///
  /// There is none until the device has moved enough to tell how the one is turned to the other. Its
  /// sigma is that of the turn about gravity, radians.
  public var siteFromWorld: Estimated<RigidTransform>

  /// The turn about gravity from the odometry's world to the site, counterclockwise as seen from above,
  /// radians; `nil` where it is not known.
  public var turnRadians: Double? {
    siteFromWorld.value.map { transform in
      let ahead = transform.rotation.zAxis
      return atan2(ahead.x, ahead.z)
    }
  }

  init(_ fix: AnchorWindow.Fix, at device: TrajectoryPoint) {
    let best = fix.solution
    timestamp = device.timestamp
    position = Estimated(
      value: fix.isKnown ? best.position : nil, sigma: best.positionCovariance.trace.squareRoot(),
      unavailability: fix.isKnown ? nil : .tooUncertain)
    covariance = best.positionCovariance
    siteFromWorld = Estimated(
      value: fix.isTurnKnown ? best.siteFromWorld(device) : nil,
      sigma: best.turnVariance.squareRoot(), unavailability: fix.isTurnKnown ? nil : .tooUncertain)
  }
}

/// Locates a device from ranges to anchors whose places are known, as a receiver of a building's radio
/// does, with the odometry to tie together what was measured on the way.
///
/// The site's world is gravity aligned and y up, metres. Unknown are the device's place x in it at the
/// newest pose and the turn ψ about gravity between the odometry's world and the site's. With `p_k` the
/// antenna's way from the newest place of the device in the odometry's world, anchor i at `a_i` measures
///
///     d_k = |x + R(ψ) p_k - a_i| + b_i + noise
///
/// with a constant error `b_i` for each anchor (``RangingConfiguration/rangeBiasSigma`` and the scale
/// error), which is eliminated from the normal equations, and with the odometry's drift since the sample
/// as more noise. Levenberg and Marquardt's method with Huber's weights, from many starts, so that a
/// mirror image (anchors in one plane) is found: as long as two places explain the ranges about as well,
/// there is no fix. Doppler, time differences and the anchors' clocks play no part.
///
/// Frames: ``RangingConfiguration/antennaInDevice`` in device axes. Cost: a sample goes through the window
/// once; a fix solves from 24 starts while it searches and from one once it is found.
public struct AnchorLocator: Sendable {
  /// The anchors' places in the site, metres.
  public var anchors: [Vector3] { window.anchors }

  private let configuration: FusionConfiguration
  private var trajectory: Trajectory
  private var window: AnchorWindow

  /// Makes a locator that has seen nothing.
  ///
  /// - Parameters:
  ///   - anchors: The anchors' places in the site, metres.
  ///   - configuration: How accurate ranges and odometry are.
  /// - Throws: The first setting that makes no sense, or an anchor that is nowhere.
  public init(
    anchors: [Vector3], _ configuration: FusionConfiguration = FusionConfiguration()
  ) throws(FusionConfigurationError) {
    try configuration.validate()
    if let index = anchors.firstIndex(where: { !($0.isFinite && $0.length < 1e6) }) {
      throw FusionConfigurationError(setting: "anchors[\(index)]", problem: "must be a place")
    }
    let ranging = configuration.ranging
    let error = AnchorError(
      variance: ranging.rangeBiasSigma * ranging.rangeBiasSigma,
      scaleSigma: ranging.rangeScaleSigma)
    window = AnchorWindow(anchors: anchors, errors: anchors.map { _ in error })
    self.configuration = configuration
    trajectory = Trajectory(
      odometry: configuration.odometry, maximumLateness: configuration.ranging.maximumLateness)
  }

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: What became of it.
  @discardableResult
  public mutating func add(_ pose: DevicePose) -> PoseOutcome { trajectory.append(pose) }

  /// Takes in a range.
  ///
  /// - Parameters:
  ///   - distance: Metres from the antenna to the anchor.
  ///   - anchor: The anchor's place in ``anchors``.
  ///   - sigma: One standard deviation, metres; the configuration's when `nil`.
  ///   - time: When, on the clock of the poses.
  /// - Returns: Whether it is kept: not when it is no range, meets no pose, or comes too soon after
  ///   the anchor's last.
  @discardableResult
  public mutating func add(
    _ distance: Double, to anchor: Int, sigma: Double? = nil, at time: Timestamp
  ) -> Bool {
    let sigma = sigma ?? configuration.ranging.rangeSigma
    guard anchors.indices.contains(anchor), distance > 0,
      distance <= configuration.ranging.maximumRange, sigma > 1e-6, sigma < 1e6,
      let device = trajectory.point(at: time), device.isTracked
    else { return false }
    return window.add(
      distance, to: anchor, sigma: sigma, from: device,
      antennaInDevice: configuration.ranging.antennaInDevice)
  }

  /// Where the device is at the newest pose.
  ///
  /// - Returns: The fix; `nil` before the first pose and the first range.
  public mutating func locate() -> AnchorFix? {
    guard let device = trajectory.newest, let fix = window.locate(at: device, configuration) else {
      return nil
    }
    return AnchorFix(fix, at: device)
  }
}
