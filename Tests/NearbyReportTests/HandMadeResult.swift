// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings

/// A recording and a result of it, made by hand, that live as long as this object.
///
/// The device stands until a second after the last sample at (10, 20, 1) of its odometry's world (z up, ROS axes) and
/// faces its y axis. In truth it stands at the origin of another world and faces x, and the peer lies at
/// (2, 3, 0.5) there: two ahead, three to the left, half a metre up. In the odometry's world that is
/// (10 - 3, 20 + 2, 1.5) = (7, 22, 1.5).
final class HandMadeResult {
  var recordingName = "hand"
  var peer = "keys"
  var isPlanar = false
  var hasTruth = true
  /// The samples' times, seconds.
  var times = [0, 1, 2, 3]
  /// Rows of `estimates.csv` without time and peer, one for each of the times.
  var rows = [
    row(status: "notConverged,insufficientMovement;insufficientVerticalSweep", meanX: 7.3, nis: ""),
    row(meanX: 7.1, nis: "2"),
    row(meanX: 7.1, nis: "4", used: "partial"),
    row(status: "notConverged,insufficientMovement", meanX: 7.2, nis: "", used: "rejected"),
  ]
  /// Rows of `smoothed.csv` without time and peer; no file when there are none.
  var smoothed: [String] = []
  private let folder = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID())")

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A row with a mean off by `meanX - 7` along x and the covariance diag(0.04, 0.01, 0.09).
  static func row(
    status: String = "converged,", distance: String = "3.6", angle: String = "-0.9",
    meanX: Double, nis: String, used: String = "all"
  ) -> String {
    "\(status),\(distance),0.5,0.8,0.1,\(angle),same,,,,\(meanX),22,1.5,0.04,0,0,0.01,0,0.09,"
      + "0.2,0.1,3,\(nis),\(used)"
  }

  /// Writes both and returns the path of the result.
  func write(name: String = "result") throws -> String {
    func put(_ text: String, _ path: String) throws {
      let url = folder.appending(path: path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    let title = String(
      decoding: try JSONEncoder().encode(recordingName), as: UTF8.self)
    let field = "\"\(peer.replacing("\"", with: "\"\""))\""
    try put(
      """
      { "format": "nearby-recording", "version": 1, "name": \(title),
        "world": { "up": "z" }, "device": { "axes": "ros" } }
      """, "recording/recording.json")
    // A quarter turn to the left about z: (0, 0, sin 45°, cos 45°).
    let turn = "0 0 0.70710678118654752 0.70710678118654752"
    try put(
      (0...(times[times.count - 1] + 1)).map { "\($0) 10 20 1 \(turn)\n" }.joined(),
      "recording/trajectory.txt")
    try put(
      "timestamp,peer,distance,azimuth,elevation\n"
        + rows.indices.map { index in
          "\(times[index]),\(field),3.64,\(index == 1 ? "-0.98,0.1" : ",")\n"
        }.joined(),
      "recording/ranging.csv")
    if hasTruth {
      try put(
        (0...(times[times.count - 1] + 1)).map { "\($0) 0 0 0 0 0 0 1\n" }.joined(),
        "recording/truth/trajectory.txt")
      try put("timestamp,peer,x,y,z\n0,\(field),2,3,0.5\n", "recording/truth/peers.csv")
    }
    try put(
      EstimateWriter.columns.joined(separator: ",") + "\n"
        + zip(times, rows).map { "\($0),\(field),\($1)\n" }.joined(), "\(name)/estimates.csv")
    if !smoothed.isEmpty {
      try put(
        "timestamp,peer,mean_x,mean_y,mean_z,cov_xx,cov_xy,cov_xz,cov_yy,cov_yz,cov_zz\n"
          + zip(times, smoothed).map { "\($0),\(field),\($1)\n" }.joined(),
        "\(name)/smoothed.csv")
    }
    try put(
      isPlanar ? #"{ "odometry": { "isPlanar": true } }"# : "{}", "\(name)/configuration.json")
    let recording = folder.appending(path: "recording").path
    try put(#"{ "recording": "\#(recording)" }"#, "\(name)/summary.json")
    return folder.appending(path: name).path
  }

  /// The path of an item beside recording and result.
  func path(_ name: String) -> String { folder.appending(path: name).path }
}
