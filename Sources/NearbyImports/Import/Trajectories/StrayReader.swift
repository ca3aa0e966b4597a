// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Reads `odometry.csv` of Stray Scanner, an ARKit logger, pose by pose.
///
/// `timestamp, frame, x, y, z, qx, qy, qz, qw` and, in newer files, intrinsics, which are left out.
/// The logger rotates ARKit's camera by half a turn about x, to x right, y down, z forward. The
/// reader reverts that.
struct StrayReader: ~Copyable, PoseSource {
  private static let names = ["timestamp", "frame", "x", "y", "z", "qx", "qy", "qz", "qw"]

  private var rows: DelimitedReader
  private var isPastHeader = false

  init(path: String) throws(RecordingError) {
    rows = try DelimitedReader(path: path, delimiter: .comma)
  }

  mutating func next() throws(RecordingError) -> PoseRow? {
    if !isPastHeader {
      isPastHeader = true
      guard try rows.next() else { return nil }
      guard Self.names.indices.allSatisfy({ rows.text($0) == Self.names[$0] }) else {
        throw rows.lineError(
          .missingColumn, "the header is not that of Stray Scanner's odometry.csv",
          remedy: "the first line must begin with \(Self.names.joined(separator: ", "))")
      }
    }
    guard try rows.next() else { return nil }
    guard rows.count >= Self.names.count else {
      throw rows.lineError(
        .wrongFieldCount,
        "the line has \(rows.count) field\(rows.count == 1 ? "" : "s"), not 9 or more",
        remedy: "remove the line if the file was cut off")
    }
    let x = try rows.finite(5, "qx")
    let y = try rows.finite(6, "qy")
    let z = try rows.finite(7, "qz")
    let w = try rows.finite(8, "qw")
    let pose = RigidTransform(
      rotation: try rows.rotation(x, y, z, w), translation: try rows.place(2, ["x", "y", "z"]))
    return PoseRow(
      timestamp: try rows.timestamp(0, .seconds),
      worldFromDevice: FrameConvention(up: .y, axes: .camera).engineWorldFromEngineDevice(pose),
      line: rows.lines.line)
  }
}
