// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation

/// A simulated run as a recording, its truth included.
///
/// Rows of `ranging.csv` are in the order of arrival. The manifest holds what a user would know.
struct SimulatedRecording {
  /// The scenario of the run.
  var scenario: Scenario
  /// The run.
  var run: SimulatedRun
  /// The description of its origin for `recording.json`.
  var source: String
  /// The odometry of the recording whose trajectory was used.
  var odometry: RecordingManifest.Trajectory?

  /// The longest time between two true positions of a moving peer, and between two true poses,
  /// seconds.
  private static let truthSpacing = 0.1

  /// The names of peers, `peer` when there is one.
  var peers: [String] {
    run.peers.count == 1 ? ["peer"] : run.peers.indices.map { "peer\($0 + 1)" }
  }

  /// The contents of `recording.json`.
  ///
  /// - Parameter name: The recording's name.
  /// - Returns: The manifest.
  func manifest(name: String) -> RecordingManifest {
    let known = scenario.matchingConfiguration
    var manifest = RecordingManifest(name: name)
    manifest.description = scenario.summary.isEmpty ? nil : scenario.summary
    manifest.source = source
    manifest.device.antenna = known.ranging.antennaInDevice
    manifest.device.fieldOfViewDegrees = scenario.radio.fieldOfViewDegrees
    manifest.trajectory.positionDrift = scenario.odometry.positionDrift
    manifest.trajectory.yawDriftDegrees = scenario.odometry.yawDriftDegrees
    if let odometry { manifest.trajectory = odometry }
    // A sigma of zero is not valid.
    manifest.ranging.rangeSigma = max(1e-3, known.ranging.rangeSigma)
    manifest.ranging.azimuthSigmaDegrees = max(
      0.01, known.ranging.azimuthSigmaRadians.radiansAsDegrees)
    manifest.ranging.elevationSigmaDegrees = max(
      0.01, known.ranging.elevationSigmaRadians.radiansAsDegrees)
    manifest.peers = peers.map { RecordingPeer(id: $0, motion: scenario.peerMotion) }
    return manifest
  }

  /// Writes the recording; it appears whole or not at all.
  ///
  /// - Parameters:
  ///   - path: The folder to make.
  ///   - name: The recording's name.
  ///   - replacing: Whether an existing recording is replaced.
  /// - Throws: ``RecordingError`` when it cannot be written, or the format cannot hold it: samples more
  ///   than a second late.
  func write(to path: String, name: String, replacing: Bool) throws(RecordingError) {
    var options = RecordingWriter.Options()
    options.replacesRecording = replacing
    let optionalKinds = optionalKinds
    options.columns = Set(optionalKinds.flatMap(RecordingWriter.OptionalColumn.columns(of:)))
    let sigmas = MeasurementKind.allCases.map { kind in
      optionalKinds.contains(kind) ? statedSigma(of: kind) : nil
    }
    var writer = try RecordingWriter(path: path, manifest: manifest(name: name), options: options)
    for event in run.events {
      switch event {
      case .pose(let index):
        let pose = run.poses[index]
        try writer.append(
          PoseRow(timestamp: pose.timestamp, worldFromDevice: pose.worldFromDevice))
      case .tracking(let index): try writer.append(TrackingRow(sample: run.tracking[index]))
      case .sample(let index):
        let sample = run.samples[index]
        var row = RangingRow(timestamp: sample.timestamp, peer: peers[sample.peer])
        for (kind, sigma) in zip(MeasurementKind.allCases, sigmas) {
          row[kind] = (sample.values[kind], sample.values[kind] == nil ? nil : sigma)
        }
        try writer.append(row)
      }
    }
    try writeTruth(&writer)
    try writer.finish()
  }

  /// The kinds that the run has and that most recordings lack.
  private var optionalKinds: [MeasurementKind] {
    MeasurementKind.allCases.filter { kind in
      !RecordingWriter.OptionalColumn.columns(of: kind).isEmpty
        && run.samples.contains { $0.values[kind] != nil }
    }
  }

  /// The sigma of a kind that each sample states, since `recording.json` has none of it.
  private func statedSigma(of kind: MeasurementKind) -> Double {
    // A sigma of zero is not valid.
    max(1e-3, scenario.matchingConfiguration.ranging.sigma(of: kind))
  }

  private func writeTruth(_ writer: inout RecordingWriter) throws(RecordingError) {
    switch run.device {
    case .recorded(let trajectory):
      for pose in trajectory.truth {
        try writer.appendTruth(
          PoseRow(timestamp: pose.timestamp, worldFromDevice: pose.worldFromDevice))
      }
    case .drawn(let motion):
      for seconds in truePoseTimes {
        try writer.appendTruth(
          PoseRow(
            timestamp: timestamp(at: seconds), worldFromDevice: motion.pose(at: seconds)))
      }
    }
    for (peer, name) in zip(run.peers, peers) {
      let end = peer.path.isResting ? 0 : lastSeconds + Self.truthSpacing
      for step in 0...Int((end / Self.truthSpacing).rounded(.up)) {
        let seconds = Double(step) * Self.truthSpacing
        try writer.appendTruth(
          TruthPeerRow(
            timestamp: timestamp(at: seconds), peer: name,
            positionInWorld: peer.path.position(at: seconds)))
      }
    }
  }

  /// The times of the reported poses, and additional ones in long gaps.
  private var truePoseTimes: [Double] {
    let start = SimulatedRun.timestamp(at: 0)
    var times: [Double] = []
    for pose in run.poses {
      let seconds = pose.timestamp.seconds(since: start)
      while let last = times.last, seconds - last > 1.5 * Self.truthSpacing {
        times.append(last + Self.truthSpacing)
      }
      times.append(seconds)
    }
    return times
  }

  private var lastSeconds: Double {
    max(scenario.duration, (run.samples.last?.seconds ?? 0) + max(0, scenario.radio.clockOffset))
  }

  private func timestamp(at seconds: Double) -> Timestamp {
    if case .recorded(let trajectory) = run.device { return trajectory.timestamp(at: seconds) }
    return SimulatedRun.timestamp(at: seconds)
  }
}

extension RecordedTrajectory {
  /// Reads the trajectory of a recording, and the truth, if there is one.
  init(of recording: RecordingReader) throws {
    let frames = recording.manifest.frames
    var (odometry, truth): ([DevicePose], [DevicePose]) = ([], [])
    var reader = try recording.trajectory()
    while let row = try reader.next() { odometry.append(row.devicePose(from: frames)) }
    if var reader = try recording.truthTrajectory() {
      while let row = try reader.next() { truth.append(row.devicePose(from: frames)) }
    }
    do {
      try self.init(odometry: odometry, truth: truth)
    } catch {
      throw CommandFailure(.badData, "\(recording.folder): \(error)")
    }
  }
}
