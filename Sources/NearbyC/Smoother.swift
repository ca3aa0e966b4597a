// SPDX-License-Identifier: Apache-2.0
public import CNearby
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySmoothing
import Synchronization

/// A smoother behind a handle.
struct SmootherState: Sendable {
  var smoother: Smoother
  let frames: FrameConvention
  var names = PeerNames()
  var peers: [PeerID] = []
  private var newestPose: Timestamp?
  /// The samples, in the order in which they were added.
  private var rows: [(time: Timestamp, peer: Int)] = []

  init(_ settings: FusionConfiguration, _ frames: FrameConvention) throws(Failure) {
    do { smoother = try Smoother(settings) } catch { throw Failure(error) }
    self.frames = frames
  }

  mutating func addPeer(_ name: String?, _ motion: PeerMotion) throws(Failure) -> Int {
    try names.add(name)
    peers.append(smoother.addPeer(motion))
    return peers.count - 1
  }

  mutating func add(_ sample: RangingSample) -> SampleReport {
    rows.append((sample.timestamp, sample.peer.index))
    return smoother.add(sample)
  }

  /// Adds rows that were checked.
  mutating func add(
    _ poses: PoseRows, _ samples: SampleRows, _ trackings: TrackingRows,
    until isInterrupted: () -> Bool
  ) throws(Failure) -> nearby_counts {
    var counts = nearby_counts()
    var order = EventOrder(
      poses: poses.times, samples: samples.times, trackings: trackings.samples, after: newestPose,
      smoother.configuration)
    while let event = order.next() {
      if isInterrupted() { throw .interrupted }
      switch event {
      case .pose(let row):
        let pose = poses.pose(row, frames)
        newestPose = max(newestPose ?? poses.times[row], poses.times[row])
        counts.count(pose.map { smoother.add($0) } ?? .rejectedNotFinite)
      case .tracking(let row): smoother.add(trackings.samples[row])
      case .sample(let row):
        counts.count(add(samples.sample(row, of: peers[samples.peer(row)])).use)
      }
    }
    return counts
  }

  /// Estimates everything together.
  func solve() -> SmoothedColumns {
    let tracks = smoother.solve().tracks
    let columns = SmoothedColumns(peers: names.all, frames: frames)
    var next = [Int](repeating: 0, count: tracks.count)
    for row in rows {
      let track = tracks[row.peer]
      let position = track.positions.isEmpty ? nil : track.positions[next[row.peer]]
      next[row.peer] += 1
      columns.append(
        row.time, peer: row.peer, position, probability: track.modes.first?.probability)
    }
    return columns
  }
}

/// Makes a smoother; the arguments are those of `nearby_engine_create`.
@c @implementation
public func nearby_smoother_create(
  _ configuration: UnsafePointer<CChar>?, _ frames: UnsafePointer<nearby_frames>?,
  _ smoother: UnsafeMutablePointer<OpaquePointer?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let smoother = unsafe smoother else { throw Argument.null("smoother") }
    let state = try SmootherState(
      unsafe Argument.configuration(configuration), unsafe Argument.frames(frames))
    unsafe smoother.pointee = smoothers.insert(Shared(state))
  }
}

/// Destroys a smoother.
@c @implementation
public func nearby_smoother_destroy(_ smoother: OpaquePointer?) -> nearby_status {
  entry { () throws(Failure) in try unsafe smoothers.remove(smoother) }
}

/// Adds a peer, as `nearby_engine_add_peer` does.
@c @implementation
public func nearby_smoother_add_peer(
  _ smoother: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ motion: nearby_peer_motion,
  _ peer: UnsafeMutablePointer<UInt32>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe smoothers.object(of: smoother)
    let name = unsafe name == nil ? nil : try unsafe Argument.text(name, "name")
    let motion = try Argument.motion(motion)
    let number = try object.use { state throws(Failure) in try state.addPeer(name, motion) }
    unsafe peer?.pointee = UInt32(truncatingIfNeeded: number)
  }
}

/// Adds poses, samples and tracking, as `nearby_engine_run` does.
@c @implementation
public func nearby_smoother_add(
  _ smoother: OpaquePointer?, _ poses: UnsafePointer<nearby_poses>?,
  _ samples: UnsafePointer<nearby_samples>?, _ trackings: UnsafePointer<nearby_trackings>?,
  _ counts: UnsafeMutablePointer<nearby_counts>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe smoothers.object(of: smoother)
    let poses = try unsafe PoseRows(poses?.pointee)
    let trackings = try unsafe TrackingRows(trackings?.pointee)
    let counted = try object.use { state throws(Failure) in
      let samples = try unsafe SampleRows(samples?.pointee, peerCount: state.peers.count)
      object.wasInterrupted.store(false, ordering: .relaxed)
      return try state.add(poses, samples, trackings) {
        object.wasInterrupted.load(ordering: .relaxed)
      }
    }
    unsafe counts?.pointee = counted
  }
}

/// Ends the addition of rows that another thread has under way with a smoother.
@c @implementation
public func nearby_smoother_interrupt(_ smoother: OpaquePointer?) -> nearby_status {
  entry { () throws(Failure) in
    try unsafe smoothers.object(of: smoother).wasInterrupted.store(true, ordering: .relaxed)
  }
}

/// Estimates everything together.
@c @implementation
public func nearby_smoother_solve(
  _ smoother: OpaquePointer?, _ schema: UnsafeMutablePointer<ArrowSchema>?,
  _ array: UnsafeMutablePointer<ArrowArray>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe smoothers.object(of: smoother)
    guard let schema = unsafe schema else { throw Argument.null("schema") }
    guard let array = unsafe array else { throw Argument.null("array") }
    let columns = try object.use { state throws(Failure) in state.solve() }
    unsafe ArrowExport.write(columns.all, schema: schema, array: array)
  }
}
