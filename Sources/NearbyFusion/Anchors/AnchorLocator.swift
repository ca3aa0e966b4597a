// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

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
  public let anchors: [Vector3]

  private let configuration: FusionConfiguration
  private var trajectory: Trajectory
  private var window: [AnchorObservation] = []
  private var lastKept: [Timestamp?]
  /// The solution of the last fix, if there was only one.
  private var previous: (solution: AnchorSolution, device: TrajectoryPoint)?

  /// Ranges are kept for so long, and no more than so many, seconds.
  private static let windowSeconds = 60.0
  private static let windowCount = 400
  /// Of one anchor a range is kept so often, seconds: what comes between replaces nothing.
  private static let interval = 0.2
  /// A place under which the ranges are less likely by this factor is no rival, in χ².
  private static let rivalry = 2 * log(1000.0)
  /// Solutions nearer than this are one, metres.
  private static let sameWithin = 0.3
  /// A place must be known this well, metres, and a turn this well, radians.
  private static let positionGate = 1.0
  private static let turnGate = 15.0.degreesAsRadians

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
    self.anchors = anchors
    self.configuration = configuration
    trajectory = Trajectory(
      odometry: configuration.odometry, maximumLateness: configuration.ranging.maximumLateness)
    lastKept = Array(repeating: nil, count: anchors.count)
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
    if let last = lastKept[anchor], time.seconds(since: last) < Self.interval { return false }
    lastKept[anchor] = time
    // Nothing that was measured in a world that is lost can be tied to this one.
    window.removeAll {
      $0.device.world != device.world
        || time.seconds(since: $0.device.timestamp) > Self.windowSeconds
    }
    if window.count >= Self.windowCount { window.removeFirst() }
    window.append(
      AnchorObservation(
        anchor: anchor, distance: distance, variance: sigma * sigma, device: device,
        antennaInWorld: device.worldFromDevice.act(configuration.ranging.antennaInDevice)))
    return true
  }

  /// Where the device is at the newest pose.
  ///
  /// - Returns: The fix; `nil` before the first pose and the first range.
  public mutating func locate() -> AnchorFix? {
    guard let device = trajectory.newest, window.last?.device.world == device.world else {
      return nil
    }
    let problem = AnchorProblem(window, anchors: anchors, seenFrom: device, configuration)
    var solutions: [AnchorSolution] = []
    if let previous, previous.device.world == device.world {
      let start = previous.solution.moved(from: previous.device, to: device)
      if let solution = problem.solve(from: start), problem.explains(solution) {
        solutions = [solution]
      }
    }
    if solutions.isEmpty { solutions = distinct(problem.solveFromEverywhere()) }
    guard let best = solutions.first else { return nil }
    let isAlone = solutions.count == 1 && problem.explains(best)
    let sigma = best.positionCovariance.trace.squareRoot()
    let isKnown = isAlone && sigma <= Self.positionGate
    let isTurnKnown = isKnown && best.turnVariance.squareRoot() <= Self.turnGate
    previous = isTurnKnown ? (best, device) : nil
    return AnchorFix(
      timestamp: device.timestamp,
      position: Estimated(
        value: isKnown ? best.position : nil, sigma: sigma,
        unavailability: isKnown ? nil : .tooUncertain),
      covariance: best.positionCovariance,
      siteFromWorld: Estimated(
        value: isTurnKnown ? best.siteFromWorld(device) : nil,
        sigma: best.turnVariance.squareRoot(), unavailability: isTurnKnown ? nil : .tooUncertain))
  }

  /// The best solution first, and after it those that explain the ranges about as well elsewhere.
  private func distinct(_ solutions: [AnchorSolution]) -> [AnchorSolution] {
    let sorted = solutions.sorted { $0.cost < $1.cost }
    guard let best = sorted.first else { return [] }
    let rival = sorted.first {
      $0.cost < best.cost + Self.rivalry && ($0.position - best.position).length > Self.sameWithin
    }
    return rival.map { [best, $0] } ?? [best]
  }
}
