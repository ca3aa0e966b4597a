// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
public import NearbyRecordings

/// Writes a recording as a factor graph in the PyFG format.
///
/// The graph's poses `A0, A1, …` are those of the antenna at the moments of the samples, z up,
/// forward, left, up; odometry is interpolated between its poses. Peers are landmarks `L0, L1, …`
/// in the order of the recording. A sample with distance, azimuth and elevation is an
/// `EDGE_SE3_XYZ`, any other distance an `EDGE_RANGE`. Vertices hold the truth. Without a truth
/// they hold the odometry, and landmarks are at the origin. Steps have the variances that the
/// manifest's drift gives for their length.
///
/// Data that the format cannot hold are counted: angles without a distance, one angle alone, height
/// differences, times without a pose. Memory does not grow with the recording.
public struct PyfgExporter: Sendable {
  /// The graph's frames.
  private static let frames = FrameConvention(up: .z, axes: .ros)
  /// The smallest variance of a step: 0.1 mm and 0.1 mrad, squared.
  private static let leastVariance = 1e-8

  private let recording: RecordingReader

  /// Makes an exporter of a recording.
  public init(_ recording: RecordingReader) { self.recording = recording }

  /// Writes the file; it appears whole or not at all.
  ///
  /// - Parameter path: Where.
  /// - Returns: How many lines were written, and what was left out.
  /// - Throws: The first fault of the recording, or when the file cannot be written.
  public func export(to path: String) throws(RecordingError) -> ExportReport {
    let keys = try landmarkKeys()
    var report = ExportReport()
    var output = try ExportFile(path: path)
    try writeLandmarks(keys, to: &output, &report)
    var odometry = try PoseInterpolator(try recording.trajectory())
    var samples = try recording.ranging()
    if let truth = try recording.truthTrajectory() {
      var truth = try PoseInterpolator(truth)
      try write(&samples, along: &odometry, keys, to: &output, &report) {
        (time) throws(RecordingError) in try truth.pose(at: time)
      }
    } else {
      try write(&samples, along: &odometry, keys, to: &output, &report) { _ in nil }
    }
    try output.commit()
    return report
  }

  /// The landmark of each peer.
  private func landmarkKeys() throws(RecordingError) -> [String: Int] {
    var samples = try recording.ranging()
    while try samples.next() != nil {}
    return Dictionary(
      uniqueKeysWithValues: samples.peers.enumerated().map { ($0.element, $0.offset) })
  }

  private func writeLandmarks(
    _ keys: [String: Int], to output: inout ExportFile, _ report: inout ExportReport
  ) throws(RecordingError) {
    var places: [String: Vector3] = [:]
    if var truth = try recording.truthPeers() {
      while let row = try truth.next() {
        guard places[row.peer] == nil else { continue }
        places[row.peer] = Self.frames.worldVector(
          fromEngine: row.positionInEngineWorld(from: recording.manifest.frames))
      }
    }
    for (peer, number) in keys.sorted(by: { $0.value < $1.value }) {
      output.text.append("VERTEX_XYZ L\(number)")
      output.text.appendPyfg(places[peer] ?? .zero)
      output.text.append("\n")
      report.lines += 1
      try output.endRow()
    }
  }

  /// Writes poses, steps and samples, interleaved, so that no edge comes before its vertices.
  private func write(
    _ samples: inout RangingReader, along odometry: inout PoseInterpolator, _ keys: [String: Int],
    to output: inout ExportFile, _ report: inout ExportReport,
    truth: (Timestamp) throws(RecordingError) -> RigidTransform?
  ) throws(RecordingError) {
    var last: (number: Int, time: Timestamp, pose: RigidTransform)?
    while let row = try samples.next() {
      if last?.time != row.timestamp {
        guard let pose = try odometry.pose(at: row.timestamp).map(graphPose) else {
          report.leftOut["samples before the first pose or behind the last", default: 0] += 1
          continue
        }
        let number = (last?.number ?? -1) + 1
        let vertex = try truth(row.timestamp).map(graphPose) ?? pose
        output.text.append("VERTEX_SE3:QUAT ")
        output.text.append(row.timestamp, decimals: 9)
        output.text.append(" A\(number)")
        output.text.appendPyfg(vertex)
        output.text.append("\n")
        report.lines += 1
        if let last {
          writeStep(from: last.pose, to: pose, number, row.timestamp, to: &output)
          report.lines += 1
        }
        last = (number, row.timestamp, pose)
      }
      guard let last, let landmark = keys[row.peer] else { continue }
      write(row, from: last.number, to: landmark, &output, &report)
      try output.endRow()
    }
  }

  /// The antenna's pose in the graph's frames.
  private func graphPose(_ worldFromDevice: RigidTransform) -> RigidTransform {
    let manifest = recording.manifest
    let antenna = RigidTransform(rotation: .identity, translation: manifest.device.antenna)
    let pose = manifest.frames.engineWorldFromEngineDevice(worldFromDevice * antenna)
    return RigidTransform(
      rotation: Self.frames.engineWorldFromWorld.inverse * pose.rotation
        * Self.frames.engineDeviceFromDevice,
      translation: Self.frames.worldVector(fromEngine: pose.translation))
  }

  private func writeStep(
    from: RigidTransform, to: RigidTransform, _ number: Int, _ time: Timestamp,
    to output: inout ExportFile
  ) {
    let step = from.inverse * to
    let length = step.translation.length
    let drift = recording.manifest.trajectory
    let yaw = drift.yawDriftDegrees.degreesAsRadians
    let position = max(drift.positionDrift * drift.positionDrift * length, Self.leastVariance)
    let angles = [
      Self.leastVariance, Self.leastVariance, max(yaw * yaw * length, Self.leastVariance),
    ]
    output.text.append("EDGE_SE3:QUAT ")
    output.text.append(time, decimals: 9)
    output.text.append(" A\(number - 1) A\(number)")
    output.text.appendPyfg(step)
    output.text.appendTriangle(diagonal: [position, position, position] + angles)
    output.text.append("\n")
  }

  private func write(
    _ row: RangingRow, from pose: Int, to landmark: Int, _ output: inout ExportFile,
    _ report: inout ExportReport
  ) {
    for kind in MeasurementKind.allCases where !kind.isOfRadio && row[kind].value != nil {
      report.leftOut["\(kind.name)s", default: 0] += 1
    }
    guard let distance = row.distance, distance.isFinite else {
      report.leftOut["samples without a distance", default: 0] += 1
      return
    }
    let defaults = recording.manifest.ranging
    let sigma = row.distanceSigma ?? defaults.rangeSigma
    output.text.append(
      row.azimuthRadians != nil && row.elevationRadians != nil ? "EDGE_SE3_XYZ " : "EDGE_RANGE ")
    output.text.append(row.timestamp, decimals: 9)
    output.text.append(" A\(pose) L\(landmark)")
    if let azimuth = row.azimuthRadians, let elevation = row.elevationRadians {
      let angles = ArrivalAngles(azimuthRadians: azimuth, elevationRadians: elevation)
      let azimuthSigma = row.azimuthSigmaRadians ?? defaults.azimuthSigmaDegrees.degreesAsRadians
      let elevationSigma =
        row.elevationSigmaRadians ?? defaults.elevationSigmaDegrees.degreesAsRadians
      let ray = angles.direction
      let right = Vector3(-ray.z, 0, ray.x)
      let above = right.normalized.cross(ray)
      let covariance =
        SymmetricMatrix3(outer: ray, scale: sigma * sigma)
        + SymmetricMatrix3(outer: right, scale: distance * distance * azimuthSigma * azimuthSigma)
        + SymmetricMatrix3(
          outer: above, scale: distance * distance * elevationSigma * elevationSigma)
      output.text.appendPyfg(Self.frames.deviceVector(fromEngine: distance * ray))
      let turned = covariance.rotated(by: Self.frames.engineDeviceFromDevice.inverse)
      for value in [turned.xx, turned.xy, turned.xz, turned.yy, turned.yz, turned.zz] {
        output.text.appendVariance(value)
      }
    } else {
      if row.azimuthRadians != nil || row.elevationRadians != nil {
        report.leftOut["angles that come alone", default: 0] += 1
      }
      output.text.append(" ")
      output.text.append(distance, decimals: 9)
      output.text.appendVariance(sigma * sigma)
    }
    output.text.append("\n")
    report.lines += 1
  }
}

extension OutputText {
  fileprivate mutating func appendPyfg(_ place: Vector3) {
    for value in [place.x, place.y, place.z] {
      append(byte: .blank)
      append(value, decimals: 9)
    }
  }

  fileprivate mutating func appendPyfg(_ pose: RigidTransform) {
    appendPyfg(pose.translation)
    let rotation = pose.rotation
    for value in [rotation.x, rotation.y, rotation.z, rotation.w] {
      append(byte: .blank)
      append(value, decimals: 12)
    }
  }

  fileprivate mutating func appendVariance(_ value: Double) {
    append(byte: .blank)
    append(value, significantDigits: 12)
  }

  /// Appends the upper triangle of a diagonal matrix, row by row.
  fileprivate mutating func appendTriangle(diagonal: [Double]) {
    for row in diagonal.indices {
      for column in row..<diagonal.count { appendVariance(row == column ? diagonal[row] : 0) }
    }
  }
}
