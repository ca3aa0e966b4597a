// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
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
    let numbers = [
      ArrowColumn("distance", .float64, unit: "m"), ArrowColumn("azimuth", .float64, unit: "rad"),
      ArrowColumn("elevation", .float64, unit: "rad"),
      ArrowColumn("height_difference", .float64, unit: "m"),
    ]
    let truth = VectorColumns("true", unit: "m")
    let faults = ["distance", "azimuth", "elevation", "height_difference"].map {
      ArrowColumn("\($0)_is_fault", .boolean)
    }
    for event in run.events {
      guard case .sample(let index) = event else { continue }
      let sample = run.samples[index]
      times.append(sample.timestamp)
      peer.append(index: sample.peer)
      numbers[0].append(sample.distance)
      numbers[1].append(sample.azimuthRadians)
      numbers[2].append(sample.elevationRadians)
      numbers[3].append(sample.heightDifference)
      truth.append(sample.peerInOdometry)
      faults[0].append(Optional(sample.isRangeFaulty))
      faults[1].append(Optional(sample.isAzimuthFaulty))
      faults[2].append(Optional(sample.isElevationFaulty))
      faults[3].append(Optional(sample.isHeightDifferenceFaulty))
    }
    return times.all + [peer] + numbers + truth.all + faults
  }

  static func tracking(_ run: SimulatedRun) -> [ArrowColumn] {
    let rows = TrackingColumns()
    for sample in run.tracking { rows.append(sample) }
    return rows.all
  }
}
