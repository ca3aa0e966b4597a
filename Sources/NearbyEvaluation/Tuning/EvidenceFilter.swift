// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// The likelihood of a recording's samples under given noise, from one Kalman filter over all peers.
///
/// The state holds what all peers share (the scale of ranges, the clock's offset, the antenna's place)
/// and for each peer its place and the errors of its measurements. Peers rest; the odometry's world
/// drifts, which moves all of them together, and turns them about the device. Everything is linear about
/// a reference: where each peer was, in the world as it was, at each of its samples. The reference comes
/// from a pass forwards and one backwards, so that the likelihood is Laplace's approximation of the
/// evidence, and a Gaussian's when the reference is right.
struct EvidenceFilter {
  /// The unknown constants of the device and its radio.
  struct Constants: Hashable, Sendable {
    var scale = 0.0
    /// By how much the radio's clock is ahead of the poses', seconds.
    var clockOffset = 0.0
    var antenna = Vector3.zero

    func halfway(to other: Constants) -> Constants {
      Constants(
        scale: 0.5 * (scale + other.scale), clockOffset: 0.5 * (clockOffset + other.clockOffset),
        antenna: 0.5 * (antenna + other.antenna))
    }
  }

  /// A component of a sample, linear about the reference.
  struct Component {
    var kind: MeasurementKind
    /// Measured minus predicted, at the reference and without errors of the radio.
    var residual: Double
    /// Derivatives of the prediction.
    var place: Vector3
    var antenna: Vector3
    var scale: Double
    var clockOffset: Double
    /// The variance that comes from the pose, and by how much the noise is wider than elsewhere.
    var poseVariance: Double
    var widening: Double
  }

  /// A sample, and what lies between it and the one before.
  struct Step {
    var peer: Int
    var device: TrajectoryPoint
    var components: [Component]
    /// Where the peer is taken to be.
    var reference: Vector3
    /// How many times the world has jumped before.
    var jumps: Int
    var distance: Double
  }

  /// What a pass gives.
  struct Pass {
    var logLikelihood = 0.0
    /// The peer's place and its covariance after each step, in the order of the steps.
    var places: [(mean: Vector3, covariance: SymmetricMatrix3)] = []
    var constants = Constants()
    /// The standard deviations of scale, clock offset and antenna.
    var constantSigmas: [Double] = []
    /// Each peer's range bias and its variance.
    var biases: [(value: Double, variance: Double)] = []
  }

  // MARK: Priors

  static let scaleSigma = 0.1
  static let clockSigma = 0.2
  static let antennaSigma = 0.3
  private static let biasSigma = 0.5
  private static let placeSigma = 2.0
  /// A jump's spread: metres and radians.
  private static let jumpMetres = 2.0
  private static let jumpRadians = 0.5
  private static let constantAngleShare = 0.35

  private let data: TuningData
  private let peerCount: Int
  private let hasAngles: Bool
  let isPlanar: Bool
  private let faults: FaultModel
  private let statedAntenna: Vector3
  private(set) var base: Constants
  private(set) var steps: [Step] = []
  private var samples: [TuningData.Sample] = []
  private var motions: [Motion] = []

  private static let sharedCount = 5
  private var width: Int { hasAngles ? 9 : 5 }
  private var size: Int { Self.sharedCount + width * peerCount }

  /// Half of the time over which the device's motion is measured, for the clock's offset, seconds.
  private static let motionSeconds = 0.02

  /// Makes a filter whose reference is yet to be set.
  init(_ data: TuningData, isPlanar: Bool) {
    self.data = data
    peerCount = data.motions.count
    self.isPlanar = isPlanar
    faults = FaultModel(data.stated)
    statedAntenna = data.stated.ranging.antennaInDevice
    base = Constants(antenna: statedAntenna)
    hasAngles = data.samples.contains { $0.values[.azimuth] != nil || $0.values[.elevation] != nil }
    let gap = data.stated.odometry.maximumPoseGap
    for sample in data.samples.sorted(by: { $0.timestamp < $1.timestamp }) {
      guard sample.peer < peerCount, let device = data.point(at: sample.timestamp, gap: gap) else {
        continue
      }
      samples.append(sample)
      steps.append(
        Step(
          peer: sample.peer, device: device, components: [], reference: .zero, jumps: 0,
          distance: 1))
    }
    placeDevices()
  }

  /// How many samples there are of each peer.
  var counts: [Int] {
    samples.reduce(into: Array(repeating: 0, count: peerCount)) { $0[$1.peer] += 1 }
  }

  /// Finds the device at each sample, at the base's clock.
  private mutating func placeDevices() {
    let gap = data.stated.odometry.maximumPoseGap
    motions = []
    var last: Timestamp?
    for (index, sample) in samples.enumerated() {
      let time = sample.timestamp.advanced(bySeconds: -base.clockOffset)
      if let device = data.point(at: time, gap: gap) { steps[index].device = device }
      let now = steps[index].device.timestamp
      let half = Self.motionSeconds
      let before = data.point(at: now.advanced(bySeconds: -half), gap: gap)
      let after = data.point(at: now.advanced(bySeconds: half), gap: gap)
      motions.append(
        Motion(
          before: before?.worldFromDevice ?? steps[index].device.worldFromDevice,
          after: after?.worldFromDevice ?? steps[index].device.worldFromDevice,
          seconds: (before == nil ? 0 : half) + (after == nil ? 0 : half)))
      steps[index].jumps = last.map { data.jumpCount(from: $0, to: now) } ?? 0
      last = now
    }
  }

  /// The device a moment before and after a sample.
  private struct Motion {
    var before: RigidTransform
    var after: RigidTransform
    var seconds: Double
  }

  // MARK: Linearising

  /// Sets the reference.
  ///
  /// - Parameters:
  ///   - places: Where the peer of each step was.
  ///   - constants: The device's and the radio's constants.
  mutating func linearise(about places: [Vector3], _ constants: Constants) {
    let hasMoved = constants.clockOffset != base.clockOffset
    base = constants
    if hasMoved { placeDevices() }
    for index in steps.indices {
      linearise(index, about: places[index])
    }
  }

  private mutating func linearise(_ index: Int, about place: Vector3) {
    var place = place
    let device = steps[index].device
    if isPlanar { place.y = device.worldFromDevice.translation.y }
    steps[index].reference = place
    steps[index].components = components(of: samples[index], device, motions[index], place)
    steps[index].distance = max(0.3, (place - device.worldFromDevice.translation).length)
  }

  private func components(
    of sample: TuningData.Sample, _ device: TrajectoryPoint, _ motion: Motion, _ place: Vector3
  ) -> [Component] {
    let rotation = device.worldFromDevice.rotation
    let inverse = rotation.inverse
    let offset = inverse.act(place - device.worldFromDevice.translation) - base.antenna
    let range = max(offset.length, 0.05)
    var found: [Component] = []
    for kind in MeasurementKind.allCases {
      guard kind != .heightDifference, let value = sample.values[kind] else { continue }
      let (predicted, slope) = Self.prediction(kind, offset, range)
      var rate = 0.0
      if motion.seconds > 0 {
        let ends = [motion.before, motion.after].map { pose in
          let seen = pose.rotation.inverse.act(place - pose.translation) - base.antenna
          return Self.prediction(kind, seen, max(seen.length, 0.05)).value
        }
        // The device is where it was one offset earlier.
        rate = -kind.wrapped(ends[1] - ends[0]) / motion.seconds
      }
      let scale = kind == .range ? 1 + base.scale : 1
      let pose = device.interpolationVariance
      let variance = kind == .range ? pose : pose / (range * range) + pose
      var widening = 1.0
      if kind == .azimuth, abs(value) > 1 {
        widening = min(max(cos(1.0) / max(abs(cos(value)), 1e-6), 1), 6)
      }
      found.append(
        Component(
          kind: kind, residual: kind.wrapped(value - scale * predicted),
          place: rotation.act(slope) * scale, antenna: slope * -scale,
          scale: kind == .range ? range : 0, clockOffset: scale * rate, poseVariance: variance,
          widening: widening))
    }
    return found
  }

  /// A measurement of an offset in device axes, and its derivative by the offset.
  private static func prediction(
    _ kind: MeasurementKind, _ d: Vector3, _ range: Double
  ) -> (value: Double, slope: Vector3) {
    switch kind {
    case .range, .heightDifference: return (range, d / range)
    case .azimuth:
      let square = max(d.x * d.x + d.z * d.z, 1e-4)
      return (atan2(d.x, -d.z), Vector3(-d.z / square, 0, d.x / square))
    case .elevation:
      let sine = min(max(d.y / range, -1), 1)
      let across = max(1 - sine * sine, 1e-3).squareRoot()
      let up = Vector3(0, 1, 0)
      return (asin(sine), (up / range - d * (sine / (range * range))) / across)
    }
  }

  // MARK: Filtering

  /// How a pass goes.
  struct Mode {
    /// From the last sample to the first.
    var isBackward = false
    /// Linear about the filter's own mean, from these places at each peer's first step.
    var starts: [(place: Vector3, covariance: SymmetricMatrix3)?]?
    /// Whether ``Pass/places`` is filled.
    var keepsPlaces = false
  }

  /// Filters all samples.
  ///
  /// - Parameters:
  ///   - noise: The noise.
  ///   - mode: How.
  /// - Returns: The likelihood and what else was asked for.
  func pass(_ noise: NoiseParameters, _ mode: Mode = Mode()) -> Pass {
    var pass = Pass()
    var state = State(size: size)
    let shared = Self.sharedCount
    state.set(0, mean: 0, variance: Self.scaleSigma * Self.scaleSigma)
    state.set(1, mean: 0, variance: Self.clockSigma * Self.clockSigma)
    let antenna = [statedAntenna.x, statedAntenna.y, statedAntenna.z]
    for axis in 0..<3 {
      state.set(2 + axis, mean: antenna[axis], variance: Self.antennaSigma * Self.antennaSigma)
    }
    let drift = (
      exp(2 * noise[.positionDrift]), exp(2 * noise[.yawDrift])
    )
    let variances = KindArray<(white: Double, wander: Double)> {
      noise.variances(of: MeasurementKind.allCases[$0])
    }
    let shares = (noise.value(.rangeOutliers), noise.value(.angleOutliers))
    let excess = faults.rangeExcess(
      sigma: (variances[.range].white + variances[.range].wander).squareRoot())
    var last = [TrajectoryPoint?](repeating: nil, count: peerCount)
    var previous: TrajectoryPoint?
    if mode.keepsPlaces {
      pass.places = Array(repeating: (.zero, .zero), count: steps.count)
    }
    let order = mode.isBackward ? Array(steps.indices.reversed()) : Array(steps.indices)
    var jumpsAhead = 0
    for index in order {
      let step = steps[index]
      let first = shared + width * step.peer
      if let previous {
        var metres =
          drift.0 * abs(step.device.positionDriftVariance - previous.positionDriftVariance)
        var radians = drift.1 * abs(step.device.yawDriftVariance - previous.yawDriftVariance)
        let jumps =
          (mode.isBackward ? jumpsAhead : step.jumps)
          + (step.device.world != previous.world ? 1 : 0)
        metres += Double(jumps) * Self.jumpMetres * Self.jumpMetres
        radians += Double(jumps) * Self.jumpRadians * Self.jumpRadians
        state.drift(
          metres: metres, radians: radians, about: previous.worldFromDevice.translation,
          seen: last, first: shared, width: width, isPlanar: isPlanar)
      }
      jumpsAhead = step.jumps
      previous = step.device
      if let before = last[step.peer] {
        let path = abs(step.device.path - before.path)
        let turn = abs(step.device.turn - before.turn)
        let seconds = abs(step.device.timestamp.seconds(since: before.timestamp))
        let range = exp(
          -seconds / CorrelatedNoise.rangeSeconds - path / CorrelatedNoise.rangeMetres
            - turn / CorrelatedNoise.rangeRadians)
        state.forget(first + 4, factor: range, variance: variances[.range].wander)
        if hasAngles {
          let angle = exp(-(turn + path / step.distance) / CorrelatedNoise.angleRadians)
          let wandering = 1 - Self.constantAngleShare
          state.forget(
            first + 6, factor: angle, variance: wandering * variances[.azimuth].wander)
          state.forget(
            first + 8, factor: angle, variance: wandering * variances[.elevation].wander)
        }
      } else {
        start(step, index, mode, &state, first, variances)
      }
      last[step.peer] = step.device
      var components = step.components
      var reference = step.reference
      if mode.starts != nil {
        reference = state.vector(first)
        components = self.components(of: samples[index], step.device, motions[index], reference)
      }
      for component in components {
        let kind = component.kind
        var innovation = component.residual
        let place = state.vector(first) - reference
        innovation -= component.place.dot(place)
        innovation -= component.antenna.dot(state.vector(2) - base.antenna)
        innovation -= component.scale * (state.mean[0] - base.scale)
        innovation -= component.clockOffset * (state.mean[1] - base.clockOffset)
        var row = State.Row()
        row.add(0, component.scale)
        row.add(1, component.clockOffset)
        row.add(2, component.antenna)
        row.add(first, component.place)
        switch kind {
        case .range, .heightDifference:
          row.add(first + 3, 1)
          row.add(first + 4, 1)
          innovation -= state.mean[first + 3] + state.mean[first + 4]
        case .azimuth:
          row.add(first + 5, 1)
          row.add(first + 6, 1)
          innovation -= state.mean[first + 5] + state.mean[first + 6]
        case .elevation:
          row.add(first + 7, 1)
          row.add(first + 8, 1)
          innovation -= state.mean[first + 7] + state.mean[first + 8]
        }
        innovation = kind.wrapped(innovation)
        let white = variances[kind].white * component.widening * component.widening
        pass.logLikelihood += state.update(
          row, innovation: innovation, variance: white + component.poseVariance,
          outliers: kind.isAngle ? shares.1 : shares.0,
          outlierDensity: faults.outlierDensity(of: kind, innovation: innovation, excess: excess))
      }
      if mode.keepsPlaces {
        pass.places[index] = (state.vector(first), state.covariance(first))
      }
    }
    pass.constants = Constants(
      scale: state.mean[0], clockOffset: state.mean[1], antenna: state.vector(2))
    pass.constantSigmas = (0..<shared).map { state.variance($0).squareRoot() }
    pass.biases = (0..<peerCount).map { peer in
      let place = shared + width * peer + 3
      return (state.mean[place], state.variance(place))
    }
    return pass
  }

  private func start(
    _ step: Step, _ index: Int, _ mode: Mode, _ state: inout State, _ first: Int,
    _ variances: KindArray<(white: Double, wander: Double)>
  ) {
    let spread = Self.placeSigma * Self.placeSigma
    var place = step.reference
    var covariance = SymmetricMatrix3(xx: spread, xy: 0, xz: 0, yy: spread, yz: 0, zz: spread)
    if let starts = mode.starts, let given = starts[step.peer] {
      (place, covariance) = given
    }
    if isPlanar { place.y = step.device.worldFromDevice.translation.y }
    state.set(first, mean: place, covariance, isPlanar: isPlanar)
    state.set(first + 3, mean: 0, variance: Self.biasSigma * Self.biasSigma)
    state.set(first + 4, mean: 0, variance: variances[.range].wander)
    if hasAngles {
      for (offset, kind) in [(5, MeasurementKind.azimuth), (7, .elevation)] {
        let wander = variances[kind].wander
        state.set(first + offset, mean: 0, variance: Self.constantAngleShare * wander)
        state.set(first + offset + 1, mean: 0, variance: (1 - Self.constantAngleShare) * wander)
      }
    }
  }

  /// Where the peers were, from a pass forwards and one backwards.
  ///
  /// - Parameter noise: The noise.
  /// - Returns: A place for each step, and the constants.
  func smoothed(_ noise: NoiseParameters) -> (places: [Vector3], constants: Constants) {
    let forward = pass(noise, Mode(keepsPlaces: true))
    let backward = pass(noise, Mode(isBackward: true, keepsPlaces: true))
    let places = zip(forward.places, backward.places).map { a, b in
      guard let (first, second) = Self.inverses(a.covariance, b.covariance, isPlanar),
        let both = (first + second).positiveDefiniteInverse
      else { return a.mean }
      var place = both.times(first.times(a.mean) + second.times(b.mean))
      if isPlanar { place.y = a.mean.y }
      return place.isFinite ? place : a.mean
    }
    return (places, forward.constants)
  }

  private static func inverses(
    _ a: SymmetricMatrix3, _ b: SymmetricMatrix3, _ isPlanar: Bool
  ) -> (SymmetricMatrix3, SymmetricMatrix3)? {
    let height = SymmetricMatrix3(xx: 0, xy: 0, xz: 0, yy: isPlanar ? 1 : 0, yz: 0, zz: 0)
    guard let first = (a + height).positiveDefiniteInverse,
      let second = (b + height).positiveDefiniteInverse
    else { return nil }
    return (first, second)
  }
}
