// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The posterior while there are several hypotheses: every output is a moment of their mixture.
struct MixtureView: PosteriorView {
  private let bank: HypothesisBank
  /// What drift adds to each hypothesis.
  private let drift: OdometryDrift
  /// What the covariances are multiplied by (``VarianceInflation``).
  private let covarianceFactor: Double
  let worldFromDevice: RigidTransform
  let mean: Vector3
  let covariance: SymmetricMatrix3
  let best: LineOfSight

  /// A mixture, moved to the time of the view but for drift.
  init(
    _ bank: HypothesisBank, from worldFromDevice: RigidTransform, drift: OdometryDrift,
    covarianceFactor: Double
  ) {
    self.bank = bank
    self.drift = drift
    self.covarianceFactor = covarianceFactor
    self.worldFromDevice = worldFromDevice
    let device = worldFromDevice.translation
    let moments = bank.positionMoments()
    mean = moments.mean
    covariance = covarianceFactor * moments.covariance + drift.covariance(for: mean - device)
    best = LineOfSight(bank.position(bank.heaviest) - device, covariance)
  }

  var toBest: Vector3 { best.toPeer }

  private func toPeer(_ index: Int) -> Vector3 {
    bank.position(index) - worldFromDevice.translation
  }

  private func covariance(_ index: Int) -> SymmetricMatrix3 {
    covarianceFactor * bank.positionCovariance(index) + drift.covariance(for: toPeer(index))
  }

  /// The places where the peer may be, the most probable first.
  var modes: [PositionMode] {
    PositionMode.grouping(
      (0..<bank.count).map { index in
        PositionMode(
          probability: bank.weight(index), positionInWorld: bank.position(index),
          covarianceInWorld: covariance(index))
      })
  }

  func weightAroundBest(withinSquared squaredRadius: Double) -> Double {
    let place = worldFromDevice.translation + best.toPeer
    var sum = 0.0
    for index in 0..<bank.count {
      let away = bank.position(index) - place
      if away.dot(away) <= squaredRadius { sum += bank.weight(index) }
    }
    return min(sum, 1)
  }

  func distance(_ best: LineOfSight) -> (mean: Double, variance: Double) {
    var first = 0.0
    var second = 0.0
    for index in 0..<bank.count {
      let (mean, variance) = LineOfSight(toPeer(index), covariance(index)).distance
      let share = bank.weight(index)
      first += share * mean
      second += share * (mean * mean + variance)
    }
    return (first, max(second - first * first, 0))
  }

  func direction(_ best: LineOfSight) -> (unit: Vector3, variance: Double) {
    LineOfSight(mean - worldFromDevice.translation, covariance)
      .direction(worldFromDevice.rotation)
  }

  func horizontalAngle() -> (mean: Double, variance: Double) {
    let heading = Heading(worldFromDevice.rotation)
    var cosine = 0.0
    var sine = 0.0
    for index in 0..<bank.count {
      let (angle, variance) = bearing(toPeer(index), covariance(index), heading)
      let share = bank.weight(index) * exp(-0.5 * variance)
      cosine += share * cos(angle)
      sine += share * sin(angle)
    }
    let length = (cosine * cosine + sine * sine).squareRoot()
    return (atan2(sine, cosine), length > 1e-12 ? max(-2 * log(length), 0) : .infinity)
  }

  func verticalProbabilities(sameLevelWithin limit: Double) -> (above: Double, below: Double) {
    var sum = (above: 0.0, below: 0.0)
    for index in 0..<bank.count {
      let share = bank.weight(index)
      let (above, below) = tails(toPeer(index).y, covariance(index).yy, limit)
      sum.above += share * above
      sum.below += share * below
    }
    return sum
  }
}
