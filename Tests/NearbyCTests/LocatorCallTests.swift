// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyC
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("C: locator")
struct LocatorCallTests {
  /// The same walk through the interface, z up, as through the library.
  @Test func theFixIsThatOfTheLocator() throws {
    var scenario = DownlinkScenario.presets[2]
    scenario.walk.duration = 15
    let run = scenario.simulated(seed: 4)
    var expected = try RangeDifferenceLocator(
      anchors: run.anchors.map { .known($0) }, clocks: scenario.clocks)
    let frames = FrameConvention(up: .z, axes: .ros)
    var given = nearby_frames(up: NEARBY_UP_Z, axes: NEARBY_AXES_ROS)
    let anchors = run.anchors.map { place in
      let there = frames.worldVector(fromEngine: place)
      return nearby_anchor(position: (there.x, there.y, there.z), sigma: 0)
    }
    var clocks = nearby_anchor_clocks(
      offset_sigma: scenario.clocks.offsetSigma, rate_sigma: scenario.clocks.rateSigma,
      rate_walk: scenario.clocks.rateWalk)
    var handle: OpaquePointer?
    #expect(
      nearby_locator_create(nil, &given, anchors, Int64(anchors.count), &clocks, &handle)
        == NEARBY_OK)
    defer { #expect(nearby_locator_destroy(handle) == NEARBY_OK) }
    var next = 0
    for pose in run.poses {
      expected.add(pose)
      let there = frames.worldFromDevice(fromEngine: pose.worldFromDevice)
      let (place, turn) = (there.translation, there.rotation)
      var row = nearby_pose(
        nanoseconds: pose.timestamp.nanoseconds, position: (place.x, place.y, place.z),
        quaternion: (turn.x, turn.y, turn.z, turn.w))
      #expect(nearby_locator_add_pose(handle, &row, nil) == NEARBY_OK)
      while next < run.differences.count, run.differences[next].timestamp <= pose.timestamp {
        let difference = run.differences[next]
        expected.add(difference)
        var row = nearby_difference(
          nanoseconds: difference.timestamp.nanoseconds, from: UInt32(difference.from),
          to: UInt32(difference.to), metres: difference.metres, sigma: .nan)
        var outcome = NEARBY_DIFFERENCE_NOT_ONE
        #expect(nearby_locator_add_difference(handle, &row, &outcome) == NEARBY_OK)
        #expect(outcome == NEARBY_DIFFERENCE_ACCEPTED)
        next += 1
      }
      guard pose.timestamp.nanoseconds % 1_000_000_000 == 0 else { continue }
      var fix = nearby_fix()
      #expect(nearby_locator_locate(handle, &fix) == NEARBY_OK)
      let wanted = expected.locate()
      #expect((fix.is_located != 0) == (wanted?.position.value != nil))
      guard let place = wanted?.position.value, let turn = wanted?.turnRadians else { continue }
      let known = frames.worldVector(fromEngine: place)
      #expect((known - Vector3(fix.position.0, fix.position.1, fix.position.2)).length < 1e-6)
      #expect(abs(fix.yaw - turn) < 1e-6)
      #expect(fix.nanoseconds == pose.timestamp.nanoseconds)
    }
    var last = nearby_fix()
    #expect(nearby_locator_locate(handle, &last) == NEARBY_OK)
    #expect(last.is_located != 0 && last.is_turn_known != 0)
  }

  @Test func whatMakesNoSenseIsAStatus() {
    var handle: OpaquePointer?
    var anchor = nearby_anchor(position: (.infinity, 0, 0), sigma: 0)
    #expect(
      nearby_locator_create(nil, nil, &anchor, 1, nil, &handle) == NEARBY_INVALID_CONFIGURATION)
    #expect(LastFailure().text.contains("anchors[0]"))
    #expect(nearby_locator_create(nil, nil, nil, 1, nil, &handle) == NEARBY_INVALID_ARGUMENT)
    #expect(nearby_locator_create(nil, nil, &anchor, -1, nil, &handle) == NEARBY_INVALID_ARGUMENT)
    #expect(nearby_locator_create(nil, nil, &anchor, 1, nil, nil) == NEARBY_INVALID_ARGUMENT)
    // An anchor of which nothing is known has no place that could be wrong.
    anchor.sigma = .nan
    #expect(nearby_locator_create(nil, nil, &anchor, 1, nil, &handle) == NEARBY_OK)
    var fix = nearby_fix()
    #expect(nearby_locator_locate(handle, &fix) == NEARBY_OK)
    #expect(fix.is_located == 0 && fix.position.0.isNaN && fix.nanoseconds == 0)
    var difference = nearby_difference(nanoseconds: 0, from: 0, to: 1, metres: 1, sigma: .nan)
    var outcome = NEARBY_DIFFERENCE_ACCEPTED
    #expect(nearby_locator_add_difference(handle, &difference, &outcome) == NEARBY_OK)
    #expect(outcome == NEARBY_DIFFERENCE_NOT_ONE)
    #expect(nearby_engine_destroy(handle) == NEARBY_INVALID_HANDLE)
    #expect(nearby_locator_destroy(handle) == NEARBY_OK)
    #expect(nearby_locator_destroy(handle) == NEARBY_INVALID_HANDLE)
    #expect(LastFailure().text.contains("there is no such locator"))
  }
}
