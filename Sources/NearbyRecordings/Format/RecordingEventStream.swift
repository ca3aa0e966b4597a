// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// A recording as one stream of events, in the order in which an engine can use them.
///
/// A ranging row comes as soon as the first pose at or after its time has come, so that the engine
/// can interpolate the device's pose, or once the trajectory has ended. Poses come no earlier than
/// this order needs, and tracking rows come before the first pose at or after their time. Rows of
/// one kind are in time order.
///
/// Reading takes one pass and memory that does not depend on the files' sizes. The stream cannot be
/// copied, since two copies would take each other's lines.
public struct RecordingEventStream: ~Copyable, Sendable {
  private let frames: FrameConvention
  private let declaredPeers: [RecordingPeer]
  private let manifestWarnings: RecordingWarnings

  private var trajectory: TrajectoryReader
  private var ranging: RangingReader
  private var tracking: TrackingReader?

  private var nextPose: PoseRow?
  private var nextRanging: RangingRow?
  private var nextTracking: TrackingSample?
  private var lastPoseTime: Timestamp?
  private var isPrimed = false
  /// By how much the times of the ranging are ahead of the poses', seconds.
  private let clockOffset: Double

  init(
    _ recording: RecordingReader, trajectory: consuming TrajectoryReader,
    ranging: consuming RangingReader, tracking: consuming TrackingReader?
  ) {
    clockOffset = recording.clockOffset
    frames = recording.manifest.frames
    declaredPeers = recording.manifest.peers
    manifestWarnings = recording.warnings
    self.trajectory = trajectory
    self.ranging = ranging
    self.tracking = tracking
  }

  /// The peers known so far: the declared ones, then those that only the ranging names, as
  /// stationary.
  ///
  /// A peer is appended no later than the first event that refers to it. Returns a copy of the
  /// list.
  public var peers: [RecordingPeer] {
    declaredPeers + ranging.peers.dropFirst(declaredPeers.count).map { RecordingPeer(id: $0) }
  }

  /// One of the peers, at little cost.
  ///
  /// - Parameter index: Its index, below ``peerCount``.
  /// - Returns: The peer.
  package func peer(at index: Int) -> RecordingPeer {
    index < declaredPeers.count ? declaredPeers[index] : RecordingPeer(id: ranging.peers[index])
  }

  /// How many peers are known so far, at no cost.
  public var peerCount: Int { ranging.peers.count }

  /// The warnings so far, those of the manifest included.
  public var warnings: RecordingWarnings {
    var all = manifestWarnings
    all.add(trajectory.warnings)
    all.add(ranging.warnings)
    switch tracking {
    case .some(let tracking): all.add(tracking.warnings)
    case nil: break
    }
    return all
  }

  /// The bytes read so far, for showing progress.
  public var bytesRead: Int {
    let others = trajectory.bytesRead + ranging.bytesRead
    return switch tracking {
    case .some(let tracking): others + tracking.bytesRead
    case nil: others
    }
  }

  /// The bytes that there are to read.
  public var totalBytes: Int {
    let others = trajectory.totalBytes + ranging.totalBytes
    return switch tracking {
    case .some(let tracking): others + tracking.totalBytes
    case nil: others
    }
  }

  /// The next event.
  ///
  /// - Returns: `nil` after the last event.
  /// - Throws: The first fault in any of the files. Nothing useful comes after it.
  public mutating func next() throws(RecordingError) -> RecordingEvent? {
    switch try nextKind() {
    case .pose: try takePose().map { .pose($0.devicePose(from: frames)) }
    case .tracking: try takeTracking().map(RecordingEvent.tracking)
    case .ranging: try takeRanging().map(RecordingEvent.ranging)
    case nil: nil
    }
  }

  /// The next event, as a line in the recording's own frames.
  ///
  /// - Returns: `nil` after the last event.
  /// - Throws: The first fault in any of the files. Nothing useful comes after it.
  package mutating func nextLine() throws(RecordingError) -> RecordingLine? {
    switch try nextKind() {
    case .pose: try takePose().map(RecordingLine.pose)
    case .tracking: try takeTracking().map { .tracking(TrackingRow(sample: $0)) }
    case .ranging: try takeRanging().map(RecordingLine.range)
    case nil: nil
    }
  }

  /// Reads the next events into a batch until it is full or the recording ends.
  ///
  /// - Parameter batch: The batch; its previous contents are discarded.
  /// - Throws: The first fault in any of the files. Nothing useful comes after it.
  mutating func read(into batch: inout EventBatch) throws(RecordingError) {
    batch.removeAll()
    while batch.kinds.count < EventBatch.capacity, let kind = try nextKind() {
      batch.kinds.append(kind)
      switch kind {
      case .pose: if let pose = try takePose() { batch.poses.append(pose.devicePose(from: frames)) }
      case .tracking: if let sample = try takeTracking() { batch.tracking.append(sample) }
      case .ranging: if let row = try takeRanging() { batch.ranging.append(row) }
      }
    }
  }

  /// The kind of the next event; `nil` after the last one.
  private mutating func nextKind() throws(RecordingError) -> EventBatch.Kind? {
    if !isPrimed {
      isPrimed = true
      try advanceTrajectory()
      try advanceRanging()
      try advanceTracking()
    }
    if let time = nextRanging?.timestamp.advanced(bySeconds: -clockOffset), hasPose(for: time) {
      return .ranging
    }
    if let time = nextTracking?.timestamp, time <= nextPose?.timestamp ?? time { return .tracking }
    return nextPose == nil ? nil : .pose
  }

  private mutating func takePose() throws(RecordingError) -> PoseRow? {
    let pose = nextPose
    lastPoseTime = pose?.timestamp
    try advanceTrajectory()
    return pose
  }

  private mutating func takeTracking() throws(RecordingError) -> TrackingSample? {
    let sample = nextTracking
    try advanceTracking()
    return sample
  }

  private mutating func takeRanging() throws(RecordingError) -> RangingRow? {
    let row = nextRanging.take()
    try advanceRanging()
    return row
  }

  /// Whether a ranging row may come now.
  private func hasPose(for time: Timestamp) -> Bool {
    if let lastPoseTime, lastPoseTime >= time { return true }
    // After the last pose only tracking rows can come before it.
    return nextPose == nil && nextTracking.map { $0.timestamp > time } ?? true
  }

  private mutating func advanceTrajectory() throws(RecordingError) {
    nextPose = try trajectory.next()
  }

  private mutating func advanceRanging() throws(RecordingError) {
    nextRanging = try ranging.next()
  }

  private mutating func advanceTracking() throws(RecordingError) {
    nextTracking = try tracking?.next()?.sample
  }
}
