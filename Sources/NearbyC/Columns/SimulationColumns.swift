// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation

/// The tables of a simulated run: those of a recording, in the engine's frames, with the truth.
enum SimulationColumns {
  static func poses(_ run: SimulatedRun) -> [ArrowColumn] {
    let rows = PoseColumns()
    for pose in run.poses { rows.append(pose.timestamp, pose.worldFromDevice) }
    return rows.all
  }

  /// The samples in the order of arrival, with the true place of the peer in the odometry's world as it
  /// was then, and which values are faults.
  static func ranging(_ run: SimulatedRun) -> [ArrowColumn] {
    let times = TimeColumns()
    let names = run.peers.count == 1 ? ["peer"] : run.peers.indices.map { "peer\($0 + 1)" }
    let peer = ArrowColumn("peer", .words, words: names)
    let numbers = MeasurementKind.allCases.map { ArrowColumn($0.column) }
    let truth = VectorColumns("true", unit: "m")
    let faults = MeasurementKind.allCases.map {
      ArrowColumn("\($0.column.name)_is_fault", .boolean)
    }
    for event in run.events {
      guard case .sample(let index) = event else { continue }
      let sample = run.samples[index]
      times.append(sample.timestamp)
      peer.append(index: sample.peer)
      for (kind, column) in zip(MeasurementKind.allCases, numbers) {
        column.append(sample.values[kind])
      }
      truth.append(sample.peerInOdometry)
      for (kind, column) in zip(MeasurementKind.allCases, faults) {
        column.append(Optional(sample.faults[kind]))
      }
    }
    return times.all + [peer] + numbers + truth.all + faults
  }

  static func tracking(_ run: SimulatedRun) -> [ArrowColumn] {
    let rows = TrackingColumns()
    for sample in run.tracking { rows.append(sample) }
    return rows.all
  }
}
