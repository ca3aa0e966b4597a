// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// A line of sight, with a covariance split along it.
struct LineOfSight {
  /// From the device to the place, metres.
  let toPeer: Vector3
  let unit: Vector3
  /// A millimetre at least.
  let length: Double
  let alongVariance: Double
  /// Of both directions across.
  let acrossVariance: Double

  @inline(__always)
  init(_ toPeer: Vector3, _ covariance: SymmetricMatrix3) {
    self.toPeer = toPeer
    let distance = toPeer.length
    length = max(distance, 1e-3)
    unit = distance > 0 ? (1 / distance) * toPeer : Vector3(0, 0, -1)
    alongVariance = covariance.quadraticForm(unit)
    acrossVariance = max(covariance.trace - alongVariance, 0)
  }

  /// Mean and variance of the distance, second order in the spread.
  @inline(__always)
  var distance: (mean: Double, variance: Double) {
    let bent = 0.5 * acrossVariance / length
    return (length + bent, alongVariance + bent * bent)
  }

  /// Its direction in device axes, and the angular variance per axis.
  @inline(__always)
  func direction(_ worldFromDevice: Rotation) -> (unit: Vector3, variance: Double) {
    // The heading needs these axes, too.
    let inDevice = Vector3(
      worldFromDevice.xAxis.dot(unit), worldFromDevice.yAxis.dot(unit),
      worldFromDevice.zAxis.dot(unit))
    return (inDevice, 0.5 * acrossVariance / (length * length))
  }
}
