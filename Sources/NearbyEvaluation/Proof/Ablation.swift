// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
package import NearbySimulation

/// A feature of the engine that a configuration can switch off.
package struct FeatureSwitch: Sendable {
  /// The feature's name.
  package var name: String
  /// Switches it off.
  package var turnOff: @Sendable (inout FusionConfiguration) -> Void

  /// Makes a switch.
  package init(_ name: String, turnOff: @escaping @Sendable (inout FusionConfiguration) -> Void) {
    self.name = name
    self.turnOff = turnOff
  }

  /// Switches a part of the engine off.
  private init(_ name: String, _ part: EngineFeatures) {
    self.init(name) { $0.features.remove(part) }
  }

  /// The features that can be switched off.
  package static let all = [
    FeatureSwitch("refinement", .refinement),
    FeatureSwitch("confirmation", .confirmation),
    FeatureSwitch("explanation", .explanation),
    FeatureSwitch("mirrored azimuths", .mirroredAzimuths),
    FeatureSwitch("constant angle errors", .constantAngleErrors),
    FeatureSwitch("fault chains", .faultChains),
    FeatureSwitch("stuck angles", .stuckAngles),
    FeatureSwitch("noise learning", .noiseLearning),
    FeatureSwitch("jump detection", .jumpDetection),
    FeatureSwitch("probation", .probation),
    FeatureSwitch("joint fit", .jointFit),
    FeatureSwitch("walk history", .walkHistory),
    FeatureSwitch("dormant tracks", .dormantTracks),
    FeatureSwitch("reopening", .reopening),
    FeatureSwitch("inflation", .inflation),
    FeatureSwitch("verification", .verification),
    // Faults that are shorter than a sample period are independent of each other.
    FeatureSwitch("fault persistence") { $0.faults.lastingSeconds = 0.01 },
    FeatureSwitch("fault model") {
      $0.faults.rangeOnset = 1e-6
      $0.faults.angleOnset = 1e-6
    },
    FeatureSwitch("range scale") { $0.ranging.rangeScaleSigma = 0 },
    FeatureSwitch("range bias") { $0.ranging.rangeBiasSigma = 0 },
    FeatureSwitch("height offset") { $0.ranging.heightOffsetSigma = 0 },
    FeatureSwitch("drift") {
      $0.odometry.positionDrift = 0
      $0.odometry.yawDriftRadians = 0
    },
    FeatureSwitch("lever arm") { $0.ranging.antennaInDevice = .zero },
    FeatureSwitch("challenger") { $0.faults.doubtAfter = 60 },
    FeatureSwitch("known noise") {
      let defaults = FusionConfiguration().ranging
      $0.ranging.rangeWhiteShare = defaults.rangeWhiteShare
      $0.ranging.azimuthWhiteShare = defaults.azimuthWhiteShare
      $0.ranging.elevationWhiteShare = defaults.elevationWhiteShare
      $0.ranging.whiteSharesAreKnown = false
    },
    FeatureSwitch("hysteresis") { $0.convergence.lossFactor = 1 },
  ]
}

/// Compares the engine with and without each feature, over scenarios.
package struct Ablation: Sendable {
  /// The settings of the runs.
  package var proof: Proof
  /// The features.
  package var switches: [FeatureSwitch]

  /// Makes an ablation.
  package init(_ proof: Proof, _ switches: [FeatureSwitch] = FeatureSwitch.all) {
    self.proof = proof
    self.switches = switches
  }

  /// A scenario's figures under one configuration.
  package struct Row: Sendable, Encodable {
    /// The feature that is switched off; `nil` when none is.
    package var featureOff: String?
    /// The figures.
    package var figures: ScenarioFigures
  }

  /// The results of an ablation.
  package struct Result: Sendable, Encodable {
    /// For each scenario a row with all features on, then a row for each feature that is off.
    package var rows: [Row]
  }

  /// Runs every scenario with all features on, then with each feature off.
  ///
  /// - Parameters:
  ///   - scenarios: The scenarios.
  ///   - finished: Called after each run, with the name of what is running.
  /// - Returns: The rows.
  /// - Throws: When a configuration is invalid.
  package func run(
    _ scenarios: [Scenario], finished: (String) -> Void = { _ in }
  ) async throws -> Result {
    var rows: [Row] = []
    for scenario in scenarios {
      rows.append(
        Row(
          featureOff: nil,
          figures: try await proof.figures(of: scenario) { finished(scenario.name) }))
      for feature in switches {
        var without = proof
        let change = proof.change
        without.change = { configuration in
          try change(&configuration)
          feature.turnOff(&configuration)
        }
        let figures = try await without.figures(of: scenario) {
          finished("\(scenario.name) without \(feature.name)")
        }
        rows.append(Row(featureOff: feature.name, figures: figures))
      }
    }
    return Result(rows: rows)
  }
}
