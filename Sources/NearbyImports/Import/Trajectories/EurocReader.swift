// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Reads a trajectory of the EuRoC data sets, `state_groundtruth_estimate0/data.csv`, pose by pose.
///
/// `timestamp [ns], p x y z [m], q w x y z` and, in the data sets themselves, velocity and biases,
/// which are left out. Nanoseconds are read as integers.
struct EurocReader: ~Copyable, PoseSource {
  private var rows: DelimitedReader

  init(path: String) throws(RecordingError) {
    rows = try DelimitedReader(path: path, delimiter: .comma)
  }

  mutating func next() throws(RecordingError) -> PoseRow? {
    guard try rows.next() else { return nil }
    guard rows.count >= 8 else {
      throw rows.lineError(
        .wrongFieldCount,
        "the line has \(rows.count) field\(rows.count == 1 ? "" : "s"), not 8 or 17",
        remedy: "write timestamp [ns], p_x, p_y, p_z, q_w, q_x, q_y, q_z")
    }
    let w = try rows.finite(4, "q_w")
    let x = try rows.finite(5, "q_x")
    let y = try rows.finite(6, "q_y")
    let z = try rows.finite(7, "q_z")
    return PoseRow(
      timestamp: try rows.timestamp(0, .nanoseconds),
      worldFromDevice: RigidTransform(
        rotation: try rows.rotation(x, y, z, w),
        translation: try rows.place(1, ["p_x", "p_y", "p_z"])),
      line: rows.lines.line)
  }
}
