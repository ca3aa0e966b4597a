// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

/// A change of a sound recording, and the finding that it must cause.
struct CheckCase: Sendable, CustomTestStringConvertible {
  var name: String
  var severity: RecordingFinding.Severity
  var kind: RecordingFinding.Kind
  /// Parts of the message or the remedy.
  var says: [String]
  var change: @Sendable (inout RecordingSurvey) -> Void

  init(
    _ name: String, _ severity: RecordingFinding.Severity, _ kind: RecordingFinding.Kind,
    _ says: [String], _ change: @escaping @Sendable (inout RecordingSurvey) -> Void
  ) {
    self.name = name
    self.severity = severity
    self.kind = kind
    self.says = says
    self.change = change
  }

  var testDescription: String { name }
}

@Suite("What is seen before a recording is run")
struct RecordingChecksTests {
  /// A minute of walking about, two peers, nothing wrong.
  static var sound: RecordingSurvey {
    var manifest = RecordingManifest(name: "sound")
    manifest.worldUp = .z
    var info = RecordingInfo(
      name: "sound", worldUp: .z, deviceAxes: .ros,
      trajectory: RecordingInfo.Trajectory(kind: .visualInertial, isPlanar: false))
    info.trajectory.poseCount = 601
    info.trajectory.rate = 10
    info.peers = ["keys", "bag"].map {
      var peer = RecordingInfo.Peer(peer: RecordingPeer(id: $0))
      peer.sampleCount = 300
      peer.distanceCount = 300
      return peer
    }
    var survey = RecordingSurvey(info: info, manifest: manifest)
    survey.poses = RecordingSurvey.Poses(
      first: time(100), last: time(160), extent: Vector3(8, 6, 1.5), attitudeIsConstant: false,
      meanUpInDevice: Vector3(0, 0, 0.95), meanUpInDeviceScalarFirst: Vector3(0.1, 0.2, 0.3),
      levelSpread: RecordingSurvey.LevelSpread(along: 2, across: 1.5),
      watchedSeconds: 60, restingSeconds: 5, medianSpeed: 1.2)
    survey.samples = RecordingSurvey.Samples(
      first: time(100), last: time(160), count: 600,
      withinPoses: 600, comparedDistances: 500)
    let scatter = RecordingSurvey.Scatter(count: 200, metres: 0.09, perStatedSigma: 0.9)
    survey.peers = [0, 1].map { _ in
      RecordingSurvey.Peer(scatter: scatter, pairs: 50, changePerMetre: 0.6, excess: 0.05)
    }
    return survey
  }

  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(seconds * 1e9))
  }

  static let cases: [CheckCase] = [
    CheckCase(
      "clocks", .error, .clocksApart, ["poses from 100 to 160 s", "--ranging-offset -1000000"]
    ) {
      $0.samples.first = time(1_000_100)
      $0.samples.last = time(1_000_160)
      $0.samples.withinPoses = 0
    },
    CheckCase("samples in ms", .error, .clocksApart, ["--unit timestamp=ms"]) {
      $0.samples.first = time(100_000)
      $0.samples.last = time(160_000)
      $0.samples.withinPoses = 0
    },
    CheckCase("poses in ns", .error, .clocksApart, ["--pose-unit timestamp=ns"]) {
      $0.samples.first = Timestamp(nanoseconds: 100)
      $0.samples.last = Timestamp(nanoseconds: 160)
      $0.samples.withinPoses = 0
    },
    CheckCase("overlap in part", .warning, .clocksOverlapPartly, ["20 % of the samples"]) {
      $0.samples.withinPoses = 480
    },
    CheckCase("nothing measured", .error, .nothingMeasured, ["none of the 600", "--map"]) {
      $0.info.faults.empty = 600
    },
    CheckCase("empty", .warning, .emptySamples, ["25 % of the samples have no value"]) {
      $0.info.faults.empty = 150
    },
    CheckCase("zeros", .warning, .notPositiveDistances, ["2 %", "--missing distance=0"]) {
      $0.info.faults.notPositiveDistance = 12
      $0.samples.zeroDistances = 12
    },
    CheckCase("negative", .warning, .notPositiveDistances, ["see --missing"]) {
      $0.info.faults.notPositiveDistance = 12
    },
    CheckCase("differences", .error, .notPositiveDistances, ["48 %", "TDoA"]) {
      $0.info.faults.notPositiveDistance = 288
    },
    CheckCase("only zeros", .error, .nothingMeasured, ["600 are zero or negative"]) {
      $0.info.faults.notPositiveDistance = 600
      $0.samples.zeroDistances = 600
    },
    CheckCase(
      "a straight walk", .warning, .straightLine, ["within 0.05 m", "walk around a corner"]
    ) {
      $0.poses.levelSpread = RecordingSurvey.LevelSpread(along: 3, across: 0.05)
    },
    CheckCase("scalar first", .warning, .quaternionOrder, ["tumbles", "--pose-map qw=COLUMN"]) {
      $0.poses.meanUpInDevice = Vector3(0, 0.3, 0.1)
      $0.poses.meanUpInDeviceScalarFirst = Vector3(0, 0, 0.99)
    },
    CheckCase("upside down", .warning, .upsideDown, ["--up z-down"]) {
      $0.manifest.device.axes = .ros
      $0.poses.meanUpInDevice = Vector3(0, 0.1, -0.95)
    },
    CheckCase("a wobble of micrometres", .warning, .odometryKind, ["to a millimetre"]) {
      $0.poses.extent = Vector3(8, 6, 7e-6)
    },
    CheckCase("bunched stamps", .note, .bunchedStamps, ["0.05 ms", "16.7 ms"]) {
      $0.poses.medianStep = 1.0 / 60
      $0.poses.shortStep = 5e-5
    },
    CheckCase("gaps", .note, .sampleGaps, ["for 40 of 60 s", "up to 4.2 s"]) {
      $0.samples.secondsInGaps = 40
      $0.samples.longestGap = 4.2
    },
    CheckCase("a late clock", .warning, .clockOffset, ["0.17 s ahead", "--ranging-offset -0.17"]) {
      $0.clock = ClockAlignment(offset: -0.17, sigma: 0.01, stretchCount: 9, residualRatio: 0.8)
    },
    CheckCase("hardly any overlap", .error, .clocksApart, ["hardly any sample"]) {
      $0.samples.withinPoses = 3
    },
    CheckCase("far", .warning, .farDistances, ["beyond 1000 m", "65535"]) {
      $0.info.faults.absurdDistance = 30
    },
    CheckCase("centimetres", .warning, .unit, ["60 times", "--unit distance=cm"]) {
      for index in $0.peers.indices { $0.peers[index].changePerMetre = 60 }
    },
    CheckCase("millimetres", .warning, .unit, ["--unit distance=mm"]) {
      for index in $0.peers.indices { $0.peers[index].changePerMetre = 600 }
    },
    CheckCase("poses in cm", .warning, .unit, ["--pose-unit tx=cm"]) {
      for index in $0.peers.indices { $0.peers[index].changePerMetre = 0.006 }
    },
    CheckCase("poses in mm", .warning, .unit, ["--pose-unit tx=mm"]) {
      for index in $0.peers.indices { $0.peers[index].changePerMetre = 0.0006 }
    },
    CheckCase("repeated", .warning, .repeatedDistances, ["40 % of the distances"]) {
      $0.samples.repeatedDistances = 200
    },
    CheckCase("noise", .warning, .rangeNoise, ["0.54 m", "5.4 times", "--range-sigma 0.6"]) {
      for index in $0.peers.indices {
        $0.peers[index].scatter = .init(count: 200, metres: 0.54, perStatedSigma: 5.4)
      }
    },
    CheckCase("filtered", .note, .filteredRanges, ["0.02 mm only"]) {
      for index in $0.peers.indices {
        $0.peers[index].scatter = .init(count: 200, metres: 2e-5, perStatedSigma: 2e-4)
      }
    },
    CheckCase("degrees", .warning, .angleUnit, ["40 % of the angles", "azimuth=deg"]) {
      $0.info.peers[0].azimuthCount = 300
      $0.info.faults.angleOutOfBounds = 120
    },
    CheckCase("angles without attitude", .warning, .noAttitude, ["all poses have one attitude"]) {
      $0.info.peers[0].azimuthCount = 300
      $0.poses.attitudeIsConstant = true
    },
    CheckCase("ranges without attitude", .note, .noAttitude, ["peers are located"]) {
      $0.poses.attitudeIsConstant = true
    },
    CheckCase("standing", .warning, .hardlyMoves, ["within 0.173 m"]) {
      $0.poses.extent = Vector3(0.1, 0.1, 0.1)
    },
    CheckCase("level", .warning, .level, ["within 0.3 m of one height", "--planar"]) {
      $0.poses.extent.z = 0.3
    },
    CheckCase("exactly level", .warning, .level, ["keeps exactly one height"]) {
      $0.poses.extent.z = 0
    },
    CheckCase("exactly level camera", .warning, .odometryKind, ["--kind wheel"]) {
      $0.poses.extent.z = 0
    },
    CheckCase("not planar", .warning, .notPlanar, ["1.5 m", "--no-planar"]) {
      $0.manifest.trajectory.isPlanar = true
    },
    CheckCase("resting", .note, .rests, ["50 of 60 s"]) { $0.poses.restingSeconds = 50 },
    CheckCase("fast", .warning, .speed, ["300 m/s"]) { $0.poses.medianSpeed = 300 },
    CheckCase("up axis", .warning, .upAxis, ["8 m along z", "--up y"]) {
      $0.poses.extent = Vector3(6, 0.02, 8)
    },
    CheckCase("gaps", .warning, .poseGaps, ["10 % of the samples", "longest 7 s at 120 s"]) {
      $0.info.faults.inPoseGap = 60
      $0.info.trajectory.largestGaps = [.init(startSeconds: 120, durationSeconds: 7)]
    },
    CheckCase("few samples", .note, .fewSamples, ["bag has fewer than 5 samples"]) {
      $0.info.peers[1].sampleCount = 4
    },
    CheckCase("moving peer", .warning, .movingPeer, ["the distance to bag", "--moving NAME"]) {
      $0.peers[1].excess = 1.2
    },
  ]

  @Test("A sound recording has its overlap said, and nothing else")
  func soundRecording() {
    let findings = RecordingChecks.findings(Self.sound)
    #expect(
      findings.map(\.description) == [
        "poses and samples overlap for 60 s; 10 poses and 9.98 samples a second"
      ])
    #expect(findings.firstFault(isStrict: true) == nil)
  }

  @Test("Each fault has its finding", arguments: cases)
  func finding(of item: CheckCase) throws {
    var survey = Self.sound
    item.change(&survey)
    let findings = RecordingChecks.findings(survey)
    let found = try #require(
      findings.first { $0.kind == item.kind && $0.severity == item.severity },
      "\(findings.map(\.description))")
    for part in item.says {
      #expect(found.description.contains(part), "\(found.description)")
    }
    #expect(found.severity == .note || found.remedy != nil)
    // What is worse comes first.
    let order: [RecordingFinding.Severity] = [.error, .warning, .note]
    let places = findings.map { order.firstIndex(of: $0.severity) ?? 0 }
    #expect(places == places.sorted())
    let isFault = item.severity != .note
    #expect((findings.firstFault(isStrict: true) != nil) == isFault)
    #expect((findings.firstFault(isStrict: false) != nil) == (item.severity == .error))
  }

  @Test("A level walk with elevations, or said to be planar, is no fault")
  func levelWithHeights() {
    for change in [
      { $0.info.peers[0].elevationCount = 10 }, { $0.info.peers[1].heightDifferenceCount = 1 },
      { $0.manifest.trajectory.isPlanar = true },
    ] as [(inout RecordingSurvey) -> Void] {
      var survey = Self.sound
      survey.poses.extent.z = 0.1
      change(&survey)
      #expect(!RecordingChecks.findings(survey).contains { $0.kind == .level })
    }
  }

  @Test("A motion alone is no fault")
  func noSamples() {
    var survey = Self.sound
    survey.samples = RecordingSurvey.Samples()
    survey.peers = []
    survey.info.peers = []
    let findings = RecordingChecks.findings(survey)
    #expect(findings.map(\.kind) == [.nothingMeasured])
    #expect(findings.firstFault(isStrict: true) == nil)
  }

  @Test(
    "Numbers are short and keep their size",
    arguments: [
      (0.0, "0"), (0.5, "0.5"), (0.0123456, "0.0123"), (12.345, "12.3"), (1234.5, "1234"),
      (1.7e9, "1.7e+09"), (-3, "-3"), (2e-9, "0"),
    ])
  func numbers(value: Double, text: String) { #expect(ShortNumber.number(value) == text) }
}
