// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Checks of arguments.
enum Argument {
  /// A text of the caller's.
  static func text(_ text: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String {
    guard let text = unsafe text else { throw null(name) }
    guard let text = unsafe String(validatingCString: text) else {
      throw .invalidArgument("\(name) is not UTF-8", remedy: "pass UTF-8 that ends with zero")
    }
    return text
  }

  /// The failure of a null pointer.
  static func null(_ name: String) -> Failure {
    .invalidArgument("\(name) is null", remedy: "pass its address")
  }

  /// A moment that the engine can count with.
  @inline(__always)
  static func time(_ nanoseconds: Int64, _ name: String) throws(Failure) -> Timestamp {
    guard isTime(nanoseconds) else { throw noTime(name) }
    return Timestamp(nanoseconds: nanoseconds)
  }

  /// Differences of such times do not overflow.
  @inline(__always)
  static func isTime(_ nanoseconds: Int64) -> Bool {
    nanoseconds.magnitude <= 4_600_000_000_000_000_000
  }

  static func noTime(_ name: String) -> Failure {
    .invalidArgument(
      "\(name) is no time within 4.6e18 ns of the clock's origin",
      remedy: "count from a nearer origin")
  }

  static func motion(_ motion: nearby_peer_motion) throws(Failure) -> PeerMotion {
    switch motion {
    case NEARBY_PEER_STATIONARY: return .stationary
    case NEARBY_PEER_MOVING: return .moving
    case NEARBY_PEER_UNKNOWN: return .unknown
    default: throw notListed(motion.rawValue, "motion", "nearby_peer_motion")
    }
  }

  static func frames(_ frames: UnsafePointer<nearby_frames>?) throws(Failure) -> FrameConvention {
    guard let frames = unsafe frames?.pointee else { return .engine }
    let (ups, axes): ([WorldUp], [DeviceAxes]) = ([.y, .z], [.arkit, .ros, .camera])
    guard frames.up.rawValue < ups.count else {
      throw notListed(frames.up.rawValue, "frames.up", "nearby_up")
    }
    guard frames.axes.rawValue < axes.count else {
      throw notListed(frames.axes.rawValue, "frames.axes", "nearby_axes")
    }
    return FrameConvention(up: ups[Int(frames.up.rawValue)], axes: axes[Int(frames.axes.rawValue)])
  }

  static func quality(
    _ state: nearby_tracking_state, _ name: String = "state"
  ) throws(Failure) -> TrackingSample.Quality {
    switch state {
    case NEARBY_TRACKING_NORMAL: return .normal
    case NEARBY_TRACKING_LIMITED: return .limited(.unspecified)
    case NEARBY_TRACKING_INITIALIZING: return .limited(.initializing)
    case NEARBY_TRACKING_RELOCALIZING: return .limited(.relocalizing)
    case NEARBY_TRACKING_EXCESSIVE_MOTION: return .limited(.excessiveMotion)
    case NEARBY_TRACKING_INSUFFICIENT_FEATURES: return .limited(.insufficientFeatures)
    case NEARBY_TRACKING_NOT_AVAILABLE: return .notAvailable
    default: throw notListed(state.rawValue, name, "nearby_tracking_state")
    }
  }

  /// The failure of a number that an enumeration does not have.
  static func notListed(_ value: UInt32, _ name: String, _ type: String) -> Failure {
    .invalidArgument("\(name) is \(value)", remedy: "pass a value of \(type)")
  }

  /// Settings over others; null changes nothing.
  static func configuration(
    _ json: UnsafePointer<CChar>?, over base: FusionConfiguration = FusionConfiguration()
  ) throws(Failure) -> FusionConfiguration {
    guard unsafe json != nil else { return base }
    let json = Array(try unsafe text(json, "configuration").utf8)
    return try locating(NEARBY_INVALID_CONFIGURATION) { () throws(RecordingError) in
      try ConfigurationFile.apply(json: json, file: "configuration", over: base)
    }
  }
}

extension Failure {
  /// A setting that is out of bounds.
  init(_ error: FusionConfigurationError) {
    self.init(
      NEARBY_INVALID_CONFIGURATION, code: "valueOutOfRange", error.description,
      remedy: "choose a value in that interval")
  }

  /// A sample or a question about a peer that was not added.
  static func unknownPeer(_ peer: Int64, of count: Int, _ place: String = "") -> Failure {
    Failure(
      NEARBY_UNKNOWN_PEER, code: "unknownPeer",
      "\(place)there is no peer \(peer); there are \(count), numbered from 0",
      remedy: "add the peer first")
  }
}
