// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry

/// A recording to time a whole run on: 1000 s of walking, 60 000 poses, 10 000 samples of one peer.
enum SyntheticRecording {
  private static let seconds = 1000

  private static let manifest = """
    {
      "format": "nearby-recording", "version": 1, "name": "speed",
      "description": "A smooth walk past one stationary peer, made up to time a run on",
      "world": { "up": "y" },
      "device": { "axes": "arkit" },
      "peers": [ { "id": "peer", "motion": "stationary" } ]
    }

    """

  /// Writes the recording into a folder, which is made if missing.
  static func write(into folder: String) throws {
    let walk = Walk(path: .curve, peer: Vector3(5.5, 0.8, -3))
    var noise = Noise(seed: 4)
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    var trajectory = "# timestamp tx ty tz qx qy qz qw\n"
    var ranging = "timestamp,peer,distance,azimuth,elevation\n"
    for second in 0..<seconds {
      for pose in walk.poses(ofSecond: second) {
        let place = pose.worldFromDevice.translation
        let turn = pose.worldFromDevice.rotation
        trajectory += text(
          [
            pose.timestamp.seconds, place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w,
          ], separator: " ")
      }
      for sample in walk.samples(ofSecond: second, peer: peer, withAngles: true, &noise) {
        let values = [sample.distance, sample.azimuthRadians, sample.elevationRadians]
        ranging += String(format: "%.6f,peer,", sample.timestamp.seconds)
        ranging += text(values.map { $0 ?? .nan }, separator: ",")
      }
    }
    let root = URL(filePath: folder)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    let files = [
      "recording.json": manifest, "trajectory.txt": trajectory, "ranging.csv": ranging,
    ]
    for (name, text) in files { try Data(text.utf8).write(to: root.appending(path: name)) }
  }

  private static func text(_ values: [Double], separator: String) -> String {
    values.map { String(format: "%.6f", $0) }.joined(separator: separator) + "\n"
  }
}
