// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A recording folder that lives as long as this object.
final class TemporaryRecording {
  static let manifest = #"{ "format": "nearby-recording", "version": 1, "name": "test" }"#
  static let pose = "0 0 0 0 0 0 0 1\n"
  static let header = "timestamp,peer,distance,azimuth,elevation\n"

  let path: String

  /// Writes the files given; a `nil` leaves the file out.
  init(
    manifest: String? = manifest, trajectory: String? = pose,
    ranging: String? = header + "0,a,1,,\n", others: [String: String] = [:]
  ) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID())").path
    try FileManager.default.createDirectory(
      atPath: path + "/truth", withIntermediateDirectories: true)
    var files = others
    files["recording.json"] = manifest
    files["trajectory.txt"] = trajectory
    files["ranging.csv"] = ranging
    for (name, text) in files { try write(text, to: name) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }
}

/// SplitMix64: the same numbers on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
