// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry

/// The errors of the radio that measures one peer in one run.
struct RadioDraw {
  let rangeScale: Double
  let rangeBias: Double

  private let radio: ScenarioRadio
  private let placeError: PlaceField
  private var rangeErrors: RangeErrorDraw
  private let azimuthBias: DirectionField
  private let elevationBias: DirectionField
  private let isAzimuthMirrored: Bool
  private var noise: SeededGenerator
  private var faults: SeededGenerator
  private var timing: SeededGenerator
  private var delivery: SeededGenerator
  private var isFirst = true
  private var isRangeFaulty = false
  private var areAnglesFaulty = false
  private var stuck = ArrivalAngles(azimuthRadians: 0, elevationRadians: 0)

  init(_ radio: ScenarioRadio, seed: UInt64, peer: UInt64, rangeErrors: RangeErrorDraw) {
    self.radio = radio
    self.rangeErrors = rangeErrors
    var errors = SeededGenerator(seed: seed, stream: 1001 + 2 * peer)
    rangeBias = radio.rangeBias + errors.normal(sigma: radio.rangeBiasSigma)
    rangeScale = errors.normal(sigma: radio.rangeScaleSigma)
    azimuthBias = DirectionField(sigma: radio.azimuth.bias, &errors)
    elevationBias = DirectionField(sigma: radio.elevation.bias, &errors)
    noise = SeededGenerator(seed: errors.next())
    faults = SeededGenerator(seed: errors.next())
    timing = SeededGenerator(seed: errors.next())
    delivery = SeededGenerator(seed: errors.next())
    var places = SeededGenerator(seed: seed, stream: 2_000_000 + peer)
    placeError = PlaceField(
      sigma: radio.rangePlaceSigma, length: radio.rangePlaceLength, &places)
    isAzimuthMirrored = delivery.uniform() < radio.azimuthMirror.share
  }

  // MARK: Time

  /// The times of the samples: at the radio's rate, starting at a random time in the first period.
  mutating func times(until end: Double, idle: Scenario.Idle) -> [Double] {
    let period = 1 / radio.rate
    let first = 0.02 + period * timing.uniform()
    var times = Array(stride(from: first, to: min(end - 0.05, idle.start), by: period))
    if idle.start < end {
      let idlePeriod = 1 / idle.sampleRate
      times += stride(from: (times.last ?? first) + idlePeriod, to: end - 0.05, by: idlePeriod)
    }
    return times
  }

  /// The delays after which a sample arrives, seconds: one, two or none.
  mutating func delays() -> (first: Double?, second: Double?) {
    var delay = timing.uniform(in: radio.latency)
    // The number of draws is constant, so that one fault does not change the others.
    let (lost, duplicate, late) = (delivery.uniform(), delivery.uniform(), delivery.uniform())
    let lateness = delivery.uniform(in: radio.lateness)
    if late < radio.lateShare { delay += lateness }
    if lost < radio.lostShare { return (nil, nil) }
    return (delay, duplicate < radio.duplicateShare ? delay + 0.01 : nil)
  }

  // MARK: Measuring

  /// The sample of a peer at an offset from the antenna, in device axes, metres.
  ///
  /// `nil` out of reach, or when neither the radio nor the barometers measure anything.
  mutating func sample(
    _ index: Int, at seconds: Double, offset: Vector3, height: BarometerDraw.Measurement?,
    moment: DeviceMoment, path: PeerPath
  ) -> SimulatedRun.Sample? {
    let range = measuredRange(
      offset, from: moment.truth.translation, to: path.position(at: seconds), at: seconds)
    let angles = measuredAngles(offset)
    guard radio.reach.contains(offset.length) else { return nil }
    let hasAzimuth = radio.measuresAzimuth && angles.value != nil
    let hasElevation = radio.measuresElevation && angles.value != nil
    guard radio.measuresRange || hasAzimuth || hasElevation || height != nil else { return nil }
    var sample = SimulatedRun.Sample(
      peer: index, timestamp: SimulatedRun.timestamp(at: seconds + radio.clockAhead(at: seconds)),
      seconds: seconds, odometryFromDevice: moment.odometryFromTruth * moment.truth,
      peerInOdometry: moment.odometryFromTruth.act(path.position(at: seconds)),
      peerVelocityInOdometry: moment.odometryFromTruth.rotation.act(path.velocity(at: seconds)),
      travelled: moment.travelled)
    if radio.measuresRange { (sample.distance, sample.isRangeFaulty) = range }
    if hasAzimuth {
      sample.azimuthRadians = angles.value?.azimuthRadians
      sample.isAzimuthFaulty = angles.isStuck || angles.isMirrored
    }
    if hasElevation {
      sample.elevationRadians = angles.value?.elevationRadians
      sample.isElevationFaulty = angles.isStuck
    }
    sample.heightDifference = height?.value
    sample.isHeightDifferenceFaulty = height?.isFaulty ?? false
    return sample
  }

  private mutating func measuredRange(
    _ offset: Vector3, from place: Vector3, to peer: Vector3, at seconds: Double
  ) -> (value: Double, isFaulty: Bool) {
    var distance =
      (1 + rangeScale) * offset.length + rangeBias + noise.normal(sigma: radio.rangeNoise)
    distance += placeError.value(at: place)
    let lasting = rangeErrors.error(
      offset: offset, from: place, to: peer, at: seconds, white: radio.rangeNoise)
    distance += lasting.value
    isRangeFaulty = radio.rangeFaults.isFaulty(after: isRangeFaulty, &faults)
    let excess = faults.exponential(mean: radio.rangeExcess)
    if isRangeFaulty { distance += excess }
    if isFirst { distance += radio.firstRangeError }
    let isFaulty = isRangeFaulty || lasting.isFault || isFirst && radio.firstRangeError != 0
    isFirst = false
    distance = max(0.01, distance)
    let (chance, kind) = (delivery.uniform(), delivery.uniform())
    guard chance < radio.garbageShare else { return (distance, isFaulty) }
    let garbage = [-distance, 0, 226, 645]
    return (garbage[Int(4 * kind)], true)
  }

  private mutating func measuredAngles(
    _ offset: Vector3
  ) -> (value: ArrivalAngles?, isStuck: Bool, isMirrored: Bool) {
    let white = (
      noise.normal(sigma: radio.azimuth.noise), noise.normal(sigma: radio.elevation.noise)
    )
    let wasFaulty = areAnglesFaulty
    areAnglesFaulty = radio.angleFaults.isFaulty(after: wasFaulty, &faults)
    let drawn = (faults.uniform(in: -1...1), faults.uniform(in: -1...1))
    let halfCone = radio.fieldOfViewRadians / 2
    if areAnglesFaulty, !wasFaulty {
      stuck = ArrivalAngles(
        azimuthRadians: halfCone * drawn.0, elevationRadians: min(halfCone, .pi / 2) * drawn.1)
    }
    guard radio.measuresAngles else { return (nil, false, false) }
    if areAnglesFaulty { return (stuck, true, false) }
    guard isInCone(offset, halfCone) else { return (nil, false, false) }
    let truth = ArrivalAngles(ofDirection: offset)
    let basis = DirectionField.Basis(at: offset)
    let elevation = truth.elevationRadians + elevationBias.value(basis) + white.1
    var azimuth = (truth.azimuthRadians + azimuthBias.value(basis) + white.0).wrappedAngle
    let isMirrored =
      isAzimuthMirrored
      && truth.azimuthRadians.magnitude > radio.azimuthMirror.beyondDegrees.degreesAsRadians
    if isMirrored { azimuth = ((azimuth < 0 ? -.pi : .pi) - azimuth).wrappedAngle }
    return (
      ArrivalAngles(
        azimuthRadians: azimuth, elevationRadians: min(max(elevation, -.pi / 2), .pi / 2)),
      false, isMirrored
    )
  }

  /// Whether a direction is within `halfCone` radians of straight ahead.
  private func isInCone(_ offset: Vector3, _ halfCone: Double) -> Bool {
    let across = Vector3(offset.x, offset.y, 0).length
    return ArrivalAngles(ofDirection: Vector3(across, 0, offset.z)).azimuthRadians <= halfCone
  }
}
