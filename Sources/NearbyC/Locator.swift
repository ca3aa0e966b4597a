// SPDX-License-Identifier: Apache-2.0
public import CNearby
import NearbyFusion
import NearbyGeometry

/// A locator of range differences behind a handle.
struct LocatorState: Sendable {
  var locator: RangeDifferenceLocator
  let frames: FrameConvention
}

/// Makes a locator.
@c @implementation
public func nearby_locator_create(
  _ configuration: UnsafePointer<CChar>?, _ frames: UnsafePointer<nearby_frames>?,
  _ anchors: UnsafePointer<nearby_anchor>?, _ count: Int64,
  _ clocks: UnsafePointer<nearby_anchor_clocks>?,
  _ locator: UnsafeMutablePointer<OpaquePointer?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let locator = unsafe locator else { throw Argument.null("locator") }
    guard let anchors = unsafe anchors else { throw Argument.null("anchors") }
    guard (0...mostAnchors).contains(count) else {
      throw .invalidArgument("count is \(count)", remedy: "pass 0 to \(mostAnchors) anchors")
    }
    let settings = try unsafe Argument.configuration(configuration)
    let frames = try unsafe Argument.frames(frames)
    let placements = (0..<Int(count)).map { index -> AnchorPlacement in
      let anchor = unsafe anchors[index]
      if anchor.sigma.isNaN { return .unknown }
      let given = Vector3(anchor.position.0, anchor.position.1, anchor.position.2)
      let place = frames.engineWorldFromWorld.act(given)
      return anchor.sigma == 0 ? .known(place) : .uncertain(place, sigma: anchor.sigma)
    }
    let model = unsafe clocks?.pointee
    do throws(FusionConfigurationError) {
      let state = LocatorState(
        locator: try RangeDifferenceLocator(
          anchors: placements,
          clocks: model.map {
            AnchorClocks(
              offsetSigma: $0.offset_sigma, rateSigma: $0.rate_sigma, rateWalk: $0.rate_walk)
          } ?? .synchronized, settings), frames: frames)
      unsafe locator.pointee = locators.insert(Shared(state))
    } catch {
      throw Failure(error)
    }
  }
}

/// Each has a clock at each of 48 knots.
private let mostAnchors: Int64 = 256

/// Destroys a locator; calls that are under way with it finish first.
@c @implementation
public func nearby_locator_destroy(_ locator: OpaquePointer?) -> nearby_status {
  entry { () throws(Failure) in try unsafe locators.remove(locator) }
}

/// Extends the device's trajectory.
@c @implementation
public func nearby_locator_add_pose(
  _ locator: OpaquePointer?, _ pose: UnsafePointer<nearby_pose>?,
  _ outcome: UnsafeMutablePointer<nearby_pose_outcome>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe locators.object(of: locator)
    guard let pose = unsafe pose?.pointee else { throw Argument.null("pose") }
    let time = try Argument.time(pose.nanoseconds, "pose.nanoseconds")
    let (place, turn) = (pose.position, pose.quaternion)
    let rotation = Rotation(given: turn.0, turn.1, turn.2, turn.3)
    let became = try object.use { state throws(Failure) -> PoseOutcome in
      guard let rotation else { return .rejectedNotFinite }
      return state.locator.add(
        DevicePose(
          timestamp: time,
          worldFromDevice: state.frames.engineWorldFromEngineDevice(
            RigidTransform(
              rotation: rotation, translation: Vector3(place.0, place.1, place.2)))))
    }
    unsafe outcome?.pointee = nearby_pose_outcome(became)
  }
}

/// Adds how much farther one anchor is than another.
@c @implementation
public func nearby_locator_add_difference(
  _ locator: OpaquePointer?, _ difference: UnsafePointer<nearby_difference>?,
  _ outcome: UnsafeMutablePointer<nearby_difference_outcome>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe locators.object(of: locator)
    guard let given = unsafe difference?.pointee else { throw Argument.null("difference") }
    let time = try Argument.time(given.nanoseconds, "difference.nanoseconds")
    let became = try object.use { state throws(Failure) in
      state.locator.add(
        RangeDifference(
          timestamp: time, from: Int(given.from), to: Int(given.to), metres: given.metres,
          sigma: given.sigma.isNaN ? nil : given.sigma))
    }
    let code =
      switch became {
      case .accepted: NEARBY_DIFFERENCE_ACCEPTED
      case .rejectedNotADifference: NEARBY_DIFFERENCE_NOT_ONE
      case .rejectedWithoutPose: NEARBY_DIFFERENCE_WITHOUT_POSE
      case .rejectedTooLate: NEARBY_DIFFERENCE_TOO_LATE
      }
    unsafe outcome?.pointee = code
  }
}

/// Where the device is at the newest pose.
@c @implementation
public func nearby_locator_locate(
  _ locator: OpaquePointer?, _ fix: UnsafeMutablePointer<nearby_fix>?
) -> nearby_status {
  entry { () throws(Failure) in
    let object = try unsafe locators.object(of: locator)
    guard let fix = unsafe fix else { throw Argument.null("fix") }
    let found = try object.use { state throws(Failure) in
      (fix: state.locator.locate(), frames: state.frames)
    }
    unsafe fix.pointee = nearby_fix(found.fix, found.frames)
  }
}

extension nearby_fix {
  fileprivate init(_ fix: AnchorFix?, _ frames: FrameConvention) {
    self.init()
    let nowhere = Vector3(.nan, .nan, .nan)
    let place = fix?.position.value.map { frames.worldVector(fromEngine: $0) } ?? nowhere
    nanoseconds = fix?.timestamp.nanoseconds ?? 0
    is_located = fix?.position.value == nil ? 0 : 1
    is_turn_known = fix?.turnRadians == nil ? 0 : 1
    position = (place.x, place.y, place.z)
    position_sigma = fix?.position.sigma ?? .infinity
    yaw = fix?.turnRadians ?? .nan
    yaw_sigma = fix?.siteFromWorld.sigma ?? .infinity
    let spread = fix.map { frames.worldCovariance(fromEngine: $0.covariance) }
    covariance = (
      spread?.xx ?? .infinity, spread?.xy ?? 0, spread?.xz ?? 0, spread?.yy ?? .infinity,
      spread?.yz ?? 0, spread?.zz ?? .infinity
    )
  }
}
