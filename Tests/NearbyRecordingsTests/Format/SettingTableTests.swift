// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

@Suite("One table of settings")
struct SettingTableTests {
  private func configuration(_ json: String) throws -> FusionConfiguration {
    try ConfigurationFile.apply(
      json: Array(json.utf8), file: "c.json", over: FusionConfiguration())
  }

  private func manifest(
    _ sections: String
  ) throws -> (manifest: RecordingManifest, warnings: RecordingWarnings) {
    var warnings = RecordingWarnings()
    let json = "{ \"format\": \"nearby-recording\", \"version\": 1, \"name\": \"n\", \(sections) }"
    return (try RecordingManifest(json: Array(json.utf8), warnings: &warnings), warnings)
  }

  @Test("The table has every setting that a configuration file has, and no other")
  func isComplete() throws {
    let file = try LocatedJSON.parse(
      Array(ConfigurationFile.json(of: FusionConfiguration()).utf8), file: "")
    let keys = file.leaves(path: "").map(\.path)
      .map { $0.hasPrefix("ranging.antennaInDevice") ? "ranging.antennaInDevice" : $0 }
    #expect(Set(keys) == Set(Setting.all.map(\.key)))
    #expect(Setting.all.count == Set(Setting.all.map(\.key)).count)
    for setting in Setting.all {
      #expect(!setting.effect.isEmpty && !setting.defaultText.isEmpty, "\(setting.key)")
      let isAngle = setting.key.hasSuffix("Radians")
      #expect(isAngle == setting.unit.hasPrefix("rad"), "\(setting.key)")
    }
  }

  @Test("Each other spelling sets the same", arguments: Setting.keys.keys.sorted())
  func spellings(other: String) throws {
    let known = try #require(Setting.keys[other])
    let isFlag = known.key == "odometry.isPlanar"
    func text(_ key: String, _ value: String) -> String {
      let parts = key.split(separator: ".")
      return "{ \"\(parts[0])\": { \"\(parts[1])\": \(value) } }"
    }
    let number = known.factor == 1 ? 0.5 : 20
    let value = isFlag ? "true" : "\(number)"
    let canonical = isFlag ? "true" : "\(number * known.factor)"
    let result = try configuration(text(other, value))
    #expect(try result == configuration(text(known.key, canonical)))
    #expect(result != FusionConfiguration())
    let folder = try TemporaryFolder()
    try folder.write(text(other, value), to: "c.json")
    let path = folder.path("c.json")
    #expect(
      try ConfigurationFile.otherSpellings(path: path) == [
        "\(path): \(other) is read as \(known.key); write that"
      ])
  }

  @Test("Keys of the table have no notice, and stay beside others")
  func mixed() throws {
    let result = try configuration(
      """
      { "odometry": { "positionDrift": 0.2, "planar": true },
        "trajectory": { "yawDriftDegrees": 90 }, "ranging": { "azimuthSigmaDegrees": 18 } }
      """)
    #expect(result.odometry.positionDrift == 0.2 && result.odometry.isPlanar)
    #expect(abs(result.odometry.yawDriftRadians - .pi / 2) < 1e-12)
    #expect(abs(result.ranging.azimuthSigmaRadians - .pi / 10) < 1e-12)
    let folder = try TemporaryFolder()
    try folder.write(ConfigurationFile.json(of: result), to: "c.json")
    #expect(try ConfigurationFile.otherSpellings(path: folder.path("c.json")).isEmpty)
  }

  @Test(
    "Settings that make no sense are errors with their place",
    arguments: [
      ("{ \"odometry\": { \"planar\": true,\n\"isPlanar\": true } }", 1, "in two spellings"),
      ("{ \"trajectory\": { \"yawDriftDegrees\": \"a\" } }", 1, "not a number"),
      ("{ \"ranging\": {\n\"azimuthSigmaDegrees\": 3600 } }", 2, "ranging.azimuthSigmaRadians"),
      ("{ \"trajectory\": { \"kind\": \"wheel\" } }", 1, "there is no setting trajectory"),
      ("{ \"odometry\": { \"planer\": true } }", 1, "there is no setting odometry.planer"),
    ])
  func faults(json: String, line: Int, said: String) {
    let error = recordingError { _ = try configuration(json) }
    #expect(error?.line == line)
    #expect(error?.description.contains(said) == true, "\(error?.description ?? "none")")
  }

  @Test("recording.json is read with the engine's spellings, too, with a warning each")
  func manifests() throws {
    let (read, warnings) = try manifest(
      """
      "device": { "fieldOfViewRadians": 1 },
      "trajectory": { "isPlanar": true, "yawDriftRadians": 0.1 },
      "ranging": { "azimuthSigmaRadians": 0.2, "elevationSigmaRadians": 0.3 }
      """)
    #expect(read.trajectory.isPlanar)
    #expect(abs(read.trajectory.yawDriftDegrees - 0.1.radiansAsDegrees) < 1e-12)
    #expect(abs(read.device.fieldOfViewDegrees - 1.0.radiansAsDegrees) < 1e-12)
    #expect(abs(read.ranging.azimuthSigmaDegrees - 0.2.radiansAsDegrees) < 1e-12)
    #expect(abs(read.ranging.elevationSigmaDegrees - 0.3.radiansAsDegrees) < 1e-12)
    #expect(warnings.counts == [.otherSpelling: 5])
    #expect(
      warnings.kept.first?.message
        == "device.fieldOfViewRadians is read as device.fieldOfViewDegrees")
    // With both, the format's own counts and the other is unknown.
    let both = try manifest("\"trajectory\": { \"planar\": false, \"isPlanar\": true }")
    #expect(!both.manifest.trajectory.isPlanar && both.warnings.counts == [.unknownKey: 1])
    #expect(
      recordingError { _ = try manifest("\"trajectory\": { \"yawDriftRadians\": 9 }") }?.code
        == .valueOutOfRange)
  }
}
