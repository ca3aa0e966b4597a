// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
package import NearbyGeometry
package import NearbySimulation

/// The posterior Cramér-Rao bound of a peer's relative position: the smallest covariance that an
/// estimator can reach with the same samples.
///
/// The recursion of Tichavský, Muravchik and Nehorai (1998) for linear dynamics with Gaussian
/// noise: a Kalman covariance recursion whose Jacobians are taken at the true state. The state is
/// `[p, v, range bias, range scale, azimuth bias (16), elevation bias (16)]`, `p` the peer in the
/// odometry's world as it is now, `v` its velocity there, of which the vertical one, always zero, gives
/// its place to the offset of height differences; between samples `p` random-walks by
/// `s² ds I + y² ds (up × (p - device)) (up × (p - device))ᵀ`, and a moving peer's `v` by white
/// acceleration. Missing or faulty components add no information. The bound is local: it does not
/// include a mirror image, which ranges alone cannot exclude.
///
/// Performance: of the forty states, only three or six and some of the biases enter a component,
/// and the others are constant. An update is a product with at most 19 rows and a rank-one change,
/// which takes about 0.5 µs.
package struct PosteriorBound: Sendable {
  /// The model of the angles' direction-dependent errors.
  package enum AngleBias: Sendable {
    /// The model from which they are drawn: sixteen constant coefficients of a `DirectionField` for
    /// each angle. This gives the exact bound for the simulator's samples.
    case field
    /// A stationary Gauss-Markov process in the arc that the direction travels in device axes, with
    /// this correlation length, radians. It has no memory of earlier directions, so that the bound
    /// is looser than the exact one. It is the bound of an estimator with one slowly varying bias
    /// for each angle.
    case gaussMarkov(correlation: Double)
  }

  /// The motion model of the peer.
  package enum PeerDynamics: Sendable {
    /// It rests.
    case resting
    /// It walks at constant height. Along each horizontal axis its velocity starts with this
    /// standard deviation, m/s, and is driven by white acceleration of this spectral density,
    /// m²/s³.
    case walking(speedSigma: Double, accelerationDensity: Double)
  }

  /// Standard deviations of the prior and of the noise.
  package struct Model: Sendable {
    /// Of each component of the position before the first sample, metres; large means unknown.
    package var positionSigma = 1000.0
    /// Of the range's constant error, metres.
    package var rangeBiasSigma: Double
    /// Of the range's scale error.
    package var rangeScaleSigma: Double
    /// Of the range's white noise, metres.
    package var rangeNoise: Double
    /// Of the azimuth.
    package var azimuth: ScenarioRadio.AngleError
    /// Of the elevation.
    package var elevation: ScenarioRadio.AngleError
    /// Of height differences: the white noise, metres.
    package var heightNoise: Double
    /// Of the offset of height differences, metres.
    package var heightOffsetSigma: Double
    /// The correlation time of that offset, seconds.
    package var heightOffsetSeconds: Double
    /// Metres per square root of a metre travelled.
    package var positionDrift: Double
    /// Radians per square root of a metre travelled.
    package var yawDriftRadians: Double
    /// The model of the angles' direction-dependent errors.
    package var angleBias = AngleBias.field
    /// The motion model of the peer.
    package var peer = PeerDynamics.resting

    /// Makes the model of a run from its truth.
    ///
    /// A peer that is carried away counts as resting; the caller must call ``PosteriorBound/forgetPosition()``
    /// while it is carried.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - run: The run, which gives the peer's speed; `nil` when the peer rests.
    ///   - rangeScaleSigma: The estimator's prior of the scale error, since the bound must not know
    ///     more than the estimator.
    package init(
      _ scenario: Scenario, of run: SimulatedRun? = nil, rangeScaleSigma: Double
    ) {
      rangeBiasSigma = scenario.radio.totalRangeBiasSigma
      self.rangeScaleSigma = rangeScaleSigma
      rangeNoise = scenario.radio.rangeNoise
      azimuth = scenario.radio.azimuth
      elevation = scenario.radio.elevation
      heightNoise = scenario.barometers.noise
      heightOffsetSigma = scenario.barometers.offsetSigma
      heightOffsetSeconds = scenario.barometers.offsetSeconds
      positionDrift = scenario.odometry.positionDrift
      yawDriftRadians = scenario.odometry.yawDriftRadians
      if scenario.peer.motion == .walking, let path = run?.peers.first?.path {
        peer = .walking(
          speedSigma: path.speed / 2.0.squareRoot(), accelerationDensity: path.accelerationDensity)
      }
    }
  }

  /// The bound on the square root of the trace of the position's covariance, metres.
  package var positionSigma: Double { positionCovariance.trace.squareRoot() }

  /// The bound on the position's covariance in the odometry's world, m².
  package var positionCovariance: SymmetricMatrix3 {
    let (x, y, z) = (covariance[0], covariance[Self.width], covariance[2 * Self.width])
    return SymmetricMatrix3(xx: x[0], xy: x[1], xz: x[2], yy: y[1], yz: y[2], zz: z[2])
  }

  private let model: Model
  /// The covariance, row by row, each row ``width`` blocks of eight.
  private var covariance = [SIMD8<Double>](repeating: .zero, count: order * width)
  private var travelled: Double?
  private var seconds: Double?
  private var lastDirection: Vector3?
  /// Whether a height difference has been measured.
  private var hasHeights = false

  private static let order = 40
  private static let width = 5
  private static let heightIndex = 4
  private static let biasIndex = 6
  private static let scaleIndex = 7
  private static let azimuthIndex = 8
  private static let elevationIndex = 24

  /// Makes the bound before the first sample.
  package init(_ model: Model) {
    self.model = model
    let biases: Int
    switch model.angleBias {
    case .field: biases = DirectionField.count
    case .gaussMarkov: biases = 1
    }
    setVariance(model.heightOffsetSigma * model.heightOffsetSigma, at: Self.heightIndex)
    setVariance(model.rangeBiasSigma * model.rangeBiasSigma, at: Self.biasIndex)
    setVariance(model.rangeScaleSigma * model.rangeScaleSigma, at: Self.scaleIndex)
    for index in 0..<biases {
      setVariance(model.azimuth.bias * model.azimuth.bias, at: Self.azimuthIndex + index)
      setVariance(model.elevation.bias * model.elevation.bias, at: Self.elevationIndex + index)
    }
    forgetPosition()
  }

  /// The bound on the position's standard deviation after each sample of a run, metres.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - model: The priors and the noise.
  /// - Returns: One number for each sample, in the order of the samples' times.
  package static func positionSigmas(of run: SimulatedRun, _ model: Model) -> [Double] {
    var bound = PosteriorBound(model)
    return run.samples.map { sample in
      bound.add(sample, of: run)
      return bound.positionSigma
    }
  }

  /// Makes the position, and the velocity, as unknown as before the first sample.
  ///
  /// This is for events outside the model, such as a jump of the odometry's world. Estimates of the
  /// sensors' errors are kept.
  package mutating func forgetPosition() {
    for index in 0..<Self.biasIndex where index != Self.heightIndex { clear(index) }
    for index in 0..<3 { setVariance(model.positionSigma * model.positionSigma, at: index) }
    guard case .walking(let speedSigma, _) = model.peer else { return }
    for index in [3, 5] { setVariance(speedSigma * speedSigma, at: index) }
  }

  /// Adds the information of a sample.
  ///
  /// - Parameters:
  ///   - sample: The sample, which is not before the previous one.
  ///   - run: The run to which it belongs.
  package mutating func add(_ sample: SimulatedRun.Sample, of run: SimulatedRun) {
    let device = sample.odometryFromDevice
    let ray = sample.peerInOdometry - device.act(run.antennaInDevice)
    let rayInDevice = device.rotation.inverse.act(ray)
    let elapsed = sample.seconds - (seconds ?? sample.seconds)
    move(seconds: elapsed)
    driftHeights(seconds: elapsed)
    drift(
      metres: sample.travelled - (travelled ?? sample.travelled),
      peerFromDevice: sample.peerInOdometry - device.translation)
    seconds = sample.seconds
    travelled = sample.travelled
    if sample.distance != nil, !sample.isRangeFaulty {
      var row = Row(gradient: (1 + run.rangeScale) * ray.normalized)
      row.head[Self.biasIndex] = 1
      row.head[Self.scaleIndex] = ray.length
      update(row, variance: model.rangeNoise * model.rangeNoise)
    }
    if sample.heightDifference != nil, !sample.isHeightDifferenceFaulty {
      var row = Row(gradient: Vector3(0, 1, 0))
      row.head[Self.heightIndex] = 1
      hasHeights = true
      update(row, variance: model.heightNoise * model.heightNoise)
    }
    let hasAzimuth = sample.azimuthRadians != nil && !sample.isAzimuthFaulty
    let hasElevation = sample.elevationRadians != nil && !sample.isElevationFaulty
    guard hasAzimuth || hasElevation else { return }
    forget(until: rayInDevice.normalized)
    let gradients = Self.angleGradients(rayInDevice)
    let basis = basis(at: rayInDevice)
    if hasAzimuth {
      let row = Row(
        gradient: device.rotation.act(gradients.azimuth), basis, at: Self.azimuthIndex)
      update(row, variance: model.azimuth.noise * model.azimuth.noise)
    }
    if hasElevation {
      let row = Row(
        gradient: device.rotation.act(gradients.elevation), basis, at: Self.elevationIndex)
      update(row, variance: model.elevation.noise * model.elevation.noise)
    }
  }

  /// The gradients of azimuth and elevation by the ray from the antenna, in device axes.
  ///
  /// Singular where the ray is vertical in device axes, which no radio's cone reaches.
  package static func angleGradients(_ ray: Vector3) -> (azimuth: Vector3, elevation: Vector3) {
    let flat = ray.x * ray.x + ray.z * ray.z
    let square = flat + ray.y * ray.y
    let length = flat.squareRoot()
    return (
      Vector3(-ray.z, 0, ray.x) / flat,
      Vector3(-ray.x * ray.y / length, length, -ray.z * ray.y / length) / square
    )
  }

  // MARK: Between samples

  /// `p` moves by `v dt`; `v` is driven by white acceleration.
  private mutating func move(seconds: Double) {
    guard case .walking(_, let density) = model.peer, seconds > 0 else { return }
    for axis in [0, 2] {
      for block in 0..<Self.width {
        covariance[axis * Self.width + block] +=
          seconds * covariance[(3 + axis) * Self.width + block]
      }
    }
    for row in 0..<Self.order {
      for axis in [0, 2] {
        covariance[row * Self.width][axis] += seconds * covariance[row * Self.width][3 + axis]
      }
    }
    for axis in [0, 2] {
      let (p, v) = (axis * Self.width, (3 + axis) * Self.width)
      covariance[p][axis] += density * seconds * seconds * seconds / 3
      covariance[p][3 + axis] += density * seconds * seconds / 2
      covariance[v][axis] += density * seconds * seconds / 2
      covariance[v][3 + axis] += density * seconds
    }
  }

  /// Propagates the offset of height differences, a Gauss-Markov process in time.
  ///
  /// Until one has been measured it is stationary.
  private mutating func driftHeights(seconds: Double) {
    guard hasHeights else { return }
    let sigma = model.heightOffsetSigma
    decorrelate(
      Self.heightIndex, by: exp(-seconds / model.heightOffsetSeconds), stationary: sigma * sigma)
  }

  private mutating func drift(metres: Double, peerFromDevice: Vector3) {
    let drift = OdometryDrift(
      metres: metres, positionDrift: model.positionDrift,
      yawDriftRadians: model.yawDriftRadians)
    let swing = OdometryDrift.swing(of: peerFromDevice)
    let column = SIMD8(swing.x, swing.y, swing.z, 0, 0, 0, 0, 0)
    for axis in 0..<3 {
      covariance[axis * Self.width] += (drift.yaw * column[axis]) * column
      covariance[axis * Self.width][axis] += drift.horizontal
    }
  }

  /// Propagates the Gauss-Markov biases from the last direction to this one.
  private mutating func forget(until direction: Vector3) {
    defer { lastDirection = direction }
    guard case .gaussMarkov(let correlation) = model.angleBias, let lastDirection else { return }
    let arc = atan2(lastDirection.cross(direction).length, lastDirection.dot(direction))
    let kept = exp(-arc / correlation)
    for (index, sigma) in [
      (Self.azimuthIndex, model.azimuth.bias), (Self.elevationIndex, model.elevation.bias),
    ] {
      decorrelate(index, by: kept, stationary: sigma * sigma)
    }
  }

  /// One step of a first-order Gauss-Markov process: a correlation factor, and the variance towards which
  /// it goes.
  private mutating func decorrelate(_ index: Int, by kept: Double, stationary variance: Double) {
    for block in 0..<Self.width { covariance[index * Self.width + block] *= kept }
    for row in 0..<Self.order { covariance[row * Self.width + index / 8][index % 8] *= kept }
    covariance[index * Self.width + index / 8][index % 8] += variance * (1 - kept * kept)
  }

  // MARK: Updates

  /// A row of the Jacobian: position, velocity and the range's errors, and one angle's biases.
  private struct Row {
    var head: SIMD8<Double>
    var biases = (SIMD8<Double>.zero, SIMD8<Double>.zero)
    /// The first of the two blocks that hold the biases; zero when there are none.
    var block = 0

    init(gradient: Vector3) { head = SIMD8(gradient.x, gradient.y, gradient.z, 0, 0, 0, 0, 0) }

    init(gradient: Vector3, _ basis: (SIMD8<Double>, SIMD8<Double>), at index: Int) {
      self.init(gradient: gradient)
      biases = basis
      block = index / 8
    }
  }

  private func basis(at ray: Vector3) -> (SIMD8<Double>, SIMD8<Double>) {
    switch model.angleBias {
    case .gaussMarkov: return (SIMD8(1, 0, 0, 0, 0, 0, 0, 0), .zero)
    case .field:
      let values = DirectionField.basis(at: ray)
      return (SIMD8(values[0..<8]), SIMD8(values[8..<16]))
    }
  }

  /// `P ← P - P hᵀ h P / (h P hᵀ + R)`.
  private mutating func update(_ row: Row, variance: Double) {
    var product = InlineArray<5, SIMD8<Double>>(repeating: .zero)
    add(row.head, from: 0, to: &product)
    if row.block > 0 {
      add(row.biases.0, from: 8 * row.block, to: &product)
      add(row.biases.1, from: 8 * row.block + 8, to: &product)
    }
    var innovation = variance + (row.head * product[0]).sum()
    if row.block > 0 {
      innovation += (row.biases.0 * product[row.block]).sum()
      innovation += (row.biases.1 * product[row.block + 1]).sum()
    }
    let inverse = 1 / innovation
    for index in 0..<Self.order {
      let gain = product[index / 8][index % 8] * inverse
      if gain == 0 { continue }
      let start = index * Self.width
      for block in 0..<Self.width { covariance[start + block] -= gain * product[block] }
    }
  }

  /// Adds consecutive columns, each times its factor.
  ///
  /// The matrix is symmetric, so rows are used as columns.
  private func add(
    _ factors: SIMD8<Double>, from first: Int, to sum: inout InlineArray<5, SIMD8<Double>>
  ) {
    for lane in 0..<8 where factors[lane] != 0 {
      let start = (first + lane) * Self.width
      for block in 0..<Self.width { sum[block] += factors[lane] * covariance[start + block] }
    }
  }

  private mutating func clear(_ index: Int) {
    for block in 0..<Self.width { covariance[index * Self.width + block] = .zero }
    for row in 0..<Self.order { covariance[row * Self.width + index / 8][index % 8] = 0 }
  }

  private mutating func setVariance(_ variance: Double, at index: Int) {
    covariance[index * Self.width + index / 8][index % 8] = variance
  }
}
