// SPDX-License-Identifier: Apache-2.0
public import CNearby
import NearbyFusion
import NearbyRecordings
import NearbySimulation

/// Draws a run of a scenario from a seed and gives one of its tables.
@c @implementation
public func nearby_simulate(
  _ scenario: UnsafePointer<CChar>?, _ settings: UnsafePointer<CChar>?, _ seed: UInt64,
  _ peers: Int32, _ table: nearby_table, _ schema: UnsafeMutablePointer<ArrowSchema>?,
  _ array: UnsafeMutablePointer<ArrowArray>?,
  _ configuration: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let schema = unsafe schema else { throw Argument.null("schema") }
    guard let array = unsafe array else { throw Argument.null("array") }
    guard table.rawValue <= NEARBY_TABLE_TRACKING.rawValue else {
      throw .invalidArgument(
        "table is \(table.rawValue)", remedy: "pass that of the poses, the ranging or the tracking")
    }
    guard (0...1000).contains(peers) else {
      throw .invalidArgument("peers is \(peers)", remedy: "pass 1 to 1000, or 0 for the scenario's")
    }
    let name = try unsafe Argument.text(scenario, "scenario")
    let changes = unsafe settings == nil ? nil : try unsafe Argument.text(settings, "settings")
    let scenario = try Scenario.preset(name, changedBy: changes)
    let run = scenario.simulated(
      seed: seed, peerCount: peers == 0 ? scenario.peer.count : Int(peers))
    let columns =
      switch table {
      case NEARBY_TABLE_POSES: SimulationColumns.poses(run)
      case NEARBY_TABLE_RANGING: SimulationColumns.ranging(run)
      default: SimulationColumns.tracking(run)
      }
    unsafe ArrowExport.write(columns, schema: schema, array: array)
    if let configuration = unsafe configuration {
      unsafe configuration.pointee = CText.copy(
        ConfigurationFile.json(of: scenario.matchingConfiguration))
    }
  }
}

extension Scenario {
  /// A scenario by its name, with changed settings.
  fileprivate static func preset(
    _ name: String, changedBy json: String?
  ) throws(Failure) -> Scenario {
    guard var scenario = preset(named: name) else {
      throw .invalidArgument(
        "there is no scenario \(name.printable(limit: 80))",
        remedy: "there are \(presets.map(\.name).joined(separator: ", "))")
    }
    if let json {
      scenario = try locating(NEARBY_INVALID_CONFIGURATION) { () throws(RecordingError) in
        try SettingsText.apply(
          json: Array(json.utf8), file: "settings", over: scenario,
          as: SettingsText.Format(name: "the scenario"))
      }
    }
    do {
      try scenario.validate()
    } catch {
      throw Failure(
        NEARBY_INVALID_CONFIGURATION, code: "valueOutOfRange", error.description,
        remedy: "choose a value in that interval")
    }
    return scenario
  }
}
