// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyImports
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct RecordingInfoTests {
  /// Every fault once, and figures that can be computed by hand.
  private func faulty() throws -> TemporaryRecording {
    try TemporaryRecording(
      manifest: """
        { "format": "nearby-recording", "version": 1, "name": "faulty", "description": "A test.",
          "world": { "up": "z" }, "trajectory": { "kind": "odometry", "planar": true },
          "peers": [ { "id": "a" }, { "id": "silent", "motion": "moving" } ] }
        """,
      trajectory: """
        1 0 0 0 0 0 0 1
        2 3 4 0 0 0 0 1
        2 9 9 0 0 0 0 1
        6 3 4 12 0 0 0 1
        6.5 3 4 12 0 0 0 1
        """,
      ranging: TemporaryRecording.header + """
        0.5,a,1,0,0
        1,a,2,0.5,0.5
        1,a,2,0.5,0.5
        1.5,a,nan,,
        2,a,-1,,
        2,a,0,4,
        4,a,2000,,
        6,a,,0,1.6
        6.5,a,,,
        7.5,b,inf,,
        """,
      others: [
        "tracking.csv": "timestamp,state\n1,normal\n2,limited\n3,normal\n",
        "truth/trajectory.txt": "1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n",
        "truth/peers.csv": "timestamp,peer,x,y,z\n0,a,0,0,0\n1,a,0,0,0\n0,b,0,0,0\n",
      ])
  }

  @Test func figuresAreThoseReckonedByHand() throws {
    let recording = try faulty()
    let info = try RecordingReader(folder: recording.path).info()
    #expect(info.startSeconds == 0.5 && info.durationSeconds == 7)
    #expect(info.trajectory.poseCount == 4)
    #expect(info.trajectory.rate == 3 / 5.5)
    #expect(abs(info.trajectory.pathLength - 17) < 1e-12)
    #expect(info.trajectory.largestGaps.map(\.startSeconds) == [2, 1, 6])
    #expect(info.trajectory.largestGaps.map(\.durationSeconds) == [4, 1, 0.5])
    #expect(info.trackingStates == ["normal": 2, "limited": 1])
    #expect(info.truth?.poseCount == 2 && info.truth?.peerCount == 2)

    #expect(info.peers.map(\.peer.id) == ["a", "silent", "b"])
    let a = info.peers[0]
    #expect(a.sampleCount == 9 && a.distanceCount == 7)
    #expect(a.azimuthCount == 5 && a.elevationCount == 4)
    #expect(a.rate == 8.0 / 6)
    #expect(a.minimumDistance == 1 && a.maximumDistance == 2000)
    #expect(abs((a.medianDistance ?? 0) - 2) < 0.03)
    #expect(abs(a.missingAzimuthShare - 4.0 / 9) < 1e-12)
    #expect(info.peers[1].sampleCount == 0 && info.peers[1].peer.motion == .moving)
    #expect(info.peers[2].minimumDistance == nil && info.peers[2].rate == nil)

    #expect(info.faults.notFinite == 2)
    #expect(info.faults.notPositiveDistance == 2)
    #expect(info.faults.absurdDistance == 1)
    #expect(info.faults.angleOutOfBounds == 2)
    #expect(info.faults.duplicate == 1)
    #expect(info.faults.empty == 1)
    #expect(info.faults.beforeFirstPose == 1)
    #expect(info.faults.afterLastPose == 1)
    #expect(info.faults.inPoseGap == 1)
    #expect(info.warnings.counts == [.duplicateTimestamp: 1, .undeclaredPeer: 1])
  }

  @Test func textNamesEverything() throws {
    let recording = try faulty()
    let text = try RecordingReader(folder: recording.path).info().text()
    let end = try #require(text.range(of: "\nwarning: "))
    let findings = text[end.lowerBound...].split(separator: "\n")
    #expect(
      findings.first
        == "warning: 20 % of the samples are before the first pose or after the last: poses from")
    #expect(findings.last == "note: silent, b have fewer than 5 samples")
    #expect(findings.allSatisfy { $0.count <= 100 })
    #expect(
      text[..<end.lowerBound] == """
        faulty
          A test.

        duration    7.0 s from 0.500 s
        frames      world up z, device axes arkit
        trajectory  odometry, planar
                    4 poses, 0.5 a second, path 17.0 m
                    largest gaps 4.000 s at 2.000 s, 1.000 s at 1.000 s, 0.500 s at 6.000 s
        tracking    1 limited, 2 normal
        truth       2 poses, 2 peers
        faults      2 samples with a value that is infinite or not a number
                    2 samples with a zero or negative distance
                    1 sample with a distance beyond 1000 m
                    2 samples with an angle out of bounds
                    1 sample repeating the one before
                    1 sample without any value
                    1 sample before the first pose
                    1 sample after the last pose
                    1 sample in gaps between poses longer than 2 s
        warnings    trajectory.txt:3: the stamp is that of the pose before; the line is skipped
                    ranging.csv:11: peer "b" is not in recording.json; taken as stationary

        peer    motion      samples  a second  distances  azimuths  elevations  min m  median m    max m
        a       stationary        9      1.33     77.8 %    55.6 %      44.4 %   1.00      2.00  2000.00
        silent  moving            0         -          -         -           -      -         -        -
        b       stationary        1         -    100.0 %     0.0 %       0.0 %      -         -        -

        """)
  }

  @Test func jsonReadsBackEqual() throws {
    let recording = try faulty()
    let info = try RecordingReader(folder: recording.path).info()
    let json = info.json()
    #expect(try JSONDecoder().decode(RecordingInfo.self, from: Data(json.utf8)) == info)
    // There is no smallest distance of a peer without any, for instance, and there are no differences.
    let left = [
      "source", "license", "peers[].rate", "peers[].minimumDistance", "peers[].medianDistance",
      "peers[].maximumDistance", "warnings.kept[].column", "findings[].remedy",
      "clock", "differences",
    ]
    let lost = try propertiesLost(in: json, of: info)
    #expect(lost.filter { !left.contains($0) } == [])
  }

  @Test func faultsInTheTruthAreFound() throws {
    let recording = try faulty()
    try recording.write("1 0 0\n", to: "truth/trajectory.txt")
    let error = #expect(throws: RecordingError.self) {
      try RecordingReader(folder: recording.path).info()
    }
    #expect(error?.file == "truth/trajectory.txt")
  }
}
