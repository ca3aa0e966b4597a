// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry

/// The posterior of one peer's position, as seen from the device at one moment.
///
/// Every output is a moment of the mixture of hypotheses: nothing is taken from the heaviest alone but
/// the line of sight along which the covariance is split.
struct PosteriorView {
  /// The hypotheses, when there are several: of one, mean and covariance say all.
  private let mixture: HypothesisBank?
  private let count: Int
  let worldFromDevice: RigidTransform
  /// What drift since the bank's time adds to each hypothesis.
  let drift: Drift
  let mean: Vector3
  let covariance: SymmetricMatrix3

  /// Odometry drift between the bank's time and the view's.
  struct Drift {
    /// Variance in the horizontal plane and along gravity, m².
    var horizontal = 0.0
    var vertical = 0.0
    /// Variance of yaw about the device, rad².
    var yaw = 0.0

    /// diag(h, v, h) + y² (up × d)(up × d)ᵀ for a peer at `d` from the device.
    func covariance(for d: Vector3) -> SymmetricMatrix3 {
      SymmetricMatrix3(
        xx: horizontal + yaw * d.z * d.z, xy: 0, xz: -yaw * d.x * d.z, yy: vertical, yz: 0,
        zz: horizontal + yaw * d.x * d.x)
    }
  }

  @inline(__always)
  init(_ bank: HypothesisBank, from worldFromDevice: RigidTransform, drift: Drift) {
    mixture = bank.count == 1 ? nil : bank
    count = bank.count
    self.worldFromDevice = worldFromDevice
    self.drift = drift
    let moments = bank.positionMoments()
    mean = moments.mean
    covariance =
      moments.covariance + drift.covariance(for: moments.mean - worldFromDevice.translation)
  }

  private var devicePosition: Vector3 { worldFromDevice.translation }

  // MARK: Hypotheses

  @inline(__always)
  private func position(_ index: Int) -> Vector3 { mixture?.position(index) ?? mean }

  @inline(__always)
  private func positionCovariance(_ index: Int) -> SymmetricMatrix3 {
    guard let mixture else { return covariance }
    return mixture.positionCovariance(index)
      + drift.covariance(for: mixture.position(index) - devicePosition)
  }

  @inline(__always)
  private func weight(_ index: Int) -> Double { mixture?.weight(index) ?? 1 }

  @inline(__always)
  private var heaviestPosition: Vector3 { mixture.map { $0.position($0.heaviest) } ?? mean }

  // MARK: Convergence

  /// What decides whether it has converged: how wide it may be and is, metres, and the share of the
  /// mode that holds the heaviest hypothesis.
  struct Width {
    var requiredSigma: Double
    var totalSigma: Double
    var dominantModeWeight: Double
  }

  @inline(__always)
  func width(_ configuration: FusionConfiguration) -> Width {
    let best = heaviestPosition
    let required = max(
      configuration.convergence.sigmaFloor,
      configuration.convergence.sigmaPerDistance * (best - devicePosition).length)
    let total =
      configuration.odometry.isPlanar ? covariance.xx + covariance.zz : covariance.trace
    return Width(
      requiredSigma: required, totalSigma: total.squareRoot(),
      dominantModeWeight: weight(within: required, of: best))
  }

  func progress(_ width: Width, spread: DeviceSpread, isPlanar: Bool) -> ConvergenceProgress {
    let toBest = heaviestPosition - devicePosition
    let distance = toBest.length
    let along = distance > 0 ? toBest / distance : Vector3(0, 0, -1)
    // Across in the horizontal plane; straight above or below any two axes will do.
    let level = Vector3(-along.z, 0, along.x)
    let across = level.length > 0.05 ? level.normalized : Vector3(1, 0, 0)
    let up = along.cross(across).normalized
    return ConvergenceProgress(
      requiredSigma: width.requiredSigma, totalSigma: width.totalSigma,
      lineOfSightSigma: covariance.quadraticForm(along).squareRoot(),
      horizontalSigma: covariance.quadraticForm(across).squareRoot(),
      verticalSigma: isPlanar ? 0 : covariance.quadraticForm(up).squareRoot(),
      dominantModeWeight: width.dominantModeWeight,
      parallaxRadians: spread.transverse(to: along) / max(distance, 1e-3))
  }

  /// The share of the hypotheses around a place: a mode may be held by several.
  private func weight(within radius: Double, of place: Vector3) -> Double {
    guard let mixture else { return 1 }
    var sum = 0.0
    for index in 0..<count where (mixture.position(index) - place).length <= radius {
      sum += mixture.weight(index)
    }
    return min(sum, 1)
  }

  // MARK: Outputs

  /// Mean and standard deviation of the distance, second order in the position's spread.
  func distance() -> (mean: Double, sigma: Double) {
    var first = 0.0
    var second = 0.0
    for index in 0..<count {
      let toPeer = position(index) - devicePosition
      let length = max(toPeer.length, 1e-3)
      let unit = toPeer / length
      let p = positionCovariance(index)
      let along = p.quadraticForm(unit)
      let bent = 0.5 * max(p.trace - along, 0) / length
      let value = length + bent
      let share = weight(index)
      first += share * value
      second += share * (value * value + along + bent * bent)
    }
    return (first, max(second - first * first, 0).squareRoot())
  }

  /// Circular mean and circular standard deviation of the horizontal angle.
  func horizontalAngle() -> (mean: Double, sigma: Double) {
    let heading = Heading(worldFromDevice.rotation)
    if count == 1 {
      let (bearing, variance) = bearing(0, heading)
      return (bearing, variance < Self.widestVariance ? variance.squareRoot() : .infinity)
    }
    var cosine = 0.0
    var sine = 0.0
    for index in 0..<count {
      let (angle, variance) = bearing(index, heading)
      let share = weight(index) * exp(-0.5 * variance)
      cosine += share * cos(angle)
      sine += share * sin(angle)
    }
    let length = (cosine * cosine + sine * sine).squareRoot()
    return (atan2(sine, cosine), length > 1e-12 ? max(-2 * log(length), 0).squareRoot() : .infinity)
  }

  /// The horizontal angle of one hypothesis and its variance.
  private func bearing(_ index: Int, _ heading: Heading) -> (angle: Double, variance: Double) {
    let toPeer = position(index) - devicePosition
    let level = max((toPeer.x * toPeer.x + toPeer.z * toPeer.z).squareRoot(), 1e-3)
    let across = Vector3(-toPeer.z / level, 0, toPeer.x / level)
    let variance = positionCovariance(index).quadraticForm(across) / (level * level)
    return (heading.bearing(of: toPeer), variance)
  }

  /// Beyond this variance nothing is left of the mean direction's length, exp(-variance/2).
  private static let widestVariance = -2 * log(1e-12)

  /// Mean and standard deviation of the peer's height over the device.
  func heightDifference() -> (mean: Double, sigma: Double) {
    (mean.y - devicePosition.y, max(covariance.yy, 0).squareRoot())
  }

  /// The probabilities that the peer is above, below, and on the level of the device.
  func verticalProbabilities(sameLevelWithin limit: Double) -> (above: Double, below: Double) {
    var above = 0.0
    var below = 0.0
    for index in 0..<count {
      let height = position(index).y - devicePosition.y
      let scale = 1 / (2 * positionCovariance(index).yy).squareRoot()
      let share = weight(index)
      above += share * Self.tail(beyond: (limit - height) * scale)
      below += share * Self.tail(beyond: (limit + height) * scale)
    }
    return (above, below)
  }

  /// The probability that a normal error exceeds √2 x standard deviations.
  ///
  /// Beyond six it is zero, or one, to the last digit but one: most heights are that clear.
  private static func tail(beyond x: Double) -> Double {
    x > 6 ? 0 : x < -6 ? 1 : 0.5 * erfc(x)
  }

  /// The direction to the mean, in device axes, and its angular standard deviation per axis.
  func direction() -> (unit: Vector3, sigma: Double) {
    let toPeer = mean - devicePosition
    let length = max(toPeer.length, 1e-3)
    let unit = toPeer / length
    let across = 0.5 * max(covariance.trace - covariance.quadraticForm(unit), 0)
    let inDevice = worldFromDevice.rotation.inverse.act(unit)
    return (inDevice, across.squareRoot() / length)
  }
}
