// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite("Summary of a run")
struct RunSummaryTests {
  @Test("every property is written and comes back")
  func everyProperty() throws {
    let summary = try filled(RunSummary.self)
    #expect(summary.trajectory?.smoothed != nil && summary.peers.count == 1)
    #expect(try propertiesLost(in: summary.json(), of: summary) == ["engine.settings.features"])
    #expect(try JSONDecoder().decode(RunSummary.self, from: Data(summary.json().utf8)) == summary)
  }

  @Test("a missing value is null; only the smoother's keys are left out")
  func missing() throws {
    var summary = try filled(RunSummary.self)
    summary.recording = nil
    summary.errors = nil
    summary.smoothedErrors = nil
    summary.trajectory = nil
    summary.timing = nil
    summary.peers[0].positionInWorld = nil
    summary.peers[0].smoothed = nil
    let lost = try propertiesLost(in: summary.json(), of: summary)
    #expect(
      lost.sorted() == [
        "engine.settings.features", "errors is nil", "peers[].position is nil", "peers[].smoothed",
        "recording is nil", "smoothedErrors", "timing is nil", "trajectory is nil",
      ])
    #expect(try JSONDecoder().decode(RunSummary.self, from: Data(summary.json().utf8)) == summary)
  }

  @Test("configuration.json, likewise")
  func settings() throws {
    let settings = try filled(FusionConfiguration.self)
    let text = ConfigurationFile.json(of: settings)
    // Which parts of the engine are at work is for ablation and in no file.
    #expect(try propertiesLost(in: text, of: settings) == ["features"])
    #expect(try JSONDecoder().decode(FusionConfiguration.self, from: Data(text.utf8)) == settings)
  }
}
