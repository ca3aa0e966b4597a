// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings
public import NearbySimulation

/// What a ``RecordingCalibration`` takes from a recording: the device's poses, twenty a second, and the samples
/// of peers that may rest.
///
/// It holds no truth.
public struct CalibrationData: Sendable {
  /// The settings as they are stated.
  public let stated: FusionConfiguration
  /// Whether a camera tells how far the device goes, and not wheels.
  var isVisual = true
  private(set) var poses: [DevicePose] = []
  private(set) var tracking: [TrackingSample] = []
  private(set) var samples: [StatedSample] = []
  private(set) var motions: [PeerMotion] = []
  private(set) var names: [String] = []

  /// Makes data without poses and samples.
  ///
  /// - Parameter stated: The settings as they are stated.
  public init(stated: FusionConfiguration) { self.stated = stated }

  /// Reads the beginning of a recording: at most 50 000 samples and 200 000 poses.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - stated: The settings as they are stated.
  /// - Throws: The first fault of the recording.
  public init(_ recording: RecordingReader, stated: FusionConfiguration) throws {
    self.init(stated: stated)
    isVisual = recording.manifest.trajectory.kind == .visualInertial
    var stream = try recording.ordered(by: stated).events()
    var (ids, poseCount): ([PeerID], Int) = ([], 0)
    while samples.count < Self.mostReadSamples, poseCount < Self.mostPoses,
      let event = try stream.next()
    {
      while ids.count < stream.peerCount {
        let peer = stream.peer(at: ids.count)
        ids.append(addPeer(peer.motion, named: peer.id))
      }
      switch event {
      case .pose(let pose):
        poseCount += 1
        add(pose)
      case .tracking(let sample): add(sample)
      case .ranging(let row): add(row.sample(of: ids[row.peerIndex]))
      }
    }
  }

  /// Takes a simulated run, without its truth.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - motion: How its peers may move.
  ///   - stated: The settings as they are stated.
  public init(_ run: SimulatedRun, motion: PeerMotion, stated: FusionConfiguration) {
    self.init(stated: stated)
    let peers = run.peers.map { _ in addPeer(motion) }
    for event in run.events {
      switch event {
      case .pose(let index): add(run.poses[index])
      case .tracking(let index): add(run.tracking[index])
      case .sample(let index):
        add(run.rangingSample(index, of: peers[run.samples[index].peer]))
      }
    }
  }

  private static let mostReadSamples = 50_000
  private static let mostPoses = 200_000
  /// Poses that are nearer to the one before are left out, seconds.
  private static let leastInterval = 0.045

  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameters:
  ///   - motion: How it may move; only peers at rest are used.
  ///   - name: Its name, for what is said of it.
  /// - Returns: Its handle.
  @discardableResult
  public mutating func addPeer(_ motion: PeerMotion, named name: String? = nil) -> PeerID {
    names.append(name ?? "peer \(motions.count + 1)")
    motions.append(motion)
    return PeerID(index: motions.count - 1)
  }

  /// Extends the device's path.
  public mutating func add(_ pose: DevicePose) {
    guard pose.worldFromDevice.translation.isFinite else { return }
    // A tracker that repeats a pose to the last bit is frozen.
    if let last = poses.last, pose.worldFromDevice == last.worldFromDevice { return }
    if let last = poses.last,
      pose.timestamp.seconds(since: last.timestamp) < Self.leastInterval
    {
      return
    }
    poses.append(pose)
  }

  /// Takes note of the odometry's quality.
  public mutating func add(_ sample: TrackingSample) { tracking.append(sample) }

  /// Adds a sample.
  public mutating func add(_ sample: RangingSample) {
    let peer = sample.peer.index
    guard motions.indices.contains(peer), motions[peer] != .moving else { return }
    guard let sample = StatedSample(sample, stated.ranging) else { return }
    samples.append(sample)
  }

  /// The same with a number of samples at most, of the peers with most of them, evenly thinned.
  func thinned(peers mostPeers: Int, samples mostSamples: Int) -> CalibrationData {
    var counts = [Int](repeating: 0, count: motions.count)
    for sample in samples { counts[sample.peer] += 1 }
    let chosen = Set(
      motions.indices.filter { counts[$0] >= Self.leastSamples }
        .sorted { (counts[$1], $0) < (counts[$0], $1) }.prefix(mostPeers))
    let total = chosen.reduce(0) { $0 + counts[$1] }
    let every = max(1, (total + mostSamples - 1) / mostSamples)
    var seen = [Int](repeating: 0, count: motions.count)
    var data = self
    data.samples.removeAll(keepingCapacity: true)
    for sample in samples where chosen.contains(sample.peer) {
      seen[sample.peer] += 1
      if seen[sample.peer] % every == 0 { data.samples.append(sample) }
    }
    data.samples.sort { $0.timestamp < $1.timestamp }
    return data
  }

  /// The offset of the radio's clock at which ranges fit the path best; `nil` where that is the stated one, as far
  /// as can be told.
  var alignedClockOffset: Double? {
    ClockAligner.offset(
      of: poses.lazy.map { ($0.timestamp, $0.worldFromDevice.translation) }, samples,
      stated: stated.ranging.clockOffset)
  }

  /// Fewer samples of a peer tell nothing.
  static let leastSamples = 10

  /// The same without some peers.
  func excluding(_ peers: Set<Int>) -> CalibrationData {
    var data = self
    data.samples.removeAll { peers.contains($0.peer) }
    return data
  }
}
