// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyGeometry
public import NearbySimulation

/// The posterior Cramér-Rao bound of a peer's relative position: the error that no estimator's
/// covariance can be below, given the same samples.
///
/// The recursion of Tichavský, Muravchik and Nehorai (1998) for linear dynamics with Gaussian noise: a
/// Kalman covariance recursion whose Jacobians are taken at the true state. The state is
/// `[p, range bias, range scale, azimuth bias…, elevation bias…]`, `p` the peer in the odometry's
/// world as it is now; between samples `p` random-walks by
/// `s² ds I + y² ds (up × (p - device)) (up × (p - device))ᵀ`. Faulty samples bring no information. The
/// bound is local: a mirror image, which ranges alone cannot exclude, is not in it.
public struct PosteriorBound: Sendable {
  /// How the angles' direction-dependent errors are modelled.
  public enum AngleBias: Sendable {
    /// As they are drawn: sixteen constant coefficients of a ``DirectionField`` for each angle. The
    /// exact bound for the simulator's samples.
    case field
    /// As a stationary Gauss-Markov process in the arc that the direction travels in device axes,
    /// with this correlation length, radians. It forgets a direction once it has left it, so that the
    /// bound is looser than the exact one: the bound of an estimator that keeps one slowly wandering
    /// bias for each angle.
    case gaussMarkov(correlation: Double)
  }

  /// Standard deviations of the prior and of the noise.
  public struct Model: Sendable {
    /// Of each component of the position before the first sample, metres; large means unknown.
    public var positionSigma = 1000.0
    /// Of the range's constant error, metres.
    public var rangeBiasSigma: Double
    /// Of the range's scale error.
    public var rangeScaleSigma: Double
    /// Of the range's white noise, metres.
    public var rangeNoise: Double
    /// Of the azimuth.
    public var azimuth: ScenarioRadio.AngleError
    /// Of the elevation.
    public var elevation: ScenarioRadio.AngleError
    /// Metres per square root of a metre travelled.
    public var positionDrift: Double
    /// Radians per square root of a metre travelled.
    public var yawDriftRadians: Double
    /// How the angles' direction-dependent errors are modelled.
    public var angleBias = AngleBias.field

    /// The truth of a scenario.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - rangeScaleSigma: The prior of the scale error that the estimator is given: what it may not
    ///     know, the bound may not either.
    public init(_ scenario: Scenario, rangeScaleSigma: Double) {
      rangeBiasSigma = scenario.radio.totalRangeBiasSigma
      self.rangeScaleSigma = rangeScaleSigma
      rangeNoise = scenario.radio.rangeNoise
      azimuth = scenario.radio.azimuth
      elevation = scenario.radio.elevation
      positionDrift = scenario.odometry.positionDrift
      yawDriftRadians = scenario.odometry.yawDriftRadians
    }
  }

  /// The bound on the square root of the trace of the position's covariance, metres.
  public var positionSigma: Double {
    (covariance[0] + covariance[order + 1] + covariance[2 * order + 2]).squareRoot()
  }

  /// The bound on the position's covariance in the odometry's world, m².
  public var positionCovariance: SymmetricMatrix3 {
    SymmetricMatrix3(
      xx: covariance[0], xy: covariance[1], xz: covariance[2], yy: covariance[order + 1],
      yz: covariance[order + 2], zz: covariance[2 * order + 2])
  }

  private let model: Model
  private let biasCount: Int
  private let order: Int
  private var covariance: [Double]
  private var travelled: Double?
  private var lastDirection: Vector3?

  private static let biasIndex = 3
  private static let scaleIndex = 4
  private static let angleIndex = 5

  /// Makes the bound before the first sample.
  public init(_ model: Model) {
    self.model = model
    switch model.angleBias {
    case .field: biasCount = DirectionField.count
    case .gaussMarkov: biasCount = 1
    }
    order = Self.angleIndex + 2 * biasCount
    covariance = [Double](repeating: 0, count: order * order)
    for index in 0..<order {
      let sigma =
        switch index {
        case 0..<3: model.positionSigma
        case Self.biasIndex: model.rangeBiasSigma
        case Self.scaleIndex: model.rangeScaleSigma
        case ..<(Self.angleIndex + biasCount): model.azimuth.bias
        default: model.elevation.bias
        }
      covariance[index * order + index] = sigma * sigma
    }
  }

  /// The bound on the position's standard deviation after each sample of a run, metres.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - model: The priors and the noise.
  /// - Returns: One number for each sample, in the order of the samples' moments.
  public static func positionSigmas(of run: SimulatedRun, _ model: Model) -> [Double] {
    var bound = PosteriorBound(model)
    return run.samples.map { sample in
      bound.add(sample, of: run)
      return bound.positionSigma
    }
  }

  /// Adds what a sample tells.
  ///
  /// - Parameters:
  ///   - sample: The sample; not before the one added last.
  ///   - run: The run that it is of.
  public mutating func add(_ sample: SimulatedRun.Sample, of run: SimulatedRun) {
    let device = sample.odometryFromDevice
    let ray = sample.peerInOdometry - device.act(run.antennaInDevice)
    let rayInDevice = device.rotation.inverse.act(ray)
    drift(
      metres: sample.travelled - (travelled ?? sample.travelled),
      peerFromDevice: sample.peerInOdometry - device.translation)
    travelled = sample.travelled
    if sample.distance != nil, !sample.isRangeFaulty {
      var row = [Double](repeating: 0, count: order)
      let scale = (1 + run.rangeScale) / ray.length
      (row[0], row[1], row[2]) = (scale * ray.x, scale * ray.y, scale * ray.z)
      row[Self.biasIndex] = 1
      row[Self.scaleIndex] = ray.length
      update(row, variance: model.rangeNoise * model.rangeNoise)
    }
    let hasAzimuth = sample.azimuthRadians != nil && !sample.isAzimuthFaulty
    let hasElevation = sample.elevationRadians != nil && !sample.isElevationFaulty
    guard hasAzimuth || hasElevation else { return }
    forget(until: rayInDevice.normalized)
    let (azimuth, elevation) = Self.angleGradients(rayInDevice)
    let basis: [Double] =
      switch model.angleBias {
      case .field: DirectionField.basis(at: rayInDevice)
      case .gaussMarkov: [1]
      }
    for (isMeasured, gradient, first, noise) in [
      (hasAzimuth, azimuth, Self.angleIndex, model.azimuth.noise),
      (hasElevation, elevation, Self.angleIndex + biasCount, model.elevation.noise),
    ] where isMeasured {
      let inWorld = device.rotation.act(gradient)
      var row = [Double](repeating: 0, count: order)
      (row[0], row[1], row[2]) = (inWorld.x, inWorld.y, inWorld.z)
      for (index, value) in basis.enumerated() { row[first + index] = value }
      update(row, variance: noise * noise)
    }
  }

  /// The gradients of azimuth and elevation by the ray from the antenna, in device axes.
  ///
  /// Singular where the ray is vertical in device axes, which no radio's cone reaches.
  public static func angleGradients(_ ray: Vector3) -> (azimuth: Vector3, elevation: Vector3) {
    let flat = ray.x * ray.x + ray.z * ray.z
    let square = flat + ray.y * ray.y
    let length = flat.squareRoot()
    return (
      Vector3(-ray.z, 0, ray.x) / flat,
      Vector3(-ray.x * ray.y / length, length, -ray.z * ray.y / length) / square
    )
  }

  private mutating func drift(metres: Double, peerFromDevice: Vector3) {
    let s = model.positionDrift
    let y = model.yawDriftRadians
    let swing = Vector3(0, 1, 0).cross(peerFromDevice)
    let components = [swing.x, swing.y, swing.z]
    for row in 0..<3 {
      covariance[row * order + row] += s * s * metres
      for column in 0..<3 {
        covariance[row * order + column] += y * y * metres * components[row] * components[column]
      }
    }
  }

  /// Lets Gauss-Markov biases wander while the direction travels from where it was last.
  private mutating func forget(until direction: Vector3) {
    defer { lastDirection = direction }
    guard case .gaussMarkov(let correlation) = model.angleBias, let lastDirection else { return }
    let arc = atan2(lastDirection.cross(direction).length, lastDirection.dot(direction))
    let kept = exp(-arc / correlation)
    for (index, sigma) in [(5, model.azimuth.bias), (6, model.elevation.bias)] {
      for other in 0..<order {
        covariance[index * order + other] *= kept
        covariance[other * order + index] *= kept
      }
      covariance[index * order + index] += sigma * sigma * (1 - kept * kept)
    }
  }

  /// `P ← P - P hᵀ h P / (h P hᵀ + R)`.
  private mutating func update(_ row: [Double], variance: Double) {
    var product = [Double](repeating: 0, count: order)
    for i in 0..<order {
      var sum = 0.0
      for j in 0..<order { sum += covariance[i * order + j] * row[j] }
      product[i] = sum
    }
    let innovation = zip(row, product).reduce(variance) { $0 + $1.0 * $1.1 }
    for i in 0..<order {
      let gain = product[i] / innovation
      for j in 0..<order { covariance[i * order + j] -= gain * product[j] }
    }
  }
}
