// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyFusion
public import NearbyGeometry
public import NearbyRecordings

/// How an import writes its recording.
public struct ImportOptions: Hashable, Sendable {
  /// A value that nobody stated, so that the poses may tell otherwise.
  public enum Assumption: String, Hashable, Sendable, CaseIterable {
    /// The axis of the world that points up.
    case up
    /// The device's axes.
    case axes
    /// Where the poses come from.
    case kind
  }

  /// The recording's name; the name of its folder when `nil`.
  public var name: String?
  /// The source of the poses.
  public var kind = RecordingManifest.Trajectory.Kind.visualInertial
  /// How the trajectories are thinned; `nil` keeps every pose.
  public var thinning: TrajectoryThinning?
  /// Whether a recording that is already there is replaced.
  public var replacesRecording = false
  /// Which values are assumed and not stated.
  ///
  /// Of poses that all have exactly one z, nobody having said otherwise, the world is z up and the
  /// odometry is none of a camera.
  public var assumptions: Set<Assumption> = []
  /// Whether device and peers are in one horizontal plane; `nil` to see it from the poses, which are
  /// two-dimensional when all have exactly one height.
  public var isPlanar: Bool?
  /// One sigma of a range, metres; `nil` for what the file brings or the ranges show.
  public var rangeSigma: Double?
  /// The drift of position, m/√m; `nil` for what the file brings or the kind of odometry has.
  public var positionDrift: Double?
  /// The drift of yaw, degrees/√m; `nil` for what the file brings or the kind of odometry has.
  public var yawDriftDegrees: Double?
  /// The antenna's place in the device's axes, as `recording.json` names them, metres; `nil` for the device's
  /// origin.
  public var antenna: Vector3?
  /// The peers that move.
  public var movingPeers: [String] = []
  /// Whether a recording about which there is a warning is not written.
  public var isStrict = false
  /// Whether a recording is written although nothing in it can be fused.
  public var isForced = false

  /// Makes the default choices.
  public init() {}

  /// The manifest of a recording to be made in a folder.
  func manifest(output: String, frames: FrameConvention, source: String) -> RecordingManifest {
    let folder = URL(filePath: output).standardizedFileURL.lastPathComponent
    var manifest = RecordingManifest(name: name ?? (folder.isEmpty ? "recording" : folder))
    manifest.source = source
    manifest.worldUp = frames.up
    manifest.device.axes = frames.axes
    manifest.trajectory = RecordingManifest.Trajectory(kind: kind)
    manifest.trajectory.isPlanar = isPlanar ?? false
    manifest.peers = movingPeers.map { RecordingPeer(id: $0, motion: .moving) }
    return stated(manifest)
  }

  /// A manifest with the values of it that the options state.
  func stated(_ manifest: RecordingManifest) -> RecordingManifest {
    var manifest = manifest
    manifest.trajectory.positionDrift = positionDrift ?? manifest.trajectory.positionDrift
    manifest.trajectory.yawDriftDegrees = yawDriftDegrees ?? manifest.trajectory.yawDriftDegrees
    manifest.trajectory.isPlanar = isPlanar ?? manifest.trajectory.isPlanar
    manifest.ranging.rangeSigma = rangeSigma ?? manifest.ranging.rangeSigma
    manifest.device.antenna = antenna ?? manifest.device.antenna
    for peer in movingPeers {
      if let index = manifest.peers.firstIndex(where: { $0.id == peer }) {
        manifest.peers[index].motion = .moving
      } else {
        manifest.peers.append(RecordingPeer(id: peer, motion: .moving))
      }
    }
    return manifest
  }
}
