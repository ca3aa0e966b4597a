// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

extension RecordingManifest {
  /// The manifest as JSON text, every value written out, keys in the format's order.
  ///
  /// Reading it back gives an equal manifest.
  public var json: String {
    var lines = [
      "\"format\": \(quoted(Self.format))", "\"version\": \(Self.version)",
      "\"name\": \(quoted(name))",
    ]
    for (key, text) in [("description", description), ("source", source), ("license", license)] {
      if let text { lines.append("\"\(key)\": \(quoted(text))") }
    }
    // What is usual is left out, so that recordings stay readable by older versions.
    let isUsualTurn =
      trajectory.turnRateSigmaDegrees == Trajectory(kind: trajectory.kind).turnRateSigmaDegrees
    let turn =
      isUsualTurn ? "" : "\"turnRateSigmaDegrees\": \(trajectory.turnRateSigmaDegrees), "
    let latency = ranging.latency == 0 ? "" : ", \"latency\": \(ranging.latency)"
    let antenna = "[\(device.antenna.x), \(device.antenna.y), \(device.antenna.z)]"
    lines += [
      "\"world\": { \"up\": \"\(worldUp.rawValue)\" }",
      """
      "device": { "axes": "\(device.axes.rawValue)", "antenna": \(antenna), \
      "fieldOfViewDegrees": \(device.fieldOfViewDegrees) }
      """,
      """
      "trajectory": { "kind": "\(trajectory.kind.rawValue)", \
      "positionDrift": \(trajectory.positionDrift), \
      "yawDriftDegrees": \(trajectory.yawDriftDegrees), \(turn)"planar": \(trajectory.isPlanar) }
      """,
      """
      "ranging": { "rangeSigma": \(ranging.rangeSigma), \
      "azimuthSigmaDegrees": \(ranging.azimuthSigmaDegrees), \
      "elevationSigmaDegrees": \(ranging.elevationSigmaDegrees)\(latency) }
      """,
    ]
    // The usual ones are left out, so that recordings stay readable by older versions without a warning.
    if differences != Differences() {
      let sigma = differences.sigma.map { "\"sigma\": \($0), " } ?? ""
      let clocks = differences.clocks
      lines.append(
        """
        "tdoa": { \(sigma)"clockOffsetSigma": \(clocks.offsetSigma), \
        "clockRateSigma": \(clocks.rateSigma), "clockRateWalk": \(clocks.rateWalk) }
        """)
    }
    let peerLines = peers.map {
      "    { \"id\": \(quoted($0.id)), \"motion\": \"\($0.motion.rawValue)\" }"
    }
    lines.append(
      peers.isEmpty ? "\"peers\": []" : "\"peers\": [\n\(peerLines.joined(separator: ",\n"))\n  ]")
    return "{\n" + lines.map { "  " + $0 }.joined(separator: ",\n") + "\n}\n"
  }

  private func quoted(_ text: String) -> String { text.quotedAsJSON }
}

extension String {
  /// The text as a JSON string, quotes included (RFC 8259).
  package var quotedAsJSON: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
