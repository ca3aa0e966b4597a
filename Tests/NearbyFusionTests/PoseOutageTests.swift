// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// The table of an outage's transitions.
@Suite("PoseOutage")
struct PoseOutageTests {
  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  @Test("a sample without a pose begins an outage when the odometry has been silent for long")
  func begins() {
    for start in [PoseOutage.none, .ongoing, .confirming(since: Self.time(1))] {
      var outage = start
      outage.addSampleWithoutPose(isOutage: false)
      #expect(outage == start)
      outage.addSampleWithoutPose(isOutage: true)
      #expect(outage == .ongoing)
    }
  }

  @Test(
    "samples with poses end it once they have agreed for a while",
    arguments: [
      (PoseOutage.none, false, false, PoseOutage.none),
      (.none, false, true, .none),
      (.none, true, false, .confirming(since: time(5))),
      (.ongoing, false, false, .confirming(since: time(5))),
      (.ongoing, true, true, .confirming(since: time(5))),
      (.confirming(since: time(4.5)), false, false, .confirming(since: time(4.5))),
      (.confirming(since: time(4)), false, false, .none),
      (.confirming(since: time(4)), false, true, .confirming(since: time(5))),
      (.confirming(since: time(4)), true, false, .confirming(since: time(5))),
    ])
  func ends(
    before: PoseOutage, hasResumed: Bool, isContradicted: Bool, after: PoseOutage
  ) {
    var outage = before
    outage.addSampleWithPose(
      at: Self.time(5), hasResumed: hasResumed, isContradicted: isContradicted, probation: 1)
    #expect(outage == after)
  }
}
