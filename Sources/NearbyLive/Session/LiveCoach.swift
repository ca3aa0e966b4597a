// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// What an app would tell its user: where the peer is, or what to do next and why.
struct LiveCoach {
  /// The peer's name.
  var name: String
  /// The estimate at the moment.
  var estimate: PeerEstimate
  /// The places that a person would tell apart, in the odometry's world.
  var spots: [PositionMode]
  /// Whether the radio says that something stands between.
  var isObstructed = false
  /// The device, in the same world.
  var device: RigidTransform?

  /// Nearer than this it is at hand, metres.
  static let reach = 0.7

  /// One or two sentences, the name first.
  var sentence: String {
    switch estimate.convergence {
    case .unknown: "\(name): no range yet. Wait, or come closer."
    case .converged: "\(name): \(found)"
    case .notConverged(let reasons): "\(name): \(advice(reasons))"
    }
  }

  private var found: String {
    guard let distance = estimate.distance.value else { return "found." }
    if distance < Self.reach { return "here, within your reach." }
    var words = "\(distance.fixed(decimals: 1)) m"
    if let angle = estimate.horizontalAngleRadians.value { words += ", " + Self.bearing(angle) }
    switch estimate.verticalDirection {
    case .above: words += ", above you"
    case .below: words += ", below you"
    case .aboveOrBelow: words += ", above or below you"
    case .same, .unknown: break
    }
    return words + "."
  }

  /// A bearing relative to the device's heading in words.
  static func bearing(_ radians: Double) -> String {
    let degrees = Int(radians.radiansAsDegrees.rounded())
    if abs(degrees) <= 8 { return "straight ahead" }
    if abs(degrees) >= 172 { return "behind you" }
    return "\(abs(degrees))° to the \(degrees > 0 ? "right" : "left")"
  }

  private func advice(_ reasons: ConvergenceReasons) -> String {
    let first = reasons.ordered.first
    if first == .insufficientSignalStrength {
      return isObstructed
        ? "something stands between. Go round it, or come closer."
        : "too few good ranges. Come closer, or go round what may stand between."
    }
    if first == .insufficientLighting {
      return "the camera sees too little to follow your way. Turn on a light."
    }
    if first == .limitedTracking {
      return "the odometry does not say where you are. Let it start, and move slowly."
    }
    let distance = estimate.distance.value.map { "\($0.fixed(decimals: 1)) m away" }
    let isHeightOnly =
      reasons.contains(.insufficientVerticalSweep)
      && !reasons.contains(.insufficientHorizontalSweep)
      && !reasons.contains(.insufficientMovement)
    if let pair { return pair }
    if isHeightOnly {
      return "\(distance ?? "how high is not known"), but how high? Raise and lower the phone."
    }
    if spots.count > 2 {
      return "\(distance ?? "heard"), in one of several places. Walk a few steps."
    }
    guard let bearing = roughBearing else {
      return "\(distance ?? "heard"), in any direction. Walk a few steps."
    }
    return "\(distance ?? "heard"), roughly \(bearing). "
      + (reasons.contains(.insufficientHorizontalSweep)
        ? "Walk a few steps to the side." : "Walk on to be sure.")
  }

  /// Where the one place is, unless it is too uncertain to be pointed at.
  private var roughBearing: String? {
    guard let device, let mean = spots.first?.positionInWorld ?? estimate.positionInWorld else {
      return nil
    }
    let away = mean - device.translation
    guard estimate.progress.totalSigma < 0.5 * away.length else { return nil }
    let ahead = device.inverse.act(mean)
    return Self.bearing(atan2(ahead.x, -ahead.z))
  }

  /// What to do when there are two places.
  ///
  /// The ranges to both change most differently along the line on which their directions differ.
  private var pair: String? {
    guard spots.count == 2, let device else { return nil }
    let toward = spots.map { (device.inverse.act($0.positionInWorld)).normalized }
    let difference = toward[0] - toward[1]
    // Device axes: x to the right, y up, -z ahead.
    let upright = device.rotation.inverse.act(Vector3(0, 1, 0))
    let up = difference.dot(upright)
    if abs(up) > 0.75 * difference.length {
      return "above or below you. Raise and lower the phone."
    }
    if abs(difference.z) >= abs(difference.x) {
      return "ahead of you or behind you. Walk a few steps straight ahead."
    }
    return "to your left or to your right. Walk a few steps to the side."
  }
}
