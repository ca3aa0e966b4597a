// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// A recording for benchmarks: a smooth walk past stationary peers.
///
/// The executable `recording` writes it; workloads read it from ``Places/recording``.
public struct BenchmarkRecording {
  private let seconds: Int
  private let peers: Int
  private let isFull: Bool

  /// Makes a recording with ten samples of each peer per second.
  ///
  /// - Parameters:
  ///   - seconds: Its duration.
  ///   - peers: How many peers there are.
  ///   - isFull: Whether it also has the truth and the tracking quality.
  public init(seconds: Int, peers: Int = 1, isFull: Bool = false) {
    self.seconds = seconds
    self.peers = peers
    self.isFull = isFull
  }

  /// Writes the recording into a folder.
  public func write(into folder: String) throws {
    let walk = Walk(path: .curve, peer: Vector3(5.5, 0.8, -3))
    let places = (0..<peers).map { walk.peer + Vector3(0.3, 0.1, -0.2) * Double($0) }
    let names = peers == 1 ? ["peer"] : (0..<peers).map { "peer\($0)" }
    var noise = Noise(seed: 4)
    var engine = try FusionEngine()
    let anyone = engine.addPeer()
    var options = RecordingWriter.Options()
    options.angleDecimals = 6
    options.replacesRecording = true
    var writer = try RecordingWriter(path: folder, manifest: manifest(names), options: options)
    for second in 0..<seconds {
      let poses = walk.poses(ofSecond: second)
      for pose in poses {
        let row = PoseRow(timestamp: pose.timestamp, worldFromDevice: pose.worldFromDevice)
        try writer.append(row)
        if isFull { try writer.appendTruth(row) }
      }
      if isFull {
        let time = poses[0].timestamp
        try writer.append(
          TrackingRow(sample: TrackingSample(timestamp: time, quality: .normal)))
        for (name, place) in zip(names, places) {
          try writer.appendTruth(TruthPeerRow(timestamp: time, peer: name, positionInWorld: place))
        }
      }
      let samples = places.map {
        walk.samples(ofSecond: second, peer: anyone, at: $0, withAngles: true, &noise)
      }
      for step in 0..<Walk.samplesPerSecond {
        for (name, samples) in zip(names, samples) {
          let sample = samples[step]
          try writer.append(
            RangingRow(
              timestamp: sample.timestamp, peer: name, distance: sample.distance,
              azimuthRadians: sample.azimuthRadians, elevationRadians: sample.elevationRadians))
        }
      }
    }
    try writer.finish()
  }

  private func manifest(_ peers: [String]) -> RecordingManifest {
    var manifest = RecordingManifest(name: "benchmark")
    manifest.description = "A smooth walk past resting peers, made up to measure with"
    manifest.peers = peers.map { RecordingPeer(id: $0) }
    return manifest
  }

  /// Writes the files for reading every format: a full recording and estimates, beside the
  /// recording.
  public static func writeEveryFormat(besides folder: String) throws {
    try BenchmarkRecording(seconds: 1000, isFull: true).write(into: folder + "-full")
    let recording = try RecordingReader(folder: folder)
    var writer = try EstimateWriter(
      path: folder + "-estimates.csv", frames: recording.manifest.frames)
    _ = try RecordingReplay(recording).run { row, report, estimate throws(RecordingError) in
      try writer.write(row, report: report, estimate: estimate)
    }
    try writer.commit()
  }
}
