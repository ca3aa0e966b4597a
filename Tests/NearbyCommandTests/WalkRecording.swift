// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A small recording with exact measurements: ten seconds of walking in ROS frames (z up, device
/// forward, left, up), ranges and angles to `keys`, ranges alone to `bag, blue`.
///
/// An error in any conversion of frames changes its results.
struct WalkRecording {
  static let keys = (x: 2.0, y: 3.0, z: 0.5)
  static let bag = (x: -1.0, y: 2.0, z: 1.5)
  static let samples = 202

  var manifest = """
    {
      "format": "nearby-recording", "version": 1, "name": "walk",
      "world": { "up": "z" },
      "device": { "axes": "ros" },
      "ranging": { "rangeSigma": 0.1 },
      "peers": [ { "id": "keys" }, { "id": "bag, blue" } ]
    }

    """
  var trajectory = "# timestamp tx ty tz qx qy qz qw\n"
  var ranging = "timestamp,peer,distance,azimuth,elevation\n"
  var truePeers: String? = """
    timestamp,peer,x,y,z
    0,keys,2,3,0.5
    0,"bag, blue",-1,2,1.5

    """

  /// Makes the recording.
  ///
  /// - Parameter climb: How far the device goes up and down, metres: on a level walk a peer above
  ///   cannot be distinguished from one below.
  init(climb: Double = 0.3) {
    for step in -1...101 {
      let time = 0.1 * Double(step)
      let (x, y, z) = (sin(time), 1 - cos(time), climb * sin(2 * time))
      trajectory += "\(time) \(x) \(y) \(z) 0 0 0 1\n"
      guard (0...100).contains(step) else { continue }
      // Forward, left and up are x, y and z here: the device never turns.
      let d = (x: Self.keys.x - x, y: Self.keys.y - y, z: Self.keys.z - z)
      let horizontal = (d.x * d.x + d.y * d.y).squareRoot()
      let distance = (horizontal * horizontal + d.z * d.z).squareRoot()
      ranging += "\(time),keys,\(distance),\(atan2(-d.y, d.x)),\(atan2(d.z, horizontal))\n"
      let b = (x: Self.bag.x - x, y: Self.bag.y - y, z: Self.bag.z - z)
      let bagDistance = (b.x * b.x + b.y * b.y + b.z * b.z).squareRoot()
      ranging += "\(time),\"bag, blue\",\(bagDistance),,\n"
    }
  }

  /// Writes the recording into a folder of the given name.
  func write(to folder: TemporaryFolder, name: String = "walk") throws -> String {
    let root = folder.url.appending(path: name)
    try FileManager.default.createDirectory(
      at: root.appending(path: "truth"), withIntermediateDirectories: true)
    var files = [
      "recording.json": manifest, "trajectory.txt": trajectory, "ranging.csv": ranging,
    ]
    if let truePeers {
      files["truth/peers.csv"] = truePeers
      files["truth/trajectory.txt"] = trajectory
    }
    for (name, text) in files { try Data(text.utf8).write(to: root.appending(path: name)) }
    return root.path
  }
}

/// A CSV file of a run, field by field.
struct EstimateTable {
  var columns: [String]
  var rows: [[String: String]] = []

  init(_ text: String) {
    var lines = text.split(separator: "\n").map(Self.fields)
    columns = lines.removeFirst()
    for line in lines {
      rows.append(Dictionary(uniqueKeysWithValues: zip(columns, line)))
    }
  }

  private static func fields(of line: Substring) -> [String] {
    var fields = [""]
    var isQuoted = false
    for letter in line {
      if letter == "\"" {
        isQuoted.toggle()
      } else if letter == "," && !isQuoted {
        fields.append("")
      } else {
        fields[fields.count - 1].append(letter)
      }
    }
    return fields
  }
}

extension [String: String] {
  /// A field as a number; `nil` when it is empty.
  func number(_ column: String) -> Double? { self[column].flatMap(Double.init) }
}
