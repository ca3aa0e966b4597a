// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import Testing

@Suite("nearby run --config")
struct ConfigurationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func defaultsThenRecordingThenFile() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try run(walk, #"{ "ranging": { "azimuthSigmaRadians": 0.05 } }"#)
    #expect(result.exitCode == 0, "\(result.errors)")
    let configuration = try JSONDecoder().decode(
      FusionConfiguration.self, from: Data(folder.text(of: "out/configuration.json").utf8))
    var expected = FusionConfiguration()
    expected.ranging.rangeSigma = 0.1
    expected.ranging.azimuthSigmaRadians = 0.05
    #expect(abs(configuration.odometry.yawDriftRadians - expected.odometry.yawDriftRadians) < 1e-15)
    #expect(configuration.ranging.azimuthSigmaRadians == 0.05)
    #expect(configuration.ranging.rangeSigma == 0.1)
    #expect(configuration.convergence == expected.convergence)
  }

  @Test func theEffectiveConfigurationRepeatsTheRun() throws {
    let walk = try WalkRecording().write(to: folder)
    _ = try run(walk, #"{ "ranging": { "rangeSigma": 0.25 } }"#)
    let again = try CommandLineTool.run(
      "run", walk, "-o", folder.path("again"), "--config", folder.path("out/configuration.json"))
    #expect(again.exitCode == 0, "\(again.errors)")
    #expect(try folder.text(of: "out/estimates.csv") == folder.text(of: "again/estimates.csv"))
    #expect(
      try folder.text(of: "out/configuration.json") == folder.text(of: "again/configuration.json"))
  }

  @Test(arguments: [
    (#"{ "ranging": { "rangeSgima": 1 } }"#, ":1:16: there is no setting ranging.rangeSgima; did"),
    (#"{ "ranging": { "rangeSgima": 1 } }"#, "did you mean rangeSigma? known here: antenna"),
    (#"{ "rangeSigma": 1 }"#, "there is no setting rangeSigma; known here: convergence, faults"),
    (#"{ "ranging": { "rangeSigma": "big" } }"#, ":1:30: ranging.rangeSigma is a string, not a"),
    (#"{ "odometry": { "isPlanar": 1 } }"#, "odometry.isPlanar is 1, not true or false"),
    (#"{ "odometry": null }"#, "odometry is null, not an object"),
    ("[]", "the configuration is an array of 0, not an object"),
    (#"{ "hypotheses": { "maximumCount": 9.5 } }"#, ":1:35: hypotheses.maximumCount is 9.5, not"),
    (#"{ "hypotheses": { "maximumCount": 7 } }"#, ":1:35: hypotheses.maximumCount: must be 8 to"),
    (#"{ "ranging": { "rangeSigma": -1 } }"#, ":1:30: ranging.rangeSigma: is -1.0, must be"),
    ("{ \"ranging\": {}, \"ranging\": {} }", ":1:18: ranging appears twice"),
    ("{ \"ranging\": {\n  \"rangeSigma\": }", ":2:17: "),
    ("", "the file is empty"),
  ])
  func aFaultIsLocated(text: String, message: String) throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try run(walk, text)
    #expect(result.exitCode == 65)
    expectOneLine(result.errors, containing: folder.path("config.json"))
    expectOneLine(result.errors, containing: message)
    #expect(!folder.has("out"))
  }

  @Test func aMissingFileIsNamed() throws {
    let walk = try WalkRecording().write(to: folder)
    let result = try CommandLineTool.run(
      "run", walk, "-o", folder.path("out"), "--config", folder.path("none.json"))
    #expect(result.exitCode == 65)
    expectOneLine(result.errors, containing: "\(folder.path("none.json")): there is no such file")
  }

  private func run(_ recording: String, _ configuration: String) throws -> CommandLineTool.Result {
    try Data(configuration.utf8).write(to: folder.url.appending(path: "config.json"))
    return try CommandLineTool.run(
      "run", recording, "-o", folder.path("out"), "--config", folder.path("config.json"))
  }
}
