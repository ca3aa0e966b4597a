// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A recording folder that lives as long as this object.
public final class TemporaryRecording {
  /// The least that a manifest holds.
  public static let manifest = #"{ "format": "nearby-recording", "version": 1, "name": "test" }"#
  /// A row of a trajectory.
  public static let pose = "0 0 0 0 0 0 0 1\n"
  /// The first line of `ranging.csv`.
  public static let header = "timestamp,peer,distance,azimuth,elevation\n"

  /// The path of the folder.
  public let path: String

  /// Writes the files given; a `nil` leaves the file out.
  public init(
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

  /// Writes a file over the one of its name.
  public func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }
}
