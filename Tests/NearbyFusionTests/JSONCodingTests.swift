// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// Poses, samples, estimates and maps as JSON, and back.
@Suite("SavedEngine: JSON")
struct JSONCodingTests {
  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func expectRoundTrip<Value: Codable & Equatable>(_ value: Value) throws {
    let decoded = try JSONDecoder().decode(Value.self, from: Data(try text(value).utf8))
    #expect(decoded == value)
  }

  @Test("all estimates of a run, and all its inputs", arguments: ["find", "beacon-moved"])
  func run(preset: String) throws {
    let scenario = try #require(Scenario.preset(named: preset))
    let run = scenario.simulated(seed: 2)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    let peer = engine.addPeer()
    try expectRoundTrip(engine.estimate(of: peer))
    for (count, event) in run.events.enumerated() {
      switch event {
      case .pose(let index):
        engine.add(run.poses[index])
        if count % 20 == 0 { try expectRoundTrip(run.poses[index]) }
      case .tracking(let index): try expectRoundTrip(run.tracking[index])
      case .sample(let index):
        let sample = run.rangingSample(index, of: peer)
        try expectRoundTrip(sample)
        engine.add(sample)
        try expectRoundTrip(engine.estimate(of: peer))
        try expectRoundTrip(engine.modes(of: peer, at: sample.timestamp))
      }
    }
    try expectRoundTrip(engine.peerMap)
  }

  @Test("they read as one would write them")
  func texts() throws {
    #expect(
      try text(Convergence.notConverged([.insufficientMovement, .insufficientLighting]))
        == #"{"reasons":["insufficientLighting","insufficientMovement"],"status":"notConverged"}"#)
    #expect(try text(Convergence.converged) == #"{"status":"converged"}"#)
    #expect(
      try text(TrackingSample.Quality.limited(.relocalizing))
        == #"{"reason":"relocalizing","status":"limited"}"#)
    #expect(
      try text(Estimated<Double>(value: nil, sigma: .infinity, unavailability: .noData))
        == #"{"unavailability":"noData"}"#)
    #expect(
      try text(
        DevicePose(timestamp: Timestamp(nanoseconds: 5), worldFromDevice: .identity))
        == #"{"timestamp":{"nanoseconds":5},"worldFromDevice":{"rotation":{"w":1,"x":0,"y":0,"z":0}"#
        + #","translation":{"x":0,"y":0,"z":0}}}"#)
    var engine = try FusionEngine()
    let sample = RangingSample(
      peer: engine.addPeer(), timestamp: Timestamp(nanoseconds: 7), distance: 4.5)
    #expect(try text(sample) == #"{"distance":4.5,"peer":0,"timestamp":{"nanoseconds":7}}"#)
    #expect(
      try text(SurveyVerdict.confirmed([.exchanged(0, 3), .scaled(by: 1.5), .upsideDown]))
        == #"{"faults":[{"anchors":[0,3],"fault":"exchanged"},{"factor":1.5,"fault":"scaled"},"#
        + #"{"fault":"upsideDown"}],"verdict":"confirmed"}"#)
  }

  @Test(
    "faults of surveys",
    arguments: [
      SurveyVerdict.untested, .plausible([.displaced(2), .reversed]), .contradicted([.mirrored]),
      .confirmed([.exchanged(1, 4), .scaled(by: 0.9), .upsideDown]),
    ])
  func verdicts(verdict: SurveyVerdict) throws { try expectRoundTrip(verdict) }

  @Test(
    "what makes no sense is refused",
    arguments: [
      #"{"rotation":{"x":0,"y":0,"z":0,"w":0},"translation":{"x":0,"y":0,"z":0}}"#,
      #"{"translation":{"x":0,"y":0,"z":0}}"#,
    ])
  func refusedTransform(json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(RigidTransform.self, from: Data(json.utf8))
    }
  }

  @Test("more that makes no sense")
  func refused() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ConvergenceReasons.self, from: Data(#"["laziness"]"#.utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(
        PeerMap.self, from: Data(#"{"peers":[],"covariance":[1]}"#.utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(
        SurveyFault.self, from: Data(#"{"fault":"exchanged","anchors":[1]}"#.utf8))
    }
  }

  @Test("a quaternion that is not of unit length is made so")
  func quaternion() throws {
    let rotation = try JSONDecoder().decode(
      Rotation.self, from: Data(#"{"x":0,"y":0,"z":0,"w":2}"#.utf8))
    #expect(rotation == .identity)
  }
}
