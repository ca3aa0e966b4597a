// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry

/// An invalid setting of a scenario.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The setting's path, such as `radio.rangeNoise`.
  public var setting: String
  /// The problem and the allowed values.
  public var problem: String

  /// Both in one line.
  public var description: String { "\(setting): \(problem)" }
}

extension Scenario {
  /// Checks every setting; ``simulated(seed:peer:)`` needs a scenario that passes.
  ///
  /// - Throws: The first setting that is outside its interval.
  public func validate() throws(ScenarioError) {
    if name.isEmpty || name.contains(where: { $0 == "/" || $0.isNewline }) {
      throw ScenarioError(setting: "name", problem: "must be one word or line, without slashes")
    }
    try check(duration, "duration", 1...1e6)
    if case .recovers(let seconds) = expectation {
      try check(seconds, "expectation.afterSeconds", 0...1e6)
    }
    try check(idle.afterSeconds, "idle.afterSeconds", 0...1e6)
    try check(idle.poseRate, "idle.poseRate", 0.01...1000)
    try check(idle.sampleRate, "idle.sampleRate", 0.001...1000)
    try validateWalk()
    try validateOdometry()
    try validateRanges()
    try validateAngles()
    try validateDelivery()
    try validateBarometers()
    try validatePeer()
    // Limits memory: an hour at 60 poses a second is 2e5 poses.
    let busy = idle.afterSeconds > 0 ? min(duration, idle.afterSeconds) : duration
    let poses = busy * odometry.rate + (duration - busy) * idle.poseRate
    let samples = busy * radio.rate + (duration - busy) * idle.sampleRate
    try check(poses, "duration times odometry.rate", 2...2e7)
    try check(samples, "duration times radio.rate", 0...2e7)
  }

  private func validateWalk() throws(ScenarioError) {
    try check(walk.roomLength, "walk.roomLength", 2...1e4)
    try check(walk.roomWidth, "walk.roomWidth", 2...1e4)
    try check(walk.heightVariation, "walk.heightVariation", 0...2)
    try check(walk.slopePercent, "walk.slopePercent", 0...100)
    try check(walk.ridgePercent, "walk.ridgePercent", 0...100)
    try check(walk.undulation, "walk.undulation", 0...10)
    try check(walk.climbRate, "walk.climbRate", -10...10)
    try check(walk.straightSeconds, "walk.straightSeconds", 0...1e6)
    try check(walk.stairsAfterSeconds, "walk.stairsAfterSeconds", 0...1e6)
  }

  private func validateOdometry() throws(ScenarioError) {
    try check(odometry.rate, "odometry.rate", 0.1...1000)
    try check(odometry.positionDrift, "odometry.positionDrift", 0...10)
    try check(odometry.yawDriftDegrees, "odometry.yawDriftDegrees", 0...180)
    try check(odometry.steadyTurnDegrees, "odometry.steadyTurnDegrees", 0...180)
    try check(odometry.scale, "odometry.scale", 0.1...10)
    try check(odometry.freeze.seconds, "odometry.freeze.seconds", 0...1e6)
    try check(odometry.freeze.duration, "odometry.freeze.duration", 0...1e6)
    try check(odometry.positionNoise, "odometry.positionNoise", 0...10)
    try check(odometry.attitudeNoiseDegrees, "odometry.attitudeNoiseDegrees", 0...90)
    try check(odometry.tiltDegrees, "odometry.tiltDegrees", 0...45)
    try check(odometry.jump.seconds, "odometry.jump.seconds", 0...1e6)
    try check(odometry.jump.displacement, "odometry.jump.displacement", 1e4)
    try check(odometry.slip.seconds, "odometry.slip.seconds", 0...1e6)
    try check(odometry.slip.duration, "odometry.slip.duration", 0...60)
    try check(odometry.slip.turnDegrees, "odometry.slip.turnDegrees", 0...180)
    try check(odometry.slip.shift, "odometry.slip.shift", 0...1e4)
    try check(odometry.slip.rise, "odometry.slip.rise", 0...1e4)
    try check(odometry.slip.scale, "odometry.slip.scale", 0...10)
    if odometry.slip.scale != 1, odometry.slip.duration == 0 {
      throw ScenarioError(
        setting: "odometry.slip.scale", problem: "needs an odometry.slip.duration above zero")
    }
    try check(odometry.loss.seconds, "odometry.loss.seconds", 0...1e6)
    try check(odometry.loss.duration, "odometry.loss.duration", 0...1e6)
    try check(odometry.loss.relocalizing, "odometry.loss.relocalizing", 0...1e6)
    try check(odometry.loss.displacement, "odometry.loss.displacement", 1e4)
    try check(odometry.loss.turnDegrees, "odometry.loss.turnDegrees", -180...180)
    try check(odometry.lightLumens, "odometry.lightLumens", 0...1e6)
    try check(odometry.dark.seconds, "odometry.dark.seconds", 0...1e6)
    try check(odometry.dark.duration, "odometry.dark.duration", 0...1e6)
    try check(odometry.dark.lumens, "odometry.dark.lumens", 0...1e6)
  }

  private func validateRanges() throws(ScenarioError) {
    try check(radio.rate, "radio.rate", 0.001...1000)
    try check(radio.antennaInDevice, "radio.antennaInDevice", 10)
    try check(radio.rangeNoise, "radio.rangeNoise", 0...100)
    try check(radio.rangeBias, "radio.rangeBias", -100...100)
    try check(radio.rangeBiasSigma, "radio.rangeBiasSigma", 0...100)
    try check(radio.rangeScaleSigma, "radio.rangeScaleSigma", 0...0.3)
    try check(radio.rangePlaceSigma, "radio.rangePlaceSigma", 0...100)
    try check(radio.rangePlaceLength, "radio.rangePlaceLength", 0.01...1e4)
    try check(radio.rangeFaults, "radio.rangeFaults")
    try check(radio.rangeExcess, "radio.rangeExcess", 0...1000)
    try check(radio.garbageShare, "radio.garbageShare", 0...1)
    try check(radio.firstRangeError, "radio.firstRangeError", -1000...1000)
    try check(radio.reach, "radio.reach", 0...1e6)
    try validateRangeErrors()
  }

  private func validateRangeErrors() throws(ScenarioError) {
    let errors = radio.rangeErrors
    try check(errors.attitudeSigma, "radio.rangeErrors.attitudeSigma", 0...100)
    try check(errors.placeSigma, "radio.rangeErrors.placeSigma", 0...100)
    try check(errors.placeLength, "radio.rangeErrors.placeLength", 0.01...1e4)
    try check(Double(errors.zones.count), "radio.rangeErrors.zones.count", 0...1000)
    try check(errors.zones.radius, "radio.rangeErrors.zones.radius", 0...1e4)
    try check(errors.zones.excess, "radio.rangeErrors.zones.excess", 0...1000)
    try check(errors.turned.share, "radio.rangeErrors.turned.share", 0...1)
    try check(errors.turned.excess, "radio.rangeErrors.turned.excess", 0...1000)
    try check(errors.walls.excess, "radio.rangeErrors.walls.excess", 0...100)
    try check(errors.walls.spacing, "radio.rangeErrors.walls.spacing", 0.5...1e4)
    try check(errors.warming.metres, "radio.rangeErrors.warming.metres", -100...100)
    try check(errors.warming.seconds, "radio.rangeErrors.warming.seconds", 0.1...1e6)
    try check(errors.lapse.seconds, "radio.rangeErrors.lapse.seconds", 0...1e6)
    try check(errors.lapse.duration, "radio.rangeErrors.lapse.duration", 0...1e6)
    try check(errors.lapse.error, "radio.rangeErrors.lapse.error", -1000...1000)
    try check(errors.lapse.wildShare, "radio.rangeErrors.lapse.wildShare", 0...1)
  }

  private func validateAngles() throws(ScenarioError) {
    try check(radio.fieldOfViewDegrees, "radio.fieldOfViewDegrees", 1...360)
    try check(radio.azimuth.noiseDegrees, "radio.azimuth.noiseDegrees", 0...180)
    try check(radio.azimuth.biasDegrees, "radio.azimuth.biasDegrees", 0...180)
    try check(radio.elevation.noiseDegrees, "radio.elevation.noiseDegrees", 0...180)
    try check(radio.elevation.biasDegrees, "radio.elevation.biasDegrees", 0...180)
    try check(radio.angleFaults, "radio.angleFaults")
    try check(radio.azimuthMirror.share, "radio.azimuthMirror.share", 0...1)
    try check(radio.azimuthMirror.beyondDegrees, "radio.azimuthMirror.beyondDegrees", 0...180)
  }

  private func validateDelivery() throws(ScenarioError) {
    try check(radio.latency, "radio.latency", 0...60)
    try check(radio.clockOffset, "radio.clockOffset", -60...60)
    try check(radio.clockStep.seconds, "radio.clockStep.seconds", 0...1e6)
    try check(radio.clockStep.step, "radio.clockStep.step", -60...60)
    try check(radio.lostShare, "radio.lostShare", 0...1)
    try check(radio.duplicateShare, "radio.duplicateShare", 0...1)
    try check(radio.lateShare, "radio.lateShare", 0...1)
    try check(radio.lateness, "radio.lateness", 0...60)
  }

  private func validateBarometers() throws(ScenarioError) {
    try check(barometers.interval, "barometers.interval", 0...1e6)
    try check(barometers.noise, "barometers.noise", 0...100)
    try check(barometers.offsetSigma, "barometers.offsetSigma", 0...1000)
    try check(barometers.offsetSeconds, "barometers.offsetSeconds", 1...1e6)
    try check(barometers.faults, "barometers.faults")
    try check(barometers.faultSigma, "barometers.faultSigma", 0...1000)
  }

  private func validatePeer() throws(ScenarioError) {
    try check(peer.distance, "peer.distance", 0...1e4)
    try check(peer.heightDifference, "peer.heightDifference", -1e3...1e3)
    try check(Double(peer.count), "peer.count", 1...1000)
    try check(Double(peer.alongCount), "peer.alongCount", 0...1000)
    try check(Double(peer.creepingCount), "peer.creepingCount", 0...1000)
    try check(Double(peer.carriedCount), "peer.carriedCount", 0...1000)
    try check(peer.creepingSpeed, "peer.creepingSpeed", 0...100)
    try check(peer.speed, "peer.speed", 0...100)
    try check(peer.carriedAfterSeconds, "peer.carriedAfterSeconds", 0...1e6)
    try check(peer.carriedForSeconds, "peer.carriedForSeconds", 0...1e6)
    try check(peer.pauseSeconds, "peer.pauseSeconds", 0...1e6)
    try check(peer.restSeconds, "peer.restSeconds", 0...1e6)
    // Limits memory: each walk takes some 600 bytes.
    try check(peer.walkSeconds, "peer.walkSeconds", 1.5...1e6)
    try check(peer.silence.seconds, "peer.silence.seconds", 0...1e6)
    try check(peer.silence.duration, "peer.silence.duration", 0...1e6)
    if peer.formation != .alone, peer.motion != .walking {
      throw ScenarioError(
        setting: "peer.formation",
        problem: "is \(peer.formation.rawValue), must be alone unless peer.motion is walking")
    }
  }

  // MARK: Checks

  private func check(
    _ value: Double, _ setting: String, _ interval: ClosedRange<Double>
  ) throws(ScenarioError) {
    guard interval.contains(value) else {
      throw ScenarioError(
        setting: setting,
        problem: "is \(value), must be \(interval.lowerBound) to \(interval.upperBound)")
    }
  }

  private func check(
    _ value: ClosedRange<Double>, _ setting: String, _ interval: ClosedRange<Double>
  ) throws(ScenarioError) {
    try check(value.lowerBound, setting, interval)
    try check(value.upperBound, setting, interval)
  }

  private func check(
    _ value: Vector3, _ setting: String, _ longest: Double
  ) throws(ScenarioError) {
    guard value.isFinite, value.length <= longest else {
      throw ScenarioError(setting: setting, problem: "must be at most \(longest) m long")
    }
  }

  private func check(
    _ value: ScenarioRadio.FaultProcess, _ setting: String
  ) throws(ScenarioError) {
    try check(value.share, "\(setting).share", 0...0.95)
    try check(value.persistence, "\(setting).persistence", 0...0.9999)
    let onset = value.share * (1 - value.persistence) / (1 - value.share)
    if onset > 1 {
      throw ScenarioError(
        setting: "\(setting).persistence",
        problem:
          "is too small for a share of \(value.share): faults would have to begin more often "
          + "than there are samples")
    }
  }
}
