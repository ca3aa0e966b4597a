// SPDX-License-Identifier: Apache-2.0
public import CNearby
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbyImports
import NearbyRecordings
import NearbySmoothing

/// Opens a recording.
@c @implementation
public func nearby_recording_open(
  _ folder: UnsafePointer<CChar>?, _ recording: UnsafeMutablePointer<OpaquePointer?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let recording = unsafe recording else { throw Argument.null("recording") }
    let folder = try unsafe Argument.text(folder, "folder")
    let reader = try locating { () throws(RecordingError) in
      do throws(RecordingError) {
        return try RecordingReader(folder: folder)
      } catch {
        throw error.located(in: folder)
      }
    }
    unsafe recording.pointee = recordings.insert(Shared(reader))
  }
}

/// Destroys a recording; the files stay as they are.
@c @implementation
public func nearby_recording_destroy(_ recording: OpaquePointer?) -> nearby_status {
  entry { () throws(Failure) in try unsafe recordings.remove(recording) }
}

/// The frames of the recording's poses, and of the estimates from it.
@c @implementation
public func nearby_recording_frames(
  _ recording: OpaquePointer?, _ frames: UnsafeMutablePointer<nearby_frames>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let frames = unsafe frames else { throw Argument.null("frames") }
    let own = reader.manifest.frames
    let axes =
      switch own.axes {
      case .arkit: NEARBY_AXES_ARKIT
      case .ros: NEARBY_AXES_ROS
      case .camera: NEARBY_AXES_CAMERA
      }
    unsafe frames.pointee = nearby_frames(
      up: own.up == .y ? NEARBY_UP_Y : NEARBY_UP_Z, axes: axes)
  }
}

/// What `nearby info --json` prints about the recording.
@c @implementation
public func nearby_recording_info(
  _ recording: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let json = unsafe json else { throw Argument.null("json") }
    let info = try reader.locating { () throws(RecordingError) in try reader.info() }
    unsafe json.pointee = CText.copy(info.json())
  }
}

/// All settings for the recording as JSON.
@c @implementation
public func nearby_recording_configuration(
  _ recording: OpaquePointer?, _ configuration: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let json = unsafe json else { throw Argument.null("json") }
    let settings = try unsafe Argument.configuration(
      configuration, over: reader.manifest.fusionConfiguration())
    unsafe json.pointee = CText.copy(ConfigurationFile.json(of: settings))
  }
}

/// What the recording tells of its radio and odometry.
@c @implementation
public func nearby_recording_calibrate(
  _ recording: OpaquePointer?, _ configuration: UnsafePointer<CChar>?,
  _ calibrated: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ findings: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let calibrated = unsafe calibrated else { throw Argument.null("calibrated") }
    let settings = try unsafe Argument.configuration(
      configuration, over: reader.manifest.fusionConfiguration())
    let calibration: RecordingCalibration
    do {
      calibration = try RecordingCalibration(reader, .use, stated: settings)
    } catch let error as FusionConfigurationError {
      throw Failure(error)
    } catch let error as RecordingError {
      throw Failure(error.located(in: reader.folder))
    } catch {
      throw .invalidArgument("\(error)", remedy: "report this")
    }
    unsafe calibrated.pointee = CText.copy(ConfigurationFile.json(of: calibration.configuration))
    if let findings = unsafe findings {
      unsafe findings.pointee = CText.copy(CanonicalJSON.text(of: calibration.summary))
    }
  }
}

/// Reads a table of the recording, in the recording's own frames.
@c @implementation
public func nearby_recording_read(
  _ recording: OpaquePointer?, _ table: nearby_table,
  _ schema: UnsafeMutablePointer<ArrowSchema>?, _ array: UnsafeMutablePointer<ArrowArray>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let schema = unsafe schema else { throw Argument.null("schema") }
    guard let array = unsafe array else { throw Argument.null("array") }
    guard table.rawValue <= NEARBY_TABLE_TRUE_PEERS.rawValue else {
      throw Argument.notListed(table.rawValue, "table", "nearby_table")
    }
    let columns = try reader.locating { () throws(RecordingError) in
      switch table {
      case NEARBY_TABLE_POSES: try RecordingColumns.poses(try reader.trajectory())
      case NEARBY_TABLE_RANGING: try RecordingColumns.ranging(try reader.ranging())
      case NEARBY_TABLE_TRACKING: try RecordingColumns.tracking(try reader.tracking())
      case NEARBY_TABLE_TRUE_POSES: try RecordingColumns.poses(try reader.truthTrajectory())
      default: try RecordingColumns.truePeers(try reader.truthPeers())
      }
    }
    unsafe ArrowExport.write(columns, schema: schema, array: array)
  }
}

/// Runs the engine over the recording, as `nearby run` does.
@c @implementation
public func nearby_recording_run(
  _ recording: OpaquePointer?, _ configuration: UnsafePointer<CChar>?,
  _ schema: UnsafeMutablePointer<ArrowSchema>?, _ array: UnsafeMutablePointer<ArrowArray>?,
  _ summary: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let schema = unsafe schema else { throw Argument.null("schema") }
    guard let array = unsafe array else { throw Argument.null("array") }
    let settings = try unsafe Argument.configuration(
      configuration, over: reader.manifest.fusionConfiguration())
    let replay: RecordingReplay
    do throws(FusionConfigurationError) {
      replay = try RecordingReplay(reader, configuration: settings)
    } catch {
      throw Failure(error)
    }
    let columns = EstimateColumns(peers: [], frames: reader.manifest.frames, settings)
    let outcome = try reader.locating { () throws(RecordingError) in
      try replay.run { (row, report, estimate) throws(RecordingError) in
        columns.append(peer: row.peerIndex, report, estimate)
      }
    }
    columns.name(peers: outcome.peersInRecording)
    unsafe ArrowExport.write(columns.all, schema: schema, array: array)
    if let summary = unsafe summary {
      unsafe summary.pointee = CText.copy(outcome.summary.json())
    }
  }
}

/// Smooths the recording, as `nearby run --smooth` does.
@c @implementation
public func nearby_recording_smooth(
  _ recording: OpaquePointer?, _ configuration: UnsafePointer<CChar>?,
  _ schema: UnsafeMutablePointer<ArrowSchema>?, _ array: UnsafeMutablePointer<ArrowArray>?
) -> nearby_status {
  entry { () throws(Failure) in
    let reader = try unsafe openRecording(recording)
    guard let schema = unsafe schema else { throw Argument.null("schema") }
    guard let array = unsafe array else { throw Argument.null("array") }
    let settings = try unsafe Argument.configuration(
      configuration, over: reader.manifest.fusionConfiguration())
    var state = try SmootherState(settings, reader.manifest.frames)
    try state.add(reader.ordered(by: settings))
    unsafe ArrowExport.write(state.solve().all, schema: schema, array: array)
  }
}

/// The recording of a handle: a value, so that long calls do not wait for each other.
private func openRecording(_ handle: OpaquePointer?) throws(Failure) -> RecordingReader {
  try unsafe recordings.object(of: handle).use { $0 }
}

extension RecordingReader {
  /// Calls a function whose faults are in files of this recording.
  fileprivate func locating<Value>(
    _ body: () throws(RecordingError) -> Value
  ) throws(Failure) -> Value {
    do { return try body() } catch { throw Failure(error.located(in: folder)) }
  }
}

extension SmootherState {
  /// Adds all events of a recording, and the peers that it names.
  fileprivate mutating func add(_ recording: RecordingReader) throws(Failure) {
    do {
      var stream = try recording.events()
      while let event = try stream.next() {
        if stream.peerCount > peers.count {
          for peer in stream.peers.dropFirst(peers.count) { _ = try addPeer(peer.id, peer.motion) }
        }
        switch event {
        case .pose(let pose): smoother.add(pose)
        case .tracking(let sample): smoother.add(sample)
        case .ranging(let row): _ = add(row.sample(of: peers[row.peerIndex]))
        }
      }
    } catch let error as RecordingError {
      throw Failure(error.located(in: recording.folder))
    } catch let error as Failure {
      throw error
    } catch {
      throw .invalidArgument("\(error)", remedy: "report this")
    }
  }
}
