// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbySimulation

internal import func Glibc.log

/// The posterior of the drift and of the radio's constant errors, given where the peer was at the first
/// sample, and the likelihood of that place.
///
/// The state is `[p, range bias, range scale, azimuth bias (16), elevation bias (16)]` with `p` the peer
/// in the odometry's world as it is now. At the first sample `p` is known exactly; later it is uncertain
/// only by the drift since. The measurements are therefore almost linear in the state, and a Kalman
/// filter linearised at its own mean is exact but for the square of the drift over the distance: 1 cm
/// of range for 0.3 m of drift at 5 m.
struct ConditionalFilter: Sendable {
  /// The logarithm of the likelihood, up to a constant.
  private(set) var logLikelihood = 0.0

  /// The mean, in blocks of eight.
  private var mean: [SIMD8<Double>]
  /// The covariance, row by row, each row ``width`` blocks of eight.
  private var covariance: [SIMD8<Double>]
  /// Blocks of a row: one for ranges only, five with angles.
  private let width: Int

  private static let biasIndex = 3
  private static let scaleIndex = 4
  private static let azimuthIndex = 8
  private static let elevationIndex = 24
  private static let headRows = 5

  /// Makes the filter before the first sample.
  ///
  /// - Parameters:
  ///   - start: The peer's position in the odometry's world at the first sample, metres.
  ///   - hasAngles: Whether there are angles.
  ///   - model: The priors.
  init(at start: Vector3, hasAngles: Bool, _ model: ReferenceModel) {
    width = hasAngles ? 5 : 1
    let rows = hasAngles ? 40 : Self.headRows
    mean = Array(repeating: .zero, count: width)
    covariance = Array(repeating: .zero, count: rows * width)
    mean[0] = SIMD8(start.x, start.y, start.z, 0, 0, 0, 0, 0)
    setVariance(model.rangeBiasSigma * model.rangeBiasSigma, at: Self.biasIndex)
    setVariance(model.rangeScaleSigma * model.rangeScaleSigma, at: Self.scaleIndex)
    guard hasAngles else { return }
    for index in 0..<DirectionField.count {
      setVariance(model.azimuth.bias * model.azimuth.bias, at: Self.azimuthIndex + index)
      setVariance(model.elevation.bias * model.elevation.bias, at: Self.elevationIndex + index)
    }
  }

  /// The peer's position in the odometry's world as it is now, metres.
  var position: Vector3 { Vector3(mean[0][0], mean[0][1], mean[0][2]) }

  /// The covariance of ``position``, m².
  var positionCovariance: SymmetricMatrix3 {
    let (x, y, z) = (covariance[0], covariance[width], covariance[2 * width])
    return SymmetricMatrix3(xx: x[0], xy: x[1], xz: x[2], yy: y[1], yz: y[2], zz: z[2])
  }

  /// Adds a sample.
  mutating func add(_ observation: ReferenceObservation, _ model: ReferenceModel) {
    drift(observation, model)
    if let range = observation.range {
      let ray = position - observation.antenna
      let (distance, scale) = (ray.length, 1 + mean[0][Self.scaleIndex])
      let along = (scale / distance) * ray
      update(
        innovation: range - scale * distance - mean[0][Self.biasIndex],
        variance: model.rangeNoise * model.rangeNoise,
        SIMD8(along.x, along.y, along.z, 1, distance, 0, 0, 0))
    }
    if let azimuth = observation.azimuthRadians {
      let (ray, basis, bias) = angle(observation, at: Self.azimuthIndex)
      let gradient = observation.odometryFromDevice.rotation.act(
        PosteriorBound.angleGradients(ray).azimuth)
      let predicted = ArrivalAngles(ofDirection: ray).azimuthRadians + bias
      update(
        innovation: (azimuth - predicted).wrappedAngle,
        variance: model.azimuth.noise * model.azimuth.noise,
        SIMD8(gradient.x, gradient.y, gradient.z, 0, 0, 0, 0, 0), basis, at: Self.azimuthIndex)
    }
    if let elevation = observation.elevationRadians {
      let (ray, basis, bias) = angle(observation, at: Self.elevationIndex)
      let gradient = observation.odometryFromDevice.rotation.act(
        PosteriorBound.angleGradients(ray).elevation)
      let predicted = ArrivalAngles(ofDirection: ray).elevationRadians + bias
      update(
        innovation: elevation - predicted,
        variance: model.elevation.noise * model.elevation.noise,
        SIMD8(gradient.x, gradient.y, gradient.z, 0, 0, 0, 0, 0), basis, at: Self.elevationIndex)
    }
  }

  // MARK: Parts

  /// `p` random-walks by the drift of the position and of the yaw about the device.
  private mutating func drift(_ observation: ReferenceObservation, _ model: ReferenceModel) {
    let drift = OdometryDrift(
      metres: observation.metres, positionDrift: model.positionDrift,
      yawDriftRadians: model.yawDriftRadians)
    guard drift.horizontal > 0 || drift.yaw > 0 else { return }
    let swing = OdometryDrift.swing(of: position - observation.odometryFromDevice.translation)
    let column = SIMD8(swing.x, swing.y, swing.z, 0, 0, 0, 0, 0)
    for axis in 0..<3 {
      covariance[axis * width] += (drift.yaw * column[axis]) * column
      covariance[axis * width][axis] += drift.horizontal
    }
  }

  /// The ray in device axes, the values of the bias's basis functions there, and the expected bias.
  private func angle(
    _ observation: ReferenceObservation, at index: Int
  ) -> (ray: Vector3, basis: (SIMD8<Double>, SIMD8<Double>), bias: Double) {
    let ray = observation.odometryFromDevice.rotation.inverse.act(position - observation.antenna)
    let values = DirectionField.basis(at: ray)
    let basis = (SIMD8(values[0..<8]), SIMD8(values[8..<16]))
    let bias = (basis.0 * mean[index / 8] + basis.1 * mean[index / 8 + 1]).sum()
    return (ray, basis, bias)
  }

  /// Kalman's update with one measurement: `h` over the first block, and over two blocks of biases.
  private mutating func update(
    innovation: Double, variance: Double, _ head: SIMD8<Double>,
    _ biases: (SIMD8<Double>, SIMD8<Double>) = (.zero, .zero), at index: Int = 0
  ) {
    var product = InlineArray<5, SIMD8<Double>>(repeating: .zero)
    func add(_ factors: SIMD8<Double>, _ lanes: Int, from first: Int) {
      for lane in 0..<lanes {
        let start = (first + lane) * width
        for block in 0..<width { product[block] += factors[lane] * covariance[start + block] }
      }
    }
    add(head, Self.headRows, from: 0)
    var total = variance + (head * product[0]).sum()
    if index > 0 {
      add(biases.0, 8, from: index)
      add(biases.1, 8, from: index + 8)
      total = variance + (head * product[0]).sum()
      total += (biases.0 * product[index / 8] + biases.1 * product[index / 8 + 1]).sum()
    }
    let inverse = 1 / total
    for block in 0..<width { mean[block] += (innovation * inverse) * product[block] }
    for row in 0..<covariance.count / width {
      let gain = product[row / 8][row % 8] * inverse
      if gain == 0 { continue }
      for block in 0..<width { covariance[row * width + block] -= gain * product[block] }
    }
    logLikelihood -= (innovation * innovation * inverse + log(total)) / 2
  }

  private mutating func setVariance(_ variance: Double, at index: Int) {
    covariance[index * width + index / 8][index % 8] = variance
  }
}
