// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A place at which a peer at rest may be.
struct Mode {
  /// The mean, metres, and its covariance, m², in the odometry's world as of a device point.
  private let place: Vector3
  private let covariance: SymmetricMatrix3
  private let device: TrajectoryPoint
  /// The constant error of ranges that goes with it, metres, and their scale error.
  private let rangeBias: Double
  private let rangeScale: Double

  init(
    place: Vector3, covariance: SymmetricMatrix3, at device: TrajectoryPoint,
    rangeBias: Double = 0, rangeScale: Double = 0
  ) {
    (self.place, self.covariance, self.device) = (place, covariance, device)
    (self.rangeBias, self.rangeScale) = (rangeBias, rangeScale)
  }

  /// The heaviest hypothesis of a track, as of its newest sample.
  init(_ track: Track) {
    let heaviest = track.bank.heaviest
    self.init(
      place: track.bank.position(heaviest),
      covariance: track.bank.positionCovariance(heaviest), at: track.device,
      rangeBias: track.bank[.mean(StateIndex.rangeBias), heaviest],
      rangeScale: track.bank[.mean(StateIndex.rangeScale), heaviest])
  }

  /// The distance from a point, metres.
  func distance(from point: Vector3) -> Double { (place - point).length }

  /// Whether it is narrow enough to be claimed as seen from a device, if it is the only one.
  func isClaimable(from device: TrajectoryPoint, _ configuration: FusionConfiguration) -> Bool {
    let width = GaussianView(place, covariance, from: device.worldFromDevice).width(configuration)
    return width.totalVariance <= width.requiredVariance
  }

  /// Whether another one is at another place, with the probability ``ModeChain/decisive``: `dᵀ (P + P')⁻¹ d` is beyond
  /// the quantile of χ² with three degrees of freedom.
  func isElsewhere(than other: Mode) -> Bool {
    let away = place - other.place
    guard let information = (covariance + other.covariance).positiveDefiniteInverse else {
      return false
    }
    return away.dot(information.times(away)) > 11.345
  }

  /// Measured minus predicted for a peer at this place, with the variance of both: `Hᵀ (P + c D) H + σ²`, with
  /// the drift D of the odometry between both and the factor c by which it counts for more, being common to several
  /// cells.
  func innovation(
    of kind: MeasurementKind, _ measured: MeasuredValue, at device: TrajectoryPoint,
    dilution: Double, _ settings: Settings
  ) -> Innovation {
    let pose = AntennaPose(
      device.worldFromDevice, antennaInDevice: settings.configuration.ranging.antennaInDevice)
    let predicted = PredictedMeasurement(
      kind, from: pose, peer: place, rangeBias: rangeBias, rangeScale: rangeScale)
    let drift = OdometryDrift(
      from: device, to: self.device, isPlanar: settings.configuration.odometry.isPlanar)
    let spread =
      covariance
      + dilution * drift.covariance(for: place - device.worldFromDevice.translation)
    return Innovation(
      value: kind.wrapped(measured.value - predicted.value),
      variance: spread.quadraticForm(predicted.gradient) + measured.sigma * measured.sigma)
  }
}
