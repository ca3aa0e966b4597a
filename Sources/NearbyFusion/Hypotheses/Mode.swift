// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A place at which a peer at rest may be.
struct Mode {
  /// The mean, metres, and its covariance, m², in the odometry's world.
  private let place: Vector3
  private let covariance: SymmetricMatrix3
  /// The constant error of ranges that goes with it, metres, and their scale error.
  private let rangeBias: Double
  private let rangeScale: Double

  init(
    place: Vector3, covariance: SymmetricMatrix3, rangeBias: Double = 0, rangeScale: Double = 0
  ) {
    (self.place, self.covariance) = (place, covariance)
    (self.rangeBias, self.rangeScale) = (rangeBias, rangeScale)
  }

  /// The heaviest hypothesis of a track, with the odometry's drift since its newest sample.
  init(_ track: Track, now: TrajectoryPoint) {
    let heaviest = track.bank.heaviest
    let place = track.bank.position(heaviest)
    let drift = OdometryDrift(from: track.device, to: now, isPlanar: false)
    self.init(
      place: place,
      covariance: track.bank.positionCovariance(heaviest)
        + drift.covariance(for: place - track.device.worldFromDevice.translation),
      rangeBias: track.bank[.mean(StateIndex.rangeBias), heaviest],
      rangeScale: track.bank[.mean(StateIndex.rangeScale), heaviest])
  }

  /// The distance from a point, metres.
  func distance(from point: Vector3) -> Double { (place - point).length }

  /// Measured minus predicted for a peer at this place, with the variance of both: `Hᵀ (P + c D) H + σ²`, with
  /// the drift D of the odometry since and the factor c by which it counts for more, being common to several cells.
  func innovation(
    of kind: MeasurementKind, _ measured: MeasuredValue, at device: TrajectoryPoint,
    now: TrajectoryPoint, dilution: Double, _ settings: Settings
  ) -> Innovation {
    let pose = AntennaPose(
      device.worldFromDevice, antennaInDevice: settings.configuration.ranging.antennaInDevice)
    let predicted = PredictedMeasurement(
      kind, from: pose, peer: place, rangeBias: rangeBias, rangeScale: rangeScale)
    let drift = OdometryDrift(
      from: device, to: now, isPlanar: settings.configuration.odometry.isPlanar)
    let spread =
      covariance
      + dilution * drift.covariance(for: place - device.worldFromDevice.translation)
    return Innovation(
      value: kind.wrapped(measured.value - predicted.value),
      variance: spread.quadraticForm(predicted.gradient) + measured.sigma * measured.sigma)
  }
}
