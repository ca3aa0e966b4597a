// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry
public import NearbySimulation

/// A feature of the engine that a configuration can switch off.
public struct FeatureSwitch: Sendable {
  /// The feature's name.
  public var name: String
  /// Switches it off.
  public var turnOff: @Sendable (inout FusionConfiguration) -> Void

  /// Makes a switch.
  public init(_ name: String, turnOff: @escaping @Sendable (inout FusionConfiguration) -> Void) {
    self.name = name
    self.turnOff = turnOff
  }

  /// Switches a part of the engine off.
  private init(_ name: String, _ part: EngineFeatures) {
    self.init(name) { $0.features.remove(part) }
  }

  /// The features that can be switched off.
  public static let all = [
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
    FeatureSwitch("gaussian sum", .gaussianSum),
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
public struct Ablation: Sendable {
  /// The settings of the runs.
  public var proof: Proof
  /// The features.
  public var switches: [FeatureSwitch]

  /// Makes an ablation.
  public init(_ proof: Proof, _ switches: [FeatureSwitch] = FeatureSwitch.all) {
    self.proof = proof
    self.switches = switches
  }

  /// A scenario's figures under one configuration.
  public struct Row: Sendable, Encodable {
    /// The feature that is switched off; `nil` when none is.
    public var featureOff: String?
    /// The figures.
    public var figures: ScenarioFigures
  }

  /// The results of an ablation.
  public struct Result: Sendable, Encodable {
    /// For each scenario a row with all features on, then a row for each feature that is off.
    public var rows: [Row]
  }

  /// Runs every scenario with all features on, then with each feature off.
  ///
  /// - Parameters:
  ///   - scenarios: The scenarios.
  ///   - finished: Called after each run, with the name of what is running.
  /// - Returns: The rows.
  /// - Throws: When a configuration is invalid.
  public func run(
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
