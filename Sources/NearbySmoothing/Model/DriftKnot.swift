// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// A place on the path at which the odometry's drift is a parameter of its own.
struct DriftKnot: Sendable {
  /// The device there, as the odometry has it.
  var device: TrajectoryPoint

  var place: Vector3 { device.worldFromDevice.translation }
}

/// What the odometry says about the way from one knot to the next, and how surely.
struct DriftStep: Hashable, Sendable {
  /// The displacement in the odometry's world.
  var displacement: Vector3
  /// How far it may be off.
  var drift: OdometryDrift
  /// How long it took.
  var seconds: Double

  /// Where the odometry's world was lost, the device has most likely moved like this, m/s.
  private static let unseenSpeed = 1.5
  /// So far its world may be from the last one, metres.
  private static let lostPlaceSigma = 0.3
  /// Out of sight for longer than this, seconds, and the yaw may be any.
  private static let briefLoss = 0.5
  private static let lostYawSigma = 1.0

  init(from a: TrajectoryPoint, to b: TrajectoryPoint, isPlanar: Bool) {
    seconds = max(b.timestamp.seconds(since: a.timestamp), 1e-3)
    displacement = b.worldFromDevice.translation - a.worldFromDevice.translation
    drift = OdometryDrift(from: a, to: b, isPlanar: isPlanar)
    if a.world != b.world {
      // The step in the odometry's world is the world's, not the device's.
      displacement = .zero
      let sigma = Self.lostPlaceSigma + Self.unseenSpeed * seconds
      drift.horizontal = sigma * sigma
      drift.vertical = isPlanar ? 0 : sigma * sigma
      if seconds > Self.briefLoss { drift.yaw += Self.lostYawSigma * Self.lostYawSigma }
    }
    drift.addSwing(of: displacement)
  }
}

/// Chooses knots as far apart as the radio cannot tell the difference.
struct KnotSpacing: Sendable {
  /// A new knot where drift since the last one moves a peer by this, m² in the line of sight.
  var driftBudget: Double
  /// How far away peers are, metres: what yaw turns into displacement with.
  var distance: Double
  /// A new knot after so many seconds at the latest, for peers that move.
  var longestSeconds = Double.infinity
  /// Whether errors of ranges are unknown at the knots: then these are no nearer to each other than
  /// ``RangeErrorSizes/leastKnotSpacing``, and no farther than ``RangeErrorSizes/knotSpacing``.
  var isOfRangeErrors: Bool

  /// Drift between knots stays below this share of the radio's sigma.
  private static let shareOfSigma = 0.2
  /// The same where a knot has an unknown for each peer, as in the joint fit.
  private static let shareOfSigmaWithErrors = 0.25

  init(rangeSigma: Double, distance: Double, isOfRangeErrors: Bool = false) {
    let share = isOfRangeErrors ? Self.shareOfSigmaWithErrors : Self.shareOfSigma
    let allowed = share * rangeSigma
    self.isOfRangeErrors = isOfRangeErrors
    driftBudget = allowed * allowed
    self.distance = distance
  }

  /// The knots among places in the order of time.
  ///
  /// The first place and the last are knots, and so are both sides of a jump of the odometry's world,
  /// across which nothing is interpolated. There are two at least.
  func knots(_ places: [TrajectoryPoint]) -> [DriftKnot] {
    guard let first = places.first, let end = places.last else { return [] }
    var knots = [DriftKnot(device: first)]
    for (place, previous) in zip(places.dropFirst(), places) {
      if place.world != previous.world, knots[knots.count - 1].device != previous {
        knots.append(DriftKnot(device: previous))
      }
      let last = knots[knots.count - 1].device
      let drift = OdometryDrift(from: last, to: place, isPlanar: false)
        .displacement(atSquaredDistance: distance * distance)
      let (length, seconds) = (
        place.path - last.path, place.timestamp.seconds(since: last.timestamp)
      )
      let hasDrifted =
        drift > driftBudget && !(isOfRangeErrors && length < RangeErrorSizes.leastKnotSpacing)
      let isFar =
        isOfRangeErrors
        && length + RangeErrorSizes.metresPerSecond * seconds > RangeErrorSizes.knotSpacing
      if hasDrifted || isFar || place.world != last.world || seconds >= longestSeconds {
        knots.append(DriftKnot(device: place))
      }
    }
    if knots.count < 2 || knots[knots.count - 1].device != end {
      knots.append(DriftKnot(device: end))
    }
    return knots
  }
}
