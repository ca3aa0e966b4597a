// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry

/// Writes the lines of a recording as JSON lines.
extension OutputText {
  /// Appends a line, its line feed included; numbers read back as they were, to the last bit.
  package mutating func append(_ line: RecordingLine) {
    switch line {
    case .manifest(let manifest):
      let lines = manifest.json.split(separator: "\n").map { $0.drop { $0 == " " } }
      append("{\"type\":\"manifest\",\"manifest\":\(lines.joined(separator: " "))")
    case .pose(let row): append(pose: row, type: "pose")
    case .truePose(let row): append(pose: row, type: "truePose")
    case .range(let row): append(range: row)
    case .tracking(let row): append(tracking: row.sample)
    case .truePeer(let row):
      appendStart("truePeer", row.timestamp)
      appendMember("peer", row.peer)
      appendMember("x", row.positionInWorld.x)
      appendMember("y", row.positionInWorld.y)
      appendMember("z", row.positionInWorld.z)
    }
    append("}\n")
  }

  private mutating func append(pose row: PoseRow, type: String) {
    let (place, rotation) = (row.worldFromDevice.translation, row.worldFromDevice.rotation)
    appendStart(type, row.timestamp)
    let values = [place.x, place.y, place.z, rotation.x, rotation.y, rotation.z, rotation.w]
    for (key, value) in zip(LineKeys.pose.dropFirst(), values) { appendMember(key, value) }
  }

  private mutating func append(range row: RangingRow) {
    appendStart("range", row.timestamp)
    appendMember("peer", row.peer)
    for column in RangingColumn.all {
      guard let value = row.values[column] else { continue }
      if column.unit == .flag {
        append(",\"\(column.name)\":\(value != 0)")
      } else {
        appendMember(column.name, value)
      }
    }
  }

  private mutating func append(tracking sample: TrackingSample) {
    appendStart("tracking", sample.timestamp)
    switch sample.quality {
    case .normal: appendMember("state", "normal")
    case .notAvailable: appendMember("state", "notAvailable")
    case .limited(let reason):
      appendMember("state", "limited")
      if reason != .unspecified { appendMember("reason", reason.rawValue) }
    }
    appendMember("ambient_intensity", sample.ambientIntensityLumens)
  }

  private mutating func appendStart(_ type: String, _ time: Timestamp) {
    append("{\"type\":\"\(type)\",\"timestamp\":")
    append(time)
  }

  private mutating func appendMember(_ key: String, _ text: String) {
    append(",\"\(key)\":\(text.quotedAsJSON)")
  }

  /// Appends a member; nothing where there is no number.
  private mutating func appendMember(_ key: String, _ number: Double?) {
    guard let number else { return }
    append(",\"\(key)\":\(number.isFinite ? number.description : "\"\(number)\"")")
  }
}

/// Writes the estimates of a live run as JSON lines.
extension OutputText {
  /// Appends the state after a sample as a line, its line feed included: the keys are the columns of
  /// `estimates.csv`, the numbers those that it holds.
  ///
  /// - Parameters:
  ///   - row: The sample.
  ///   - report: How the engine treated it.
  ///   - estimate: The state after it, in the engine's frames.
  ///   - frames: The recording's frames.
  package mutating func appendEstimate(
    _ row: RangingRow, _ report: SampleReport, _ estimate: PeerEstimate,
    frames: FrameConvention
  ) {
    append("{\"timestamp\":")
    append(row.timestamp)
    appendMember("peer", row.peer)
    var reasons = ""
    if case .notConverged(let set) = estimate.convergence { reasons = set.description }
    appendMember("status", ConvergenceStatus(estimate.convergence).rawValue)
    appendMember("reasons", reasons)
    appendValue("distance", estimate.distance.value)
    appendValues("direction", estimate.direction.value.map(frames.deviceVector(fromEngine:)))
    appendValue("horizontal_angle", estimate.horizontalAngleRadians.value)
    appendMember("vertical", estimate.verticalDirection.rawValue)
    appendValues(
      "world", estimate.worldTransform.value.map { frames.worldVector(fromEngine: $0.translation) })
    appendValues("mean", estimate.positionInWorld.map(frames.worldVector(fromEngine:)))
    let covariance = estimate.positionInWorld.map { _ in
      frames.worldCovariance(fromEngine: estimate.covarianceInWorld)
    }
    appendValue("cov_xx", covariance?.xx)
    appendValue("cov_xy", covariance?.xy)
    appendValue("cov_xz", covariance?.xz)
    appendValue("cov_yy", covariance?.yy)
    appendValue("cov_yz", covariance?.yz)
    appendValue("cov_zz", covariance?.zz)
    appendValue("distance_sigma", estimate.distance.sigma)
    appendValue("horizontal_angle_sigma", estimate.horizontalAngleRadians.sigma)
    append(",\"hypotheses\":")
    append(estimate.hypothesisCount)
    appendValue("nis", report.normalizedInnovationSquared)
    appendMember("used", report.use.rawValue)
    append("}\n")
  }

  private mutating func appendValues(_ key: String, _ vector: Vector3?) {
    appendValue("\(key)_x", vector?.x)
    appendValue("\(key)_y", vector?.y)
    appendValue("\(key)_z", vector?.z)
  }

  /// Appends a member in the digits of `estimates.csv`; `null` where there is no number.
  private mutating func appendValue(_ key: String, _ number: Double?) {
    append(",\"\(key)\":")
    guard let number, number.isFinite else { return append("null") }
    append(number, significantDigits: Self.significantDigits)
  }
}
