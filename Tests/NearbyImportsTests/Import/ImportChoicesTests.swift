// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("What an import writes where nobody stated it")
struct ImportChoicesTests {
  /// A walk whose positions all have one z, assumed to be y up.
  private var flat: RecordingSurvey {
    var survey = RecordingChecksTests.sound
    survey.manifest = RecordingManifest(name: "flat")
    survey.poses.extent = Vector3(40, 30, 0)
    return survey
  }

  private var open: ImportOptions {
    var options = ImportOptions()
    options.assumptions = [.up, .axes, .kind]
    return options
  }

  private func choices(
    _ survey: RecordingSurvey, _ options: ImportOptions, hasSigmas: Bool = false
  ) -> ImportChoices {
    ImportChoices(survey: survey, options, hasSigmas: hasSigmas)
  }

  @Test("Poses that all have one z are a world of two dimensions")
  func flatWorld() {
    let chosen = choices(flat, open)
    #expect(chosen.manifest.frames == FrameConvention(up: .z, axes: .ros))
    #expect(chosen.manifest.trajectory.isPlanar)
    #expect(chosen.manifest.trajectory.kind == .odometry)
    #expect(chosen.manifest.trajectory.positionDrift == 0.03)
    #expect(chosen.findings.filter { $0.kind == .chosen }.count == 3)
    #expect(chosen.findings.allSatisfy { $0.severity == .note })
  }

  @Test("What is stated stays")
  func stated() {
    var options = open
    options.assumptions = []
    options.isPlanar = false
    let kept = choices(flat, options).manifest
    #expect(kept == flat.manifest)

    options = open
    options.isPlanar = false
    options.positionDrift = 0.2
    options.yawDriftDegrees = 1
    let chosen = choices(flat, options)
    #expect(!chosen.manifest.trajectory.isPlanar)
    #expect(chosen.manifest.trajectory.positionDrift == 0.2)
    #expect(chosen.manifest.trajectory.yawDriftDegrees == 1)
    #expect(chosen.findings.contains { $0.kind == .level })
  }

  @Test("A level walk alone is a finding, not a plane")
  func nearlyLevel() {
    var survey = flat
    survey.poses.extent = Vector3(40, 0.001, 30)
    let chosen = choices(survey, open)
    #expect(chosen.manifest == survey.manifest)
    #expect(chosen.findings.contains { $0.kind == .level && $0.severity == .warning })
  }

  @Test("With elevations, or with too few poses, no plane is chosen")
  func notPlanar() {
    var survey = flat
    survey.info.peers[0].elevationCount = 20
    #expect(!choices(survey, open).manifest.trajectory.isPlanar)
    survey = flat
    survey.info.trajectory.poseCount = 9
    #expect(choices(survey, open).manifest == survey.manifest)
  }

  @Test("Noisy ranges have their accuracy written, unless it is stated")
  func rangeSigma() {
    var survey = RecordingChecksTests.sound
    for index in survey.peers.indices {
      survey.peers[index].scatter = .init(count: 200, metres: 0.54, perStatedSigma: 5.4)
    }
    let chosen = choices(survey, open)
    #expect(chosen.manifest.ranging.rangeSigma == 0.6)
    #expect(!chosen.findings.contains { $0.kind == .rangeNoise })
    let ofSamples = choices(survey, open, hasSigmas: true)
    #expect(ofSamples.manifest.ranging.rangeSigma == 0.1)
    #expect(ofSamples.findings.contains { $0.kind == .rangeNoise })
    var options = open
    options.rangeSigma = 0.1
    #expect(choices(survey, options).manifest.ranging.rangeSigma == 0.1)
  }

  @Test(
    "Each kind of odometry has its drift",
    arguments: [
      (.visualInertial, 0.01, 0.3), (.odometry, 0.01, 0.3), (.wheel, 0.05, 0.5),
      (.lidar, 0.02, 0.1),
      (.groundTruth, 0, 0),
    ] as [(RecordingManifest.Trajectory.Kind, Double, Double)])
  func kinds(kind: RecordingManifest.Trajectory.Kind, position: Double, yaw: Double) throws {
    var options = ImportOptions()
    options.kind = kind
    let manifest = options.manifest(output: "x", frames: .engine, source: "")
    #expect(manifest.trajectory.positionDrift == position)
    #expect(manifest.trajectory.yawDriftDegrees == yaw)
    var warnings = RecordingWarnings()
    let text = """
      { "format": "nearby-recording", "version": 1, "name": "n", "trajectory": { "kind": \
      "\(kind.rawValue)" } }
      """
    let read = try RecordingManifest(json: Array(text.utf8), warnings: &warnings)
    #expect(read.trajectory == manifest.trajectory)
  }

  @Test("Peers that are said to move")
  func moving() {
    var options = ImportOptions()
    options.movingPeers = ["b", "c"]
    var manifest = RecordingManifest(name: "n")
    manifest.peers = [RecordingPeer(id: "a"), RecordingPeer(id: "b")]
    let stated = options.stated(manifest)
    #expect(stated.peers.map(\.id) == ["a", "b", "c"])
    #expect(stated.peers.map(\.motion) == [.stationary, .moving, .moving])
  }
}
