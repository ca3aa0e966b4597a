// SPDX-License-Identifier: Apache-2.0
public import ARKit
internal import Foundation
internal import NearbyEnvironment
public import NearbyFusion
internal import NearbyGeometry

/// Locates an app's device from the messages of anchors that its session hears (DL-TDoA), with an AR session's
/// frames.
///
/// ```swift
/// func session(_ session: ARSession, didUpdate frame: ARFrame) { locator.add(frame) }
/// func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {
///   locator.add(measurements)
///   place = locator.locate()?.position.value
/// }
/// ```
///
/// Apple's framework delivers the messages and leaves the place to the app. Here they become range differences
/// (`RangeDifference.differences(of:)`), which a `RangeDifferenceLocator` fuses with the poses. Messages have no time
/// on the clock of the frames, so they count as of the newest frame. The anchors' places are those that they send:
/// relative coordinates are taken as metres with y up, geodetic ones become metres east, up and south of the first
/// anchor. When an anchor is heard for the first time, the locator begins anew with it.
public struct AnchorNetworkLocator: Sendable {
  private let clocks: AnchorClocks
  private let configuration: FusionConfiguration
  private var addresses: [Int] = []
  private var places: [Vector3] = []
  private var origin: simd_double3?
  private var locator: RangeDifferenceLocator?
  private var newestFrame: Timestamp?

  /// Makes a locator that has heard nothing.
  ///
  /// - Parameters:
  ///   - clocks: How the anchors' clocks err.
  ///   - configuration: How accurate ranges and odometry are.
  /// - Throws: The first setting that makes no sense.
  public init(
    clocks: AnchorClocks = .synchronized,
    _ configuration: FusionConfiguration = FusionConfiguration()
  ) throws(FusionConfigurationError) {
    // Settings are checked here, so that later calls cannot fail for them.
    _ = try RangeDifferenceLocator(anchors: [], clocks: clocks, configuration)
    self.clocks = clocks
    self.configuration = configuration
  }

  /// Extends the device's trajectory by a frame of an AR session.
  ///
  /// - Parameter frame: The frame.
  /// - Returns: How the locator treated its pose; `nil` before the first messages.
  @discardableResult
  public mutating func add(_ frame: ARFrame) -> PoseOutcome? {
    let pose = DevicePose(frame)
    newestFrame = pose.timestamp
    return locator?.add(pose)
  }

  /// Adds the messages of a round.
  ///
  /// - Parameter measurements: What the session's delegate got.
  /// - Returns: How many range differences of the round are used.
  @discardableResult
  public mutating func add(_ measurements: [NIDLTDOAMeasurement]) -> Int {
    meet(measurements)
    guard let newestFrame else { return 0 }
    let messages = measurements.compactMap { measurement -> DownlinkMessage? in
      guard let anchor = addresses.firstIndex(of: measurement.address) else { return nil }
      return DownlinkMessage(
        anchor: anchor,
        kind: measurement.measurementType == .poll
          ? .poll : measurement.measurementType == .response ? .response : .final,
        transmitSeconds: measurement.transmitTime, receiveSeconds: measurement.receiveTime,
        carrierFrequencyOffset: measurement.carrierFrequencyOffset, timestamp: newestFrame)
    }
    return RangeDifference.differences(of: messages).count {
      locator?.add($0) == .accepted
    }
  }

  /// Where the device is at the newest frame, in the anchors' coordinates.
  ///
  /// To be called now and then, once a second, say: a place counts as known when two searches have found it.
  ///
  /// - Returns: The fix; `nil` before the first frame and the first messages.
  public mutating func locate() -> AnchorFix? { locator?.locate() }

  /// Notes anchors that were not heard before.
  private mutating func meet(_ measurements: [NIDLTDOAMeasurement]) {
    let strangers = measurements.filter { !addresses.contains($0.address) }
    guard !strangers.isEmpty else { return }
    for stranger in strangers where !addresses.contains(stranger.address) {
      let place = place(of: stranger)
      guard place.isFinite, place.length < 1e6 else { continue }
      addresses.append(stranger.address)
      places.append(place)
    }
    locator = try? RangeDifferenceLocator(
      anchors: places.map { .known($0) }, clocks: clocks, configuration)
  }

  private mutating func place(of anchor: NIDLTDOAMeasurement) -> Vector3 {
    let given = anchor.coordinates
    guard anchor.coordinatesType == .geodetic else { return Vector3(given.x, given.y, given.z) }
    let origin = self.origin ?? given
    self.origin = origin
    // A sphere of the Earth's mean radius: 1 mm off across a building.
    let radius = 6_371_008.8
    let north = radius * (given.x - origin.x).degreesAsRadians
    let east = radius * cos(origin.x.degreesAsRadians) * (given.y - origin.y).degreesAsRadians
    return Vector3(east, given.z - origin.z, -north)
  }
}

extension NIDLTDOAMeasurement {
  /// The measurement of a message that a device heard.
  convenience init(_ message: AnchorMessage) {
    let kind: NIDLTDOAMeasurementType =
      switch message.kind {
      case .poll: .poll
      case .response: .response
      case .final: .final
      }
    self.init(
      address: message.address, measurementType: kind, transmitTime: message.transmitSeconds,
      receiveTime: message.receiveSeconds, signalStrength: message.signalStrength,
      carrierFrequencyOffset: message.carrierFrequencyOffset, coordinatesType: .relative,
      coordinates: simd_double3(message.position.x, message.position.y, message.position.z),
      clusterInitiatorAddress: message.initiatorAddress)
  }
}
