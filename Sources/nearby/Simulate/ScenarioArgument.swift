// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyFusion
import NearbyRecordings
import NearbySimulation

/// A scenario of the command line: a preset or a JSON file, with changed settings.
enum ScenarioArgument {
  /// Finds a scenario.
  ///
  /// - Parameters:
  ///   - name: A preset's name, or the path of a JSON file with the differences from `find`.
  ///   - assignments: Settings such as `radio.rangeNoise=0.2`, applied in order.
  /// - Returns: The scenario, valid.
  /// - Throws: An unknown name or an invalid setting.
  static func scenario(_ name: String, setting assignments: [String] = []) throws -> Scenario {
    var scenario = try preset(name) ?? file(name)
    for assignment in assignments {
      do {
        scenario = try SettingsText.apply(assignment: assignment, over: scenario, as: format)
      } catch {
        throw CommandFailure(.usage, "--set \(error.description)")
      }
    }
    do {
      // Validated together, since settings may be valid only in combination.
      try scenario.validate()
    } catch {
      let culprit = assignments.last { $0.hasPrefix("\(error.setting)=") }
      throw CommandFailure(
        .usage, "--set \(culprit.map { "\($0): " } ?? "")\(error.description)")
    }
    return scenario
  }

  /// The allowed words of settings of scenarios.
  static let format = SettingsText.Format(
    name: "the scenario",
    choices: [
      "motion": ScenarioMotion.Kind.allCases.map(\.rawValue),
      "expectation.outcome": [
        "converges", "neverConverges", "recovers", "follows", "mayConverge",
      ],
      "peer.side": ScenarioPeer.Side.allCases.map(\.rawValue),
      "peer.direction": ScenarioPeer.Direction.allCases.map(\.rawValue),
      "peer.motion": ScenarioPeer.Motion.allCases.map(\.rawValue),
      "peer.formation": ScenarioPeer.Formation.allCases.map(\.rawValue),
      "peer.declaredMotion": PeerMotion.allCases.map(\.rawValue),
    ])

  private static func preset(_ name: String) throws -> Scenario? {
    if let scenario = Scenario.preset(named: name) { return scenario }
    if name.contains("/") || name.hasSuffix(".json") || FileManager.default.fileExists(atPath: name)
    {
      return nil
    }
    let hint = Scenario.presets.map(\.name).likeliest(for: name).map { "; did you mean \($0)?" }
    throw CommandFailure(
      .usage,
      "there is no scenario \(name)\(hint ?? ""); 'nearby simulate --list' lists them; a file's name ends in .json"
    )
  }

  private static func file(_ path: String) throws -> Scenario {
    // Missing settings are those of the simplest scenario, except the name and the text.
    var base = Scenario(.sweepThenWalk)
    base.name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    let json = try FileBytes.read(path: path)
    let scenario = try SettingsText.apply(json: json, file: path, over: base, as: format)
    do {
      try scenario.validate()
    } catch {
      let place = SettingsText.place(of: error.setting, in: json)
      throw RecordingError(
        .valueOutOfRange, error.description, file: path, line: place?.line, column: place?.column,
        remedy: "choose a value in that interval")
    }
    return scenario
  }
}
