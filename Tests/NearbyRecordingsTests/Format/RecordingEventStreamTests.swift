// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct RecordingEventStreamTests {
  /// One letter and the stamp in seconds for each event.
  private func order(_ recording: TemporaryRecording) throws -> [String] {
    var stream = try RecordingReader(folder: recording.path).events()
    var order: [String] = []
    while let event = try stream.next() {
      switch event {
      case .pose(let pose): order.append("P\(pose.timestamp.seconds)")
      case .tracking(let sample): order.append("T\(sample.timestamp.seconds)")
      case .ranging(let row): order.append("R\(row.timestamp.seconds)")
      }
    }
    #expect(try stream.next() == nil)
    #expect(stream.bytesRead == stream.totalBytes && stream.totalBytes > 0)
    return order
  }

  private func recording(
    poses: [Double], ranging: [Double], tracking: [Double]? = nil
  ) throws -> TemporaryRecording {
    var others: [String: String] = [:]
    if let tracking {
      others["tracking.csv"] =
        "timestamp,state\n" + tracking.map { "\($0),normal\n" }.joined()
    }
    return try TemporaryRecording(
      trajectory: poses.map { "\($0) 0 0 0 0 0 0 1\n" }.joined(),
      ranging: TemporaryRecording.header + ranging.map { "\($0),a,1,,\n" }.joined(), others: others)
  }

  @Test func rangingFollowsThePoseAfterIt() throws {
    let recording = try recording(
      poses: [0, 1, 2, 3], ranging: [-1, 0, 0.5, 0.75, 2, 3.5, 4], tracking: [0.5, 1, 1.5, 3.75, 9])
    #expect(
      try order(recording) == [
        "P0.0", "R-1.0", "R0.0", "T0.5", "T1.0", "P1.0", "R0.5", "R0.75", "T1.5", "P2.0", "R2.0",
        "P3.0", "R3.5", "T3.75", "R4.0", "T9.0",
      ])
  }

  @Test func trackingBeforeEverythingComesFirst() throws {
    let recording = try recording(poses: [1, 2], ranging: [5], tracking: [-5, 0])
    #expect(try order(recording) == ["T-5.0", "T0.0", "P1.0", "P2.0", "R5.0"])
  }

  /// The documented properties, on random recordings: nothing is lost, each kind is in order, a
  /// ranging row never comes before the first pose at or after it nor after the second, and
  /// tracking is never late.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func promisesHold(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func stamps(_ count: Int) -> [Double] {
      (0..<count).map { _ in Double(Int.random(in: 0...60, using: &generator)) / 4 }.sorted()
    }
    let poses = Array(Set(stamps(20))).sorted()
    let ranging = stamps(40)
    let tracking = stamps(10)
    let order = try order(recording(poses: poses, ranging: ranging, tracking: tracking))
    func taken(_ letter: Character) -> [Double] {
      order.filter { $0.first == letter }.compactMap { Double($0.dropFirst()) }
    }
    #expect(taken("P") == poses && taken("R") == ranging && taken("T") == tracking)
    var lastPose = -Double.infinity
    var beforeLast = -Double.infinity
    for event in order {
      let time = try #require(Double(event.dropFirst()))
      switch event.first {
      case "P": (beforeLast, lastPose) = (lastPose, time)
      case "R": #expect((lastPose >= time || lastPose == poses.last) && beforeLast < time)
      default: #expect(time > lastPose)
      }
    }
  }

  @Test func peersGrowAsTheyAreNamed() throws {
    let recording = try TemporaryRecording(
      manifest: """
        { "format": "nearby-recording", "version": 1, "name": "n", "extra": 0,
          "peers": [ { "id": "b", "motion": "moving" } ] }
        """,
      trajectory: "0 0 0 0 0 0 0 1\n0 0 0 0 0 0 0 1\n",
      ranging: TemporaryRecording.header + "0,a,1,,\n0,b,2,,\n")
    var stream = try RecordingReader(folder: recording.path).events()
    var indices: [Int] = []
    while let event = try stream.next() {
      if case .ranging(let row) = event {
        #expect(stream.peerCount > row.peerIndex)
        #expect(stream.peers[row.peerIndex].id == row.peer)
        indices.append(row.peerIndex)
      }
    }
    #expect(indices == [1, 0])
    #expect(
      stream.peers == [RecordingPeer(id: "b", motion: .moving), RecordingPeer(id: "a")])
    #expect(
      stream.warnings.counts == [.unknownKey: 1, .duplicateTimestamp: 1, .undeclaredPeer: 1])
  }

  @Test func posesAreInTheEnginesFrames() throws {
    let recording = try TemporaryRecording(
      manifest: """
        { "format": "nearby-recording", "version": 1, "name": "n", "world": { "up": "z" } }
        """, trajectory: "0 1 2 3 0 0 0 1\n")
    var stream = try RecordingReader(folder: recording.path).events()
    guard case .pose(let pose) = try stream.next() else {
      Issue.record("expected a pose")
      return
    }
    #expect((pose.worldFromDevice.translation - Vector3(1, 3, -2)).length < 1e-12)
  }

  @Test(arguments: [
    ("trajectory.txt", "1 0 0\n"), ("ranging.csv", TemporaryRecording.header + "x,a,1,,\n"),
    ("tracking.csv", "timestamp,state\n0,bad\n"),
  ])
  func faultsOfEveryFileReachTheCaller(file: String, text: String) throws {
    let recording = try TemporaryRecording()
    try recording.write(text, to: file)
    let error = #expect(throws: RecordingError.self) { try order(recording) }
    #expect(error?.file == file && error?.line != nil)
  }

  @Test func rowsBecomeSamples() throws {
    let row = RangingRow(
      timestamp: Timestamp(nanoseconds: 7), peer: "a", distance: 1, azimuthRadians: 2,
      elevationRadians: 3, distanceSigma: 4, azimuthSigmaRadians: 5, elevationSigmaRadians: 6,
      isNonLineOfSight: true)
    var engine = try FusionEngine()
    let id = engine.addPeer()
    #expect(
      row.sample(of: id)
        == RangingSample(
          peer: id, timestamp: Timestamp(nanoseconds: 7), distance: 1, azimuthRadians: 2,
          elevationRadians: 3, distanceSigma: 4, azimuthSigmaRadians: 5, elevationSigmaRadians: 6,
          isNonLineOfSight: true))
  }

  /// The example of the module's front page.
  @Test func engineTakesTheStream() throws {
    let folder = try TemporaryRecording(ranging: TemporaryRecording.header + "0,a,1,,\n0,b,2,,\n")
    let recording = try RecordingReader(folder: folder.path)
    var engine = try FusionEngine(recording.manifest.fusionConfiguration())
    var ids: [PeerID] = []

    var events = try recording.events()
    while let event = try events.next() {
      if ids.count < events.peerCount {
        ids += events.peers[ids.count...].map { engine.addPeer($0.motion) }
      }
      switch event {
      case .pose(let pose): engine.add(pose)
      case .tracking(let sample): engine.add(sample)
      case .ranging(let row): engine.add(row.sample(of: ids[row.peerIndex]))
      }
    }
    #expect(ids.count == 2)
  }
}
