// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry
package import NearbySimulation

/// The priors and the noise of an exact posterior: those that an engine is told.
package struct ReferenceModel: Sendable {
  /// Of the range's constant error, one sigma, metres.
  package var rangeBiasSigma: Double
  /// Of the range's scale error, one sigma.
  package var rangeScaleSigma: Double
  /// Of the range's white noise, one sigma, metres.
  package var rangeNoise: Double
  /// Of the azimuth: white noise and a `DirectionField`.
  package var azimuth: ScenarioRadio.AngleError
  /// Of the elevation, likewise.
  package var elevation: ScenarioRadio.AngleError
  /// Metres per square root of a metre travelled.
  package var positionDrift: Double
  /// Radians per square root of a metre travelled.
  package var yawDriftRadians: Double

  /// Makes the model of a scenario and of what its engine is told.
  ///
  /// - Parameters:
  ///   - scenario: The scenario; `nil` is returned unless ``obstacle(in:)`` finds nothing.
  ///   - configuration: The engine's configuration, which holds the priors.
  package init?(_ scenario: Scenario, _ configuration: FusionConfiguration) {
    guard Self.obstacle(in: scenario) == nil else { return nil }
    rangeBiasSigma = configuration.ranging.rangeBiasSigma
    rangeScaleSigma = configuration.ranging.rangeScaleSigma
    rangeNoise = scenario.radio.rangeNoise
    azimuth = scenario.radio.azimuth
    elevation = scenario.radio.elevation
    positionDrift = configuration.odometry.positionDrift
    yawDriftRadians = configuration.odometry.yawDriftRadians
  }

  /// The reason why a scenario has no exact posterior here; `nil` when it has one.
  ///
  /// It needs ranges without faults to one peer at rest, and odometry that drifts as it says.
  package static func obstacle(in scenario: Scenario) -> String? {
    let (radio, odometry, peer) = (scenario.radio, scenario.odometry, scenario.peer)
    let obstacles: [(Bool, String)] = [
      (peer.count > 1, "it has several peers"),
      (peer.motion != .resting || peer.declaredMotion != .stationary, "the peer may move"),
      (!radio.measuresRange || radio.rangeNoise <= 0, "it has no ranges with white noise"),
      (
        radio.rangeFaults.share > 0 || radio.garbageShare > 0 || radio.firstRangeError != 0
          || radio.angleFaults.share > 0 || radio.azimuthMirror.share > 0,
        "it has faulty measurements"
      ),
      (radio.rangePlaceSigma > 0, "its ranges have errors that depend on the place"),
      (radio.rangeErrors != ScenarioRangeErrors(), "its ranges have errors that last"),
      (
        radio.clockOffset != 0 || radio.clockStep.step != 0 || radio.lateShare > 0
          || radio.duplicateShare > 0,
        "its samples are late, doubled or have wrong times"
      ),
      (
        odometry.jump.displacement != .zero || odometry.slip.isPresent || odometry.loss.duration > 0
          || odometry.freeze.duration > 0 || odometry.scale != 1
          || odometry.steadyTurnDegrees > 0 || odometry.tiltDegrees > 0
          || odometry.positionNoise > 0 || odometry.attitudeNoiseDegrees > 0,
        "its odometry has faults besides drift"
      ),
      (scenario.idle.afterSeconds > 0, "the device becomes idle"),
    ]
    return obstacles.first { $0.0 }?.1
  }
}

/// What one sample measures and where, for a ``ReferencePosterior``.
package struct ReferenceObservation: Sendable {
  /// The device in the odometry's world.
  package var odometryFromDevice: RigidTransform
  /// The antenna in the odometry's world, metres.
  package var antenna: Vector3
  /// The path travelled since the previous observation, metres.
  package var metres: Double
  /// The measured range, metres.
  package var range: Double?
  /// The measured azimuth, radians.
  package var azimuthRadians: Double?
  /// The measured elevation, radians.
  package var elevationRadians: Double?

  /// The observations of a run's first peer, one for each sample.
  package static func all(of run: SimulatedRun) -> [ReferenceObservation] {
    var travelled = run.samples.first?.travelled ?? 0
    return run.samples.map { sample in
      defer { travelled = sample.travelled }
      return ReferenceObservation(
        odometryFromDevice: sample.odometryFromDevice,
        antenna: sample.odometryFromDevice.act(run.antennaInDevice),
        metres: sample.travelled - travelled, range: sample.distance,
        azimuthRadians: sample.azimuthRadians, elevationRadians: sample.elevationRadians)
    }
  }
}
