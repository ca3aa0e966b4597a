// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A piece of the prior of where a peer may be.
struct SearchPrior: Hashable, Sendable, Codable {
  var center: Vector3
  var covariance: SymmetricMatrix3
}

/// Where a peer might be after its first sample: the hypotheses with which a bank begins.
///
/// A range gives a sphere, or a circle when the world is planar; a range with an azimuth gives an arc;
/// with both angles a spot, and behind it, lightly weighted, the whole sphere in case the angles are
/// wrong or mirrored. Without a range each direction becomes a ray of distances. Spacing and spread
/// follow from the radius so that each Gaussian is nearly flat on its shell: a shell of radius r and
/// thickness σ is covered by N ≈ 4 r/σ of them (spread σ_t with σ_t² ≈ r σ), as far as the bank
/// allows; the second-order terms of the update carry the curvature that is left. In a small bank every
/// shape has fewer and wider Gaussians; there are never more than `maximumCount`.
struct InitialHypotheses: Codable {
  /// The antenna's place and the turn into the world.
  var antennaInWorld: Vector3
  var worldFromDevice: Rotation
  /// Of each kind: value, white variance, variance of its other errors; `nil` when not measured.
  var range: Observation?
  var azimuth: Observation?
  var elevation: Observation?
  /// The prior of the scale error, as a standard deviation.
  var rangeScaleSigma: Double
  /// Variances of the wandering errors and of the constant ones, of kinds that were not measured too.
  var wandering: PerKind<Double>
  var constant: PerKind<Double>
  var isPlanar: Bool
  var maximumCount: Int

  struct Observation: Codable {
    var value: Double
    var whiteVariance: Double
    var errorVariance: Double
  }

  /// How much the angles of a first sample are believed.
  private static let angleTrust = 0.9
  /// Neighbours this far apart in units of their spread make a nearly flat mixture.
  private static let spreadPerSpacing = 0.65
  /// The spread along gravity in a planar world, metres.
  static let planarHeightSigma = 0.05
  /// How many directions cover an arc, a ring, and the sphere or the horizon behind measured angles, if
  /// the bank allows.
  private static let arcCount = 7
  private static let ringCount = 16
  private static let spareCount = 48
  private static let planarSpareCount = 16
  /// Without a range: distances at so many metres, and the spread of each as a ratio to it.
  private static let blindDistances: [Double] = [0.5, 1, 2, 4, 8, 16]
  private static let blindSpread = 0.4
  /// The same from the first to the last in fewer, wider steps, for banks with less room.
  private static let fewBlindDistances: [Double] = [0.6, 1.7, 4.8, 13.5]
  private static let fewBlindSpread = 0.6
  /// Fewer distances are tried where the bank has room for fewer directions than this.
  private static let leastBlindDirections = 4

  /// A direction to try, with its angular spread to either side.
  private struct Ray {
    var angles: ArrivalAngles
    var acrossSigma: Double
    var upSigma: Double
    var weight: Double
    var knowsAzimuth = false
    var knowsElevation = false
  }

  init(
    _ measurements: Measurements, at device: TrajectoryPoint, noise: NoiseLevels,
    _ settings: Settings
  ) {
    let configuration = settings.configuration
    let errors = configuration.errorVariances(noise)
    let constant = configuration.constantErrorVariances(noise)
    // Not the stated sigma's errors but those of the states, to which the place is correlated.
    func observation(_ kind: MeasurementKind) -> Observation? {
      measurements[kind].map {
        Observation(
          value: $0.value, whiteVariance: noise[kind].whiteVariance(stated: $0.sigma),
          errorVariance: constant[kind] + errors[kind].wandering)
      }
    }
    let ranging = configuration.ranging
    antennaInWorld = device.worldFromDevice.act(ranging.antennaInDevice)
    worldFromDevice = device.worldFromDevice.rotation
    range = observation(.range)
    azimuth = observation(.azimuth)
    elevation = observation(.elevation)
    rangeScaleSigma = ranging.rangeScaleSigma
    wandering = PerKind { errors[$0].wandering }
    self.constant = constant
    isPlanar = configuration.odometry.isPlanar
    maximumCount = configuration.hypotheses.maximumCount
  }

  func seeds() -> [HypothesisBank.Seed] {
    let trusted = trustedRays()
    var seeds: [HypothesisBank.Seed] = []
    for ray in trusted { seeds += seedsAlong(ray, anglesAreFaulty: false) }
    if measuresAngles, range != nil {
      let spare = min(
        isPlanar ? Self.planarSpareCount : Self.spareCount, maximumCount - seeds.count)
      let doubt = (1 - Self.angleTrust) / Self.angleTrust * seeds.reduce(0) { $0 + $1.weight }
      for ray in lattice(spare, weight: doubt / Double(spare)) {
        seeds += seedsAlong(ray, anglesAreFaulty: true)
      }
    }
    return seeds
  }

  // MARK: Directions

  private func trustedRays() -> [Ray] {
    switch (azimuth, elevation) {
    case (let azimuth?, let elevation?):
      [ray(azimuth, elevation)]
    case (let azimuth?, nil) where isPlanar:
      [
        Ray(
          angles: ArrivalAngles(azimuthRadians: azimuth.value, elevationRadians: 0),
          acrossSigma: azimuth.sigma, upSigma: 0.02, weight: 1, knowsAzimuth: true)
      ]
    case (let azimuth?, nil):
      arc(azimuth, count: min(Self.arcCount, mostTrustedRays))
    case (nil, let elevation?) where !isPlanar:
      ring(elevation, count: min(Self.ringCount, mostTrustedRays))
    default:
      lattice(latticeCount, weight: 1)
    }
  }

  private var measuresAngles: Bool { azimuth != nil || elevation != nil }

  /// How many directions there is room for: with a range and an angle, half of the bank is left for the
  /// case that the angle is wrong.
  private var mostTrustedRays: Int {
    range == nil ? mostBlindDirections : measuresAngles ? maximumCount / 2 : maximumCount
  }

  /// Every elevation of an azimuth.
  private func arc(_ azimuth: Observation, count: Int) -> [Ray] {
    // Equal shares of the sphere's area: equal steps of the sine of the elevation.
    (0..<count).map { step in
      let sine = (Double(step) - 0.5 * Double(count - 1)) / (0.5 * Double(count))
      let spread = 0.2 * Double(Self.arcCount) / Double(count)
      return Ray(
        angles: ArrivalAngles(azimuthRadians: azimuth.value, elevationRadians: asin(sine)),
        acrossSigma: azimuth.sigma, upSigma: spread / (1 - sine * sine).squareRoot(), weight: 1,
        knowsAzimuth: true)
    }
  }

  /// Every azimuth of an elevation.
  private func ring(_ elevation: Observation, count: Int) -> [Ray] {
    (0..<count).map { step in
      Ray(
        angles: ArrivalAngles(
          azimuthRadians: Double(step) / Double(count) * 2 * .pi - .pi,
          elevationRadians: elevation.value),
        acrossSigma: Self.spreadPerSpacing * 2 * .pi / Double(count), upSigma: elevation.sigma,
        weight: 1, knowsElevation: true)
    }
  }

  private func ray(_ azimuth: Observation, _ elevation: Observation) -> Ray {
    Ray(
      angles: ArrivalAngles(
        azimuthRadians: azimuth.value, elevationRadians: isPlanar ? 0 : elevation.value),
      acrossSigma: azimuth.sigma, upSigma: isPlanar ? 0.02 : elevation.sigma, weight: 1,
      knowsAzimuth: true, knowsElevation: !isPlanar)
  }

  /// How many hypotheses the sphere or circle of the first range needs.
  private var latticeCount: Int {
    guard let range else { return mostTrustedRays }
    let flat = 4.2 * range.value / rangeSigma(range)
    let needed = isPlanar ? 2 * flat.squareRoot() : flat
    return min(mostTrustedRays, max(16, needed.isFinite ? Int(min(needed, 1e6)) : .max))
  }

  /// Directions spread evenly over the sphere (Fibonacci), or over the horizon.
  private func lattice(_ count: Int, weight: Double) -> [Ray] {
    let deviceFromWorld = worldFromDevice.inverse
    let spread = Self.spreadPerSpacing * spacing(count)
    return directions(count).map { inWorld in
      Ray(
        angles: ArrivalAngles(ofDirection: deviceFromWorld.act(inWorld)), acrossSigma: spread,
        upSigma: isPlanar ? 0.02 : spread, weight: weight)
    }
  }

  /// Unit vectors in the world.
  ///
  /// Those of a sphere come in pairs, one the other's image in the level: above and below must have
  /// the same chance.
  private func directions(_ count: Int) -> [Vector3] {
    let golden = Double.pi * (3 - 5.0.squareRoot())
    return (0..<count).map { index in
      let pair = index / 2
      let height = isPlanar ? 0 : (1 - (2 * Double(pair) + 1) / Double(count))
      let turn = isPlanar ? spacing(count) * Double(index) : golden * Double(pair)
      let level = (1 - height * height).squareRoot()
      return Vector3(level * cos(turn), index % 2 == 0 ? height : -height, level * sin(turn))
    }
  }

  /// The angle between neighbouring directions.
  private func spacing(_ count: Int) -> Double {
    isPlanar ? 2 * .pi / Double(count) : (4 * .pi / Double(count)).squareRoot()
  }

  // MARK: Priors

  /// The prior of a search, cut in pieces.
  ///
  /// Gaussians side by side on the shell of the first range, or on all rays, each so narrow in its
  /// angles that a fit in it has one answer. Together they are flat, and nothing of the measurement is
  /// in them but about how far away the peer is.
  func priors() -> [SearchPrior] {
    let distances = range.map { [$0.value] } ?? Self.blindDistances
    let count = range == nil ? 16 : isPlanar ? 24 : Self.priorCount
    let spread = Self.spreadPerSpacing * spacing(count)
    return distances.flatMap { distance in
      directions(count).map { direction in
        let along = range == nil ? Self.blindSpread * distance : 0.4 * distance + 0.5
        let across = spread * distance
        var covariance =
          SymmetricMatrix3(outer: direction, scale: along * along - across * across)
          + SymmetricMatrix3(
            xx: across * across, xy: 0, xz: 0, yy: across * across, yz: 0, zz: across * across)
        if isPlanar { covariance.yy = Self.planarHeightSigma * Self.planarHeightSigma }
        return SearchPrior(
          center: antennaInWorld + distance * direction, covariance: covariance)
      }
    }
  }

  private static let priorCount = 64

  // MARK: Distances

  /// Whether the bank has room for few distances only.
  private var hasFewDistances: Bool {
    maximumCount < Self.leastBlindDirections * Self.blindDistances.count
  }

  /// How many directions there is room for when each is tried at several distances.
  private var mostBlindDirections: Int {
    maximumCount / (hasFewDistances ? Self.fewBlindDistances : Self.blindDistances).count
  }

  private func rangeSigma(_ range: Observation) -> Double {
    let scale = rangeScaleSigma * range.value
    return (range.whiteVariance + range.errorVariance + scale * scale).squareRoot()
  }

  private func seedsAlong(_ ray: Ray, anglesAreFaulty: Bool) -> [HypothesisBank.Seed] {
    if let range {
      return [seed(ray, distance: range.value, sigma: rangeSigma(range), anglesAreFaulty)]
    }
    let spread = hasFewDistances ? Self.fewBlindSpread : Self.blindSpread
    return (hasFewDistances ? Self.fewBlindDistances : Self.blindDistances).map {
      seed(ray, distance: $0, sigma: spread * $0, anglesAreFaulty)
    }
  }

  /// One Gaussian: the position with its correlations to the errors that made the measurement.
  ///
  /// With z = (1 + s) r + b + w + n the radius is r ≈ z - b - s z - w - n, so that for instance
  /// cov(p, b) = -σ_b² u along the line of sight u. Angles likewise, across it.
  private func seed(
    _ ray: Ray, distance: Double, sigma: Double, _ anglesAreFaulty: Bool
  ) -> HypothesisBank.Seed {
    let up = Vector3(
      -sin(ray.angles.elevationRadians) * sin(ray.angles.azimuthRadians),
      cos(ray.angles.elevationRadians),
      sin(ray.angles.elevationRadians) * cos(ray.angles.azimuthRadians))
    let across = Vector3(cos(ray.angles.azimuthRadians), 0, sin(ray.angles.azimuthRadians))
    let direction = worldFromDevice.act(ray.angles.direction)
    let acrossInWorld = worldFromDevice.act(across)
    let upInWorld = worldFromDevice.act(up)

    let level = max(cos(ray.angles.elevationRadians), 0.1)
    let acrossSpread = distance * (ray.knowsAzimuth ? level : 1) * ray.acrossSigma
    let upSpread = isPlanar ? Self.planarHeightSigma : distance * ray.upSigma
    var position =
      SymmetricMatrix3(outer: direction, scale: sigma * sigma)
      + SymmetricMatrix3(outer: acrossInWorld, scale: acrossSpread * acrossSpread)
      + SymmetricMatrix3(outer: upInWorld, scale: upSpread * upSpread)
    if isPlanar { position.yy = max(position.yy, Self.planarHeightSigma * Self.planarHeightSigma) }

    // A flat Gaussian at radius ρ has its mean distance at ρ + (σ_a² + σ_u²)/(2 ρ).
    let spread = 0.5 * (acrossSpread * acrossSpread + (isPlanar ? 0 : upSpread * upSpread))
    let radius = 0.5 * (distance + max(distance * distance - 4 * spread, 0).squareRoot())
    var seed = HypothesisBank.Seed(
      mean: InlineArray(repeating: 0), covariance: InlineArray(repeating: 0), weight: ray.weight,
      anglesAreFaulty: anglesAreFaulty)
    seed.setPosition(antennaInWorld + radius * direction, position)
    // Those of other kinds are not what the hypotheses are made of.
    var lever = PerKind<Vector3?>(repeating: nil)
    if range != nil { lever.range = direction }
    if ray.knowsAzimuth { lever.azimuth = distance * level * acrossInWorld }
    if ray.knowsElevation { lever.elevation = distance * upInWorld }
    setErrors(of: &seed, direction, lever)
    return seed
  }

  /// Sets the priors of the radio's errors, correlated with the position as they made the measurement.
  ///
  /// - Parameters:
  ///   - seed: The hypothesis.
  ///   - direction: The line of sight.
  ///   - lever: How far a unit of each kind's error moves the peer; `nil` for what was not measured.
  private func setErrors(
    of seed: inout HypothesisBank.Seed, _ direction: Vector3, _ lever: PerKind<Vector3?>
  ) {
    let scale = rangeScaleSigma * rangeScaleSigma
    seed.setError(
      StateIndex.rangeScale, variance: scale, along: range.map { -scale * $0.value * direction })
    for kind in MeasurementKind.allCases {
      let (constant, wandering) = (constant[kind], wandering[kind])
      if let bias = StateIndex.bias(kind) {
        seed.setError(bias, variance: constant, along: lever[kind].map { -constant * $0 })
      }
      seed.setError(
        StateIndex.wander(kind), variance: wandering, along: lever[kind].map { -wandering * $0 })
    }
  }
}

extension InitialHypotheses.Observation {
  fileprivate var sigma: Double { (whiteVariance + errorVariance).squareRoot() }
}

extension HypothesisBank.Seed {
  fileprivate mutating func setPosition(_ position: Vector3, _ p: SymmetricMatrix3) {
    (mean[0], mean[1], mean[2]) = (position.x, position.y, position.z)
    covariance[StateIndex.packed(0, 0)] = p.xx
    covariance[StateIndex.packed(0, 1)] = p.xy
    covariance[StateIndex.packed(0, 2)] = p.xz
    covariance[StateIndex.packed(1, 1)] = p.yy
    covariance[StateIndex.packed(1, 2)] = p.yz
    covariance[StateIndex.packed(2, 2)] = p.zz
  }

  fileprivate mutating func setError(
    _ column: Int, variance: Double, along covarianceWithPosition: Vector3?
  ) {
    covariance[StateIndex.packed(column, column)] = variance
    guard let c = covarianceWithPosition else { return }
    covariance[StateIndex.packed(0, column)] = c.x
    covariance[StateIndex.packed(1, column)] = c.y
    covariance[StateIndex.packed(2, column)] = c.z
  }
}
