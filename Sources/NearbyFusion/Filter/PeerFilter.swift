// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry

/// What the engine knows of one peer: its bank of hypotheses and what belongs to it.
///
/// The stages of a step, in the order in which ``FusionEngine/add(_:)-(RangingSample)`` runs them.
struct PeerFilter: Sendable {
  let motion: PeerMotion
  private(set) var bank = HypothesisBank()
  /// The device at the newest sample that was used: the time at which the bank stands.
  private(set) var device: TrajectoryPoint?
  private(set) var convergence = Convergence.unknown
  private(set) var vertical = VerticalDirectionEstimate.unknown
  private(set) var spread = DeviceSpread()

  private var noise: InlineArray<3, NoiseLevel> = [
    NoiseLevel(wanderFloor: 0.2), NoiseLevel(wanderFloor: 0.5), NoiseLevel(wanderFloor: 0.5),
  ]
  private var monitor = ContradictionMonitor()
  private var previousValues: InlineArray<3, Double> = InlineArray(repeating: .nan)
  private var lastSample: RangingSample?
  /// Since when no component of any sample has been usable.
  private var unusableSince: Timestamp?

  init(motion: PeerMotion) { self.motion = motion }

  /// How fast a moving peer strays, m²/s per axis: a walk with turns.
  private static let strayingPerSecond = 0.5
  /// Over what the wandering errors lose their memory: time and path for ranges, turning for all.
  private static let rangeWanderSeconds = 3.0
  private static let rangeWanderMetres = 0.4
  private static let rangeWanderRadians = 0.7
  private static let angleWanderRadians = 0.5
  /// A fresh start's share of the belief when the samples contradict the bank.
  private static let freshShare = 0.05

  var hasHypotheses: Bool { bank.count > 0 }

  // MARK: Stage 1, judging the sample

  /// Whether a sample is the one before it again.
  mutating func isDuplicate(_ sample: RangingSample) -> Bool {
    defer { lastSample = sample }
    return sample == lastSample
  }

  // MARK: Stage 2, birth

  mutating func give(
    _ components: InlineArray<3, MeasuredComponent?>, birthAt device: TrajectoryPoint,
    _ configuration: FusionConfiguration
  ) {
    bank = HypothesisBank()
    bank.add(birth(components, device, configuration).seeds(), sharing: 1)
    self.device = device
    spread = DeviceSpread()
    monitor.reset()
  }

  private func birth(
    _ components: InlineArray<3, MeasuredComponent?>, _ device: TrajectoryPoint,
    _ configuration: FusionConfiguration
  ) -> Birth {
    func observation(_ component: Component) -> Birth.Observation? {
      components[component.rawValue].map {
        let level = noise[component.rawValue]
        return Birth.Observation(
          value: $0.value, whiteVariance: level.whiteVariance(stated: $0.sigma),
          wanderVariance: level.wanderVariance(stated: $0.sigma))
      }
    }
    let ranging = configuration.ranging
    return Birth(
      antennaInWorld: device.worldFromDevice.act(ranging.antennaInDevice),
      worldFromDevice: device.worldFromDevice.rotation, range: observation(.range),
      azimuth: observation(.azimuth), elevation: observation(.elevation),
      rangeBiasSigma: ranging.rangeBiasSigma, rangeScaleSigma: ranging.rangeScaleSigma,
      wanderVariance: [
        noise[0].wanderVariance(stated: ranging.rangeSigma),
        noise[1].wanderVariance(stated: ranging.azimuthSigmaRadians),
        noise[2].wanderVariance(stated: ranging.elevationSigmaRadians),
      ],
      isPlanar: configuration.odometry.isPlanar,
      maximumCount: configuration.hypotheses.maximumCount)
  }

  // MARK: Stage 3, prediction

  /// What drift and straying do between the bank's time and another device point.
  func drift(to device: TrajectoryPoint, isPlanar: Bool) -> PosteriorView.Drift {
    guard let last = self.device else { return PosteriorView.Drift() }
    var variance = abs(device.positionDriftVariance - last.positionDriftVariance)
    if motion != .stationary {
      variance += Self.strayingPerSecond * abs(device.timestamp.seconds(since: last.timestamp))
    }
    return PosteriorView.Drift(
      horizontal: variance, vertical: isPlanar ? 0 : variance,
      yaw: abs(device.yawDriftVariance - last.yawDriftVariance))
  }

  mutating func predict(to device: TrajectoryPoint, _ configuration: FusionConfiguration) {
    guard let last = self.device, device.timestamp > last.timestamp else { return }
    let drift = drift(to: device, isPlanar: configuration.odometry.isPlanar)
    let seconds = device.timestamp.seconds(since: last.timestamp)
    let path = device.path - last.path
    let turn = device.turn - last.turn
    let position = device.worldFromDevice.translation
    let distance = max((bank.position(bank.heaviest) - position).length, 0.3)
    let ranging = configuration.ranging

    func decay(_ travelled: Double) -> Double { exp(-travelled) }
    let range = decay(
      seconds / Self.rangeWanderSeconds + path / Self.rangeWanderMetres
        + turn / Self.rangeWanderRadians)
    let angle = decay((turn + path / distance) / Self.angleWanderRadians)
    let renewed = 1 - angle * angle
    bank.propagate(
      nearby_motion(
        device_in_world: (position.x, position.y, position.z),
        horizontal_diffusion: drift.horizontal, vertical_diffusion: drift.vertical,
        yaw_diffusion: drift.yaw, range_wander_decay: range,
        range_wander_diffusion: (1 - range * range)
          * noise[0].wanderVariance(stated: ranging.rangeSigma),
        azimuth_wander_decay: angle,
        azimuth_wander_diffusion: renewed
          * noise[1].wanderVariance(stated: ranging.azimuthSigmaRadians),
        elevation_wander_decay: angle,
        elevation_wander_diffusion: renewed
          * noise[2].wanderVariance(stated: ranging.elevationSigmaRadians)))
    self.device = device
  }

  // MARK: Stage 4, update

  /// Updates the bank; a late sample meets it as it is now, with the drift since then as noise.
  ///
  /// - Returns: The logarithm of the sample's likelihood, and of the same under a fresh start.
  mutating func update(
    _ components: InlineArray<3, MeasuredComponent?>, at device: TrajectoryPoint,
    isObstructed: Bool, _ configuration: FusionConfiguration
  ) -> (bank: Double, fresh: Double) {
    let measurement = measurement(components, device, isObstructed: isObstructed, configuration)
    let logLikelihood = bank.update(measurement)
    spread.add(device.worldFromDevice.translation)
    return (logLikelihood, freshLogLikelihood(components, configuration))
  }

  private func measurement(
    _ components: InlineArray<3, MeasuredComponent?>, _ device: TrajectoryPoint,
    isObstructed: Bool, _ configuration: FusionConfiguration
  ) -> nearby_measurement {
    let pose = device.worldFromDevice
    let antenna = pose.act(configuration.ranging.antennaInDevice)
    let (x, y, z) = (pose.rotation.xAxis, pose.rotation.yAxis, pose.rotation.zAxis)
    let faults = configuration.faults

    // Noise of the pose: its interpolation, and for a late sample the drift since then.
    let best = bank.position(bank.heaviest) - antenna
    let distance = max(best.length, 0.3)
    var placeVariance = device.interpolationVariance
    var turnVariance = device.attitudeInterpolationVariance
    if let last = self.device, device.timestamp < last.timestamp {
      let late = drift(to: device, isPlanar: configuration.odometry.isPlanar)
      placeVariance += late.horizontal
      turnVariance += late.yaw
    }
    let angleVariance = placeVariance / (distance * distance) + turnVariance

    var value: InlineArray<3, Double> = InlineArray(repeating: 0)
    var variance: InlineArray<3, Double> = InlineArray(repeating: 1)
    var present: Int32 = 0
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      present |= 1 << Int32(index)
      value[index] = component.value
      variance[index] =
        noise[index].whiteVariance(stated: component.sigma)
        + (index == 0 ? placeVariance : angleVariance)
    }
    let rangeSigma = components[0]?.sigma ?? configuration.ranging.rangeSigma
    return nearby_measurement(
      antenna_in_world: (antenna.x, antenna.y, antenna.z),
      device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z),
      present: present,
      value: (value[0], value[1], value[2]),
      variance: (variance[0], variance[1], variance[2]),
      previous: (previousValues[0], previousValues[1], previousValues[2]),
      fault_floor: (isObstructed ? 0.6 : 0, 0, 0),
      fault_onset: (faults.rangeOnset, faults.angleOnset, faults.angleOnset),
      fault_persistence: faults.persistence,
      range_excess: max(faults.rangeExcess, 5 * rangeSigma),
      field_of_view: configuration.ranging.fieldOfViewRadians)
  }

  /// The sample's likelihood under hypotheses born to fit it: what the bank is measured against.
  private func freshLogLikelihood(
    _ components: InlineArray<3, MeasuredComponent?>, _ configuration: FusionConfiguration
  ) -> Double {
    var sum = 0.0
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      var variance =
        noise[index].whiteVariance(stated: component.sigma)
        + noise[index].wanderVariance(stated: component.sigma)
      if index == 0 {
        variance += configuration.ranging.rangeBiasSigma * configuration.ranging.rangeBiasSigma
      }
      sum -= 0.5 * log(2 * .pi * variance) + 0.5
    }
    return sum
  }

  // MARK: Stage 5, recovery

  /// Adds fresh hypotheses when the samples keep contradicting those there are.
  mutating func recover(
    _ evidence: (bank: Double, fresh: Double),
    _ components: InlineArray<3, MeasuredComponent?>, at device: TrajectoryPoint,
    _ configuration: FusionConfiguration
  ) {
    let isContradicted = monitor.isContradicted(
      logLikelihood: evidence.bank, fresh: evidence.fresh, at: device.timestamp,
      patience: convergence == .converged ? configuration.faults.doubtAfter : 0)
    if isContradicted {
      bank.add(
        birth(components, device, configuration).seeds(), sharing: Self.freshShare)
    }
  }

  // MARK: Stage 6, reduction

  mutating func reduce(_ configuration: HypothesisConfiguration) { bank.reduce(configuration) }

  // MARK: Stage 7, reports and learning

  /// Reports what became of the components, and learns how noisy they are.
  mutating func report(
    _ components: InlineArray<3, MeasuredComponent?>, into report: inout SampleReport
  ) {
    let best = bank.heaviest
    let isSettled = bank.weight(best) > 0.9
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      let innovation = bank[.innovation(index), best]
      let variance = bank[.innovationVariance(index), best]
      let inlier = bank[.inlier(index), best]
      let white = noise[index].whiteVariance(stated: component.sigma)
      report[index].variance = white
      report[index].innovation = innovation
      report[index].innovationVariance = variance
      report[index].outcome =
        inlier >= 0.5 ? .fused(weight: inlier) : .rejectedAsOutlier(weight: inlier)
      previousValues[index] = component.value
      if isSettled, inlier >= 0.5 {
        let taken = inlier * max(variance - white, 0) / variance
        noise[index].observe(
          before: innovation, after: innovation * (1 - taken), sigma: component.sigma)
      } else {
        noise[index].forgetLast()
      }
    }
  }

  /// Reports the components of the sample from which the bank was born: used, with no innovation.
  mutating func reportBirth(
    _ components: InlineArray<3, MeasuredComponent?>, into report: inout SampleReport
  ) {
    for index in 0..<3 {
      guard let component = components[index] else { continue }
      report[index].variance = noise[index].whiteVariance(stated: component.sigma)
      report[index].innovationVariance = .infinity
      report[index].outcome = .fused(weight: 1)
      previousValues[index] = component.value
    }
  }

  // MARK: Stage 8, convergence

  /// Takes note of whether anything of a sample was usable.
  mutating func noteUse(_ use: SampleReport.Use, at time: Timestamp) {
    if use != .rejected {
      unusableSince = nil
    } else if unusableSince == nil {
      unusableSince = time
    }
  }

  /// Judges convergence and the vertical direction as of the newest sample.
  mutating func assess(_ configuration: FusionConfiguration, isDark: Bool, at time: Timestamp) {
    guard hasHypotheses, let device else { return }
    let view = PosteriorView(bank, from: device, drift: PosteriorView.Drift())
    convergence = judge(view, configuration, isDark: isDark, at: time).convergence
    vertical = verticalDirection(view, configuration)
  }

  private func judge(
    _ view: PosteriorView, _ configuration: FusionConfiguration, isDark: Bool, at time: Timestamp
  ) -> (convergence: Convergence, progress: ConvergenceProgress) {
    let progress = view.progress(
      configuration.convergence, spread: spread, isPlanar: configuration.odometry.isPlanar)
    let unusable = unusableSince.map { time.seconds(since: $0) } ?? 0
    let judge = ConvergenceJudge(
      configuration: configuration.convergence, wasConverged: convergence == .converged,
      isDark: isDark, lacksSignal: unusable >= configuration.faults.doubtAfter)
    return (judge.judge(progress), progress)
  }

  /// Movement and the horizontal sweep come first: without them any word on the height would be the
  /// prior's. A planar world has no heights.
  private func verticalDirection(
    _ view: PosteriorView, _ configuration: FusionConfiguration
  ) -> VerticalDirectionEstimate {
    if configuration.odometry.isPlanar { return .unknown }
    if case .notConverged(let reasons) = convergence,
      !reasons.isDisjoint(with: [.insufficientMovement, .insufficientHorizontalSweep])
    {
      return .unknown
    }
    let probability = view.verticalProbabilities(
      sameLevelWithin: configuration.outputs.sameLevelWithin)
    return VerticalDirectionJudge(configuration: configuration.outputs, previous: vertical)
      .judge(above: probability.above, below: probability.below)
  }

  // MARK: Outputs

  /// The estimate as seen from the device at a moment; `nil` before the first sample.
  func estimate(
    of peer: PeerID, from device: TrajectoryPoint, _ configuration: FusionConfiguration,
    isDark: Bool
  ) -> PeerEstimate? {
    guard hasHypotheses else { return nil }
    let isPlanar = configuration.odometry.isPlanar
    let view = PosteriorView(bank, from: device, drift: drift(to: device, isPlanar: isPlanar))
    let (convergence, progress) = judge(
      view, configuration, isDark: isDark, at: device.timestamp)
    let outputs = configuration.outputs

    let distance = view.distance()
    let distanceLimit = max(
      outputs.distanceSigmaFloor, outputs.distanceSigmaPerDistance * distance.mean)
    let angle = view.horizontalAngle()
    let direction = view.direction()
    let height = view.heightDifference()
    let isConverged = convergence == .converged
    let place = RigidTransform(rotation: .identity, translation: view.mean)
    return PeerEstimate(
      peer: peer, timestamp: device.timestamp, convergence: convergence, progress: progress,
      distance: .gated(distance.mean, sigma: distance.sigma, limit: distanceLimit),
      direction: .gated(
        direction.unit, sigma: direction.sigma, limit: outputs.directionSigmaRadians),
      horizontalAngleRadians: .gated(
        angle.mean, sigma: angle.sigma, limit: outputs.horizontalAngleSigmaRadians),
      verticalDirection: verticalDirection(view, configuration),
      heightDifference: isPlanar
        ? Estimated(value: nil, sigma: .infinity, unavailability: .noData)
        : .gated(height.mean, sigma: height.sigma, limit: .infinity),
      worldTransform: Estimated(
        value: isConverged ? place : nil, sigma: progress.totalSigma,
        unavailability: isConverged ? nil : .notConverged),
      meanInWorld: view.mean, covarianceInWorld: view.covariance, hypothesisCount: bank.count)
  }
}

extension Estimated {
  /// A value that is published when its standard deviation is within a limit.
  fileprivate static func gated(_ value: Value, sigma: Double, limit: Double) -> Estimated {
    let isKnown = sigma <= limit
    return Estimated(
      value: isKnown ? value : nil, sigma: sigma, unavailability: isKnown ? nil : .tooUncertain)
  }
}
