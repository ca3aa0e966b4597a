// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

extension RecordingInfo {
  /// The information as readable text, at most about 100 columns wide, ending in a newline.
  public func text() -> String {
    var lines = [name.printable()]
    if let description { lines += wrapped(description).map { "  " + $0 } }
    lines.append("")
    lines += labelled("source", source.map(wrapped) ?? [])
    lines += labelled("licence", license.map(wrapped) ?? [])
    lines += labelled(
      "duration", ["\(decimal(durationSeconds, 1)) s from \(decimal(startSeconds, 3)) s"])
    lines += labelled(
      "frames", ["world up \(worldUp.rawValue), device axes \(deviceAxes.rawValue)"])
    lines += labelled("trajectory", trajectoryLines)
    lines += labelled("tracking", trackingStates.map { [states($0)] } ?? ["not recorded"])
    lines += labelled(
      "truth",
      [
        truth.map { "\(counted($0.poseCount, "pose")), \(counted($0.peerCount, "peer"))" }
          ?? "not recorded"
      ])
    if let differences { lines += labelled("differences", Self.lines(of: differences)) }
    lines += labelled("faults", faultLines.isEmpty ? ["none"] : faultLines)
    lines += labelled("warnings", warningLines.isEmpty ? ["none"] : warningLines)
    lines.append("")
    lines += table(peerRows)
    if !findings.isEmpty {
      lines.append("")
      for finding in findings {
        let text = wrapped("\(finding.severity.rawValue): \(finding.description)")
        lines += text.enumerated().map { ($0 == 0 ? "" : "  ") + $1 }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(of differences: Differences) -> [String] {
    let rate = differences.rate.map { ", \($0.fixed(decimals: 1)) a second" } ?? ""
    let places = differences.anchorsInMap.map { ", \($0) with a place" } ?? ", none with a place"
    let names = differences.anchors.prefix(12).map { $0.printable() }.joined(separator: ", ")
    var lines = [
      "\(differences.count) range differences\(rate)",
      "\(differences.anchors.count) anchors\(places): \(names)",
    ]
    if differences.duplicates > 0 {
      lines.append("\(differences.duplicates) repeat the one before")
    }
    return lines
  }

  private var trajectoryLines: [String] {
    let rate = trajectory.rate.map { ", \(decimal($0, 1)) a second" } ?? ""
    var lines = [
      "\(trajectory.kind.rawValue)\(trajectory.isPlanar ? ", planar" : "")",
      "\(counted(trajectory.poseCount, "pose"))\(rate), path \(decimal(trajectory.pathLength, 1)) m",
    ]
    if !trajectory.largestGaps.isEmpty {
      let gaps = trajectory.largestGaps.map {
        "\(decimal($0.durationSeconds, 3)) s at \(decimal($0.startSeconds, 3)) s"
      }
      lines.append("largest gaps \(gaps.joined(separator: ", "))")
    }
    return lines
  }

  private func states(_ counts: [String: Int]) -> String {
    counts.isEmpty
      ? "no rows"
      : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  private var faultLines: [String] {
    [
      (faults.notFinite, "with a value that is infinite or not a number"),
      (faults.notPositiveDistance, "with a zero or negative distance"),
      (faults.absurdDistance, "with a distance beyond 1000 m"),
      (faults.absurdHeightDifference, "with a height difference beyond 1000 m"),
      (faults.angleOutOfBounds, "with an angle out of bounds"),
      (faults.duplicate, "repeating the one before"),
      (faults.empty, "without any value"),
      (faults.beforeFirstPose, "before the first pose"),
      (faults.afterLastPose, "after the last pose"),
      (faults.inPoseGap, "in gaps between poses longer than 2 s"),
    ].filter { $0.0 > 0 }.map { "\(counted($0.0, "sample")) \($0.1)" }
  }

  private var warningLines: [String] {
    let hidden = warnings.counts.values.reduce(0, +) - warnings.kept.count
    return warnings.kept.map(\.description) + (hidden > 0 ? ["and \(hidden) more"] : [])
  }

  private var peerRows: [[String]] {
    // A kind that most recordings lack is not listed without need.
    let kinds = MeasurementKind.allCases.filter { kind in
      kind.column.optional == nil || peers.contains { $0[kind] > 0 }
    }
    let heading =
      ["peer", "motion", "samples", "a second"] + kinds.map(\.pluralName)
      + ["min m", "median m", "max m"]
    return [heading]
      + peers.map { peer in
        func share(_ count: Int) -> String {
          if peer.sampleCount == 0 { return "-" }
          let percent = 100 * Double(count) / Double(peer.sampleCount)
          // Rounding to 0 % or 100 % must not hide that there are a few samples, or that a few are
          // missing.
          let isMixed = 0 < percent && percent < 100
          return decimal(isMixed ? min(max(percent, 0.1), 99.9) : percent, 1) + " %"
        }
        func length(_ metres: Double?) -> String { metres.map { decimal($0, 2) } ?? "-" }
        let start = [
          peer.peer.id.printable(), peer.peer.motion.rawValue, "\(peer.sampleCount)",
          peer.rate.map { decimal($0, 2) } ?? "-",
        ]
        let distances = [peer.minimumDistance, peer.medianDistance, peer.maximumDistance]
        return start + kinds.map { share(peer[$0]) } + distances.map(length)
      }
  }

  // MARK: - Layout

  private func labelled(_ label: String, _ lines: [String]) -> [String] {
    lines.enumerated().map { index, line in padded(index == 0 ? label : "", 12) + line }
  }

  /// Names to the left, numbers to the right.
  private func table(_ rows: [[String]]) -> [String] {
    guard let heading = rows.first else { return [] }
    let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        column < 2
          ? padded(cell, widths[column])
          : String(repeating: " ", count: widths[column] - cell.count) + cell
      }
      return cells.joined(separator: "  ")
    }
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(whereSeparator: \.isWhitespace) {
      if !line.isEmpty, line.count + word.count >= 84 {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [line]
  }

  private func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  private func decimal(_ value: Double, _ digits: Int) -> String {
    value.fixed(decimals: digits)
  }
}
