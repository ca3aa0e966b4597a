// SPDX-License-Identifier: Apache-2.0
public import CNearby
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Synchronization

/// An engine behind a handle.
struct EngineState: Sendable {
  var engine: FusionEngine
  let frames: FrameConvention
  var names = PeerNames()
  var peers: [PeerID] = []
  /// The newest pose that was given.
  var newestPose: Timestamp?

  @inline(__always)
  func peer(_ number: UInt32) throws(Failure) -> PeerID {
    guard number < peers.count else { throw .unknownPeer(Int64(number), of: peers.count) }
    return peers[Int(number)]
  }

  /// Adds a pose whose quaternion may have no direction.
  @inline(__always)
  mutating func add(_ pose: DevicePose?) -> PoseOutcome {
    guard let pose else { return .rejectedNotFinite }
    newestPose = max(newestPose ?? pose.timestamp, pose.timestamp)
    return engine.add(pose)
  }

  /// Adds rows that were checked.
  mutating func run(
    _ poses: PoseRows, _ samples: SampleRows, _ trackings: TrackingRows,
    into columns: EstimateColumns, until isInterrupted: () -> Bool
  ) throws(Failure) -> nearby_counts {
    var counts = nearby_counts()
    var order = EventOrder(
      poses: poses.times, samples: samples.times, trackings: trackings.samples, after: newestPose,
      engine.configuration)
    while let event = order.next() {
      if isInterrupted() { throw .interrupted }
      switch event {
      case .pose(let row): counts.count(add(poses.pose(row, frames)))
      case .tracking(let row): engine.add(trackings.samples[row])
      case .sample(let row):
        let peer = peers[samples.peer(row)]
        let report = engine.add(samples.sample(row, of: peer))
        counts.count(report.use)
        columns.append(
          peer: peer.index, report, engine.estimate(of: peer, at: report.timestamp))
      }
    }
    return counts
  }
}

/// Makes an engine.
@c @implementation
public func nearby_engine_create(
  _ configuration: UnsafePointer<CChar>?, _ frames: UnsafePointer<nearby_frames>?,
  _ engine: UnsafeMutablePointer<OpaquePointer?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let engine = unsafe engine else { throw Argument.null("engine") }
    let settings = try unsafe Argument.configuration(configuration)
    let frames = try unsafe Argument.frames(frames)
    do throws(FusionConfigurationError) {
      let state = EngineState(engine: try FusionEngine(settings), frames: frames)
      unsafe engine.pointee = engines.insert(Shared(state))
    } catch {
      throw Failure(error)
    }
  }
}

/// Copies an engine.
@c @implementation
public func nearby_engine_copy(
  _ engine: OpaquePointer?, _ copy: UnsafeMutablePointer<OpaquePointer?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let copy = unsafe copy else { throw Argument.null("copy") }
    let state = try unsafe engines.object(of: engine).use { $0 }
    unsafe copy.pointee = engines.insert(Shared(state))
  }
}

/// Destroys an engine; calls that are under way with it finish first.
@c @implementation
public func nearby_engine_destroy(_ engine: OpaquePointer?) -> nearby_status {
  entry { () throws(Failure) in try unsafe engines.remove(engine) }
}

/// Adds a peer; samples of it may follow.
@c @implementation
public func nearby_engine_add_peer(
  _ engine: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ motion: nearby_peer_motion,
  _ peer: UnsafeMutablePointer<UInt32>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    let name = unsafe name == nil ? nil : try unsafe Argument.text(name, "name")
    let motion = try Argument.motion(motion)
    let number = try object.use { state throws(Failure) in
      try state.names.add(name)
      state.peers.append(state.engine.addPeer(motion))
      return state.peers.count - 1
    }
    unsafe peer?.pointee = UInt32(truncatingIfNeeded: number)
  }
}

/// Changes how a peer may move, with the peer's next sample; all that is known of it stays.
@c @implementation
public func nearby_engine_set_motion(
  _ engine: OpaquePointer?, _ peer: UInt32, _ motion: nearby_peer_motion
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    let motion = try Argument.motion(motion)
    try object.use { state throws(Failure) in
      _ = state.engine.setMotion(motion, of: try state.peer(peer))
    }
  }
}

/// Extends the device's trajectory.
@c @implementation
public func nearby_engine_add_pose(
  _ engine: OpaquePointer?, _ pose: UnsafePointer<nearby_pose>?,
  _ outcome: UnsafeMutablePointer<nearby_pose_outcome>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    guard let pose = unsafe pose?.pointee else { throw Argument.null("pose") }
    let time = try Argument.time(pose.nanoseconds, "pose.nanoseconds")
    let (place, turn) = (pose.position, pose.quaternion)
    let rotation = Rotation(given: turn.0, turn.1, turn.2, turn.3)
    let became = try object.use { state throws(Failure) in
      state.add(
        rotation.map { rotation in
          DevicePose(
            timestamp: time,
            worldFromDevice: state.frames.engineWorldFromEngineDevice(
              RigidTransform(
                rotation: rotation, translation: Vector3(place.0, place.1, place.2))))
        })
    }
    unsafe outcome?.pointee = nearby_pose_outcome(became)
  }
}

/// Takes note of the odometry's quality and the light, from the next pose on.
@c @implementation
public func nearby_engine_add_tracking(
  _ engine: OpaquePointer?, _ nanoseconds: Int64, _ state: nearby_tracking_state, _ lumens: Double
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    let sample = TrackingSample(
      timestamp: try Argument.time(nanoseconds, "nanoseconds"),
      quality: try Argument.quality(state), ambientIntensityLumens: lumens.isNaN ? nil : lumens)
    try object.use { state throws(Failure) in state.engine.add(sample) }
  }
}

/// Fuses a ranging sample, up to a second late.
@c @implementation
public func nearby_engine_add_sample(
  _ engine: OpaquePointer?, _ sample: UnsafePointer<nearby_sample>?,
  _ report: UnsafeMutablePointer<nearby_report>?,
  _ estimate: UnsafeMutablePointer<nearby_estimate>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    guard let given = unsafe sample?.pointee else { throw Argument.null("sample") }
    let time = try Argument.time(given.nanoseconds, "sample.nanoseconds")
    guard given.sight.rawValue <= NEARBY_SIGHT_OBSTRUCTED.rawValue else {
      throw Argument.notListed(given.sight.rawValue, "sample.sight", "nearby_sight")
    }
    try object.use { state throws(Failure) in
      let peer = try state.peer(given.peer)
      let became = state.engine.add(RangingSample(given, of: peer, at: time))
      unsafe report?.pointee = nearby_report(became)
      guard let estimate = unsafe estimate else { return }
      unsafe estimate.pointee = nearby_estimate(
        state.engine.estimate(of: peer, at: became.timestamp), state.frames)
    }
  }
}

/// What is known of a peer at the time of its newest sample that was used.
@c @implementation
public func nearby_engine_estimate(
  _ engine: OpaquePointer?, _ peer: UInt32, _ estimate: UnsafeMutablePointer<nearby_estimate>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    guard let estimate = unsafe estimate else { throw Argument.null("estimate") }
    unsafe estimate.pointee = try object.use { state throws(Failure) in
      nearby_estimate(state.engine.estimate(of: try state.peer(peer)), state.frames)
    }
  }
}

/// The estimate of a peer, predicted to a moment after its last sample.
@c @implementation
public func nearby_engine_estimate_at(
  _ engine: OpaquePointer?, _ peer: UInt32, _ nanoseconds: Int64,
  _ estimate: UnsafeMutablePointer<nearby_estimate>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    guard let estimate = unsafe estimate else { throw Argument.null("estimate") }
    let time = try Argument.time(nanoseconds, "nanoseconds")
    unsafe estimate.pointee = try object.use { state throws(Failure) in
      nearby_estimate(state.engine.estimate(of: try state.peer(peer), at: time), state.frames)
    }
  }
}

/// Adds many poses and samples, each sample as soon as the first pose at or after its time is there.
@c @implementation
public func nearby_engine_run(
  _ engine: OpaquePointer?, _ poses: UnsafePointer<nearby_poses>?,
  _ samples: UnsafePointer<nearby_samples>?, _ trackings: UnsafePointer<nearby_trackings>?,
  _ schema: UnsafeMutablePointer<ArrowSchema>?, _ array: UnsafeMutablePointer<ArrowArray>?,
  _ counts: UnsafeMutablePointer<nearby_counts>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe engines.object(of: engine)
    guard let schema = unsafe schema else { throw Argument.null("schema") }
    guard let array = unsafe array else { throw Argument.null("array") }
    let poses = try unsafe PoseRows(poses?.pointee)
    let trackings = try unsafe TrackingRows(trackings?.pointee)
    let (columns, counted) = try object.use { state throws(Failure) in
      let samples = try unsafe SampleRows(samples?.pointee, peerCount: state.peers.count)
      let columns = EstimateColumns(
        peers: state.names.all, frames: state.frames, state.engine.configuration)
      object.wasInterrupted.store(false, ordering: .relaxed)
      let counted = try state.run(poses, samples, trackings, into: columns) {
        object.wasInterrupted.load(ordering: .relaxed)
      }
      return (columns, counted)
    }
    unsafe ArrowExport.write(columns.all, schema: schema, array: array)
    unsafe counts?.pointee = counted
  }
}

/// Ends the run that another thread has under way with an engine.
@c @implementation
public func nearby_engine_interrupt(_ engine: OpaquePointer?) -> nearby_status {
  entry { () throws(Failure) in
    try unsafe engines.object(of: engine).wasInterrupted.store(true, ordering: .relaxed)
  }
}

/// All settings as JSON, after some were changed.
@c @implementation
public func nearby_configuration(
  _ configuration: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let json = unsafe json else { throw Argument.null("json") }
    let settings = try unsafe Argument.configuration(configuration)
    unsafe json.pointee = CText.copy(ConfigurationFile.json(of: settings))
  }
}
