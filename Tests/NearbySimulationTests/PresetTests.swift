// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Presets")
struct PresetTests {
  @Test("the presets have the names that goals and scripts know them by")
  func names() {
    let expected: Set = [
      "find", "find-upstairs", "find-downstairs", "find-behind", "ranges-wander", "ranges-line",
      "ranges-rotation", "ranges-still", "ranges-level", "azimuth-only", "nlos-20", "nlos-40",
      "ranges-nlos-20", "drift", "bias", "scale", "far", "sparse", "lever-arm", "sticky-angles",
      "mirrored-azimuth", "garbage", "clock-offset", "pose-jump", "ranges-pose-jump",
      "tracking-lost", "poses-stop", "odometry-restarts", "peer-moving", "peer-carried",
      "peer-still-unknown", "standing-hours",
      "indoor", "ranges-level-heights", "level-bob", "level-exact", "level-hand", "level-drift",
      "level-azimuth",
      "level-stairs", "level-place", "level-turn", "level-office", "level-hall", "level-nlos",
      "level-azimuth-8", "level-trolley",
      "slope-10", "slope-10-sweep", "slope-10-azimuth", "slope-15-exact", "slope-ridge",
      "slope-hills", "slope-spiral", "slope-bend", "slope-drone", "slope-office-3",
      "slope-office-8", "slope-office-13", "slope-office-azimuth", "slope-office-hills",
      "walker-angles", "walker-ranges", "walkers-abreast", "walkers-circling", "walkers-crossing",
      "peer-outings", "peer-outings-ranges", "peer-stops", "peer-handed-over", "beacon-moved",
      "beacon-moved-ranges", "beacon-moved-unheard", "phone-rest-ranges",
      "slip-turn-14", "slip-turn-14-ranges", "slip-one", "slip-step-40", "slip-shift-3",
      "slip-small", "slip-wheel", "kidnapped",
      "errors-attitude", "errors-attitude-4", "short-minute", "short-minute-3", "zones", "zones-8",
      "reflector", "reflector-8", "antenna-turned", "antenna-turned-8",
      "misfit-none", "misfit-walls", "misfit-body", "misfit-warming", "misfit-elevator",
      "misfit-frozen", "misfit-short-minute", "misfit-long-minute", "misfit-odometry-3",
      "misfit-odometry-5", "misfit-clock-late", "misfit-clock-step", "misfit-along",
      "misfit-creeping", "misfit-taken", "misfit-jump", "misfit-walls-lift",
      "misfit-body-warming", "misfit-taken-scale", "misfit-three-walls",
      "misfit-three-body", "misfit-zones", "misfit-reflector",
    ]
    #expect(Set(Scenario.presets.map(\.name)) == expected)
    #expect(Scenario.presets.count == expected.count)
    #expect(Scenario.preset(named: "nothing") == nil)
  }

  @Test("each preset is valid, has a summary, and survives JSON", arguments: Scenario.presets)
  func roundTrip(preset: Scenario) throws {
    try preset.validate()
    try preset.matchingConfiguration.validate()
    #expect(!preset.summary.isEmpty && preset.summary.count < 75)
    let json = try JSONEncoder().encode(preset)
    #expect(try JSONDecoder().decode(Scenario.self, from: json) == preset)
    if case .recovers(let seconds) = preset.expectation { #expect(seconds < preset.duration - 10) }
  }

  /// Hashed values are rounded to a millionth, so that the last digit of `log` and `sin`, which
  /// differs between C libraries, does not matter.
  @Test(
    "seeds draw what they have always drawn",
    arguments: [
      ("find", 0xdd44_5111_ce44_2f2c), ("garbage", 0xa511_2c7b_2eec_d58a),
      ("peer-carried", 0xe899_7505_1e00_7660), ("tracking-lost", 0xe5ff_fc74_703c_1f89),
    ] as [(String, UInt64)])
  func golden(name: String, expected: UInt64) throws {
    let run = try #require(Scenario.preset(named: name)).simulated(seed: 42, peerCount: 2)
    var hash = FNVHash()
    for pose in run.poses {
      let (place, turn) = (pose.worldFromDevice.translation, pose.worldFromDevice.rotation)
      for value in [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w] { hash.add(value) }
    }
    for sample in run.samples {
      hash.add(sample.distance ?? -1)
      hash.add(sample.azimuthRadians ?? -9)
      hash.add(sample.elevationRadians ?? -9)
      hash.add(sample.peerInOdometry.x)
    }
    for case .sample(let index) in run.events { hash.add(Double(index)) }
    #expect(hash.value == expected, "0x\(String(hash.value, radix: 16))")
  }

  @Test("the documentation's table lists every preset with its expected outcome")
  func documented() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "../../Sources/NearbySimulation/NearbySimulation.docc/ScenariosAndPresets.md")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
      .filter { $0.count == 4 && $0[0].hasPrefix("`") }
    #expect(rows.count == Scenario.presets.count)
    for (row, preset) in zip(rows, Scenario.presets) {
      let expected =
        switch preset.expectation {
        case .converges: "converges"
        case .neverConverges: "never converges"
        case .recovers(let seconds): "recovers after \(Int(seconds)) s"
        case .follows: "follows"
        case .mayConverge: "may converge"
        }
      #expect(row == ["`\(preset.name)`", "\(Int(preset.duration))", expected, preset.summary])
    }
  }

  private static let mistakes: [(String, @Sendable (inout Scenario) -> Void)] = [
    ("duration", { $0.duration = 0 }), ("radio.rate", { $0.radio.rate = -1 }),
    ("radio.rangeNoise", { $0.radio.rangeNoise = .nan }),
    ("radio.latency", { $0.radio.latency = -1...0 }),
    ("radio.antennaInDevice", { $0.radio.antennaInDevice.x = .infinity }),
    ("radio.rangeFaults.persistence", { $0.radio.rangeFaults = .init(share: 0.8) }),
    ("peer.speed", { $0.peer.speed = 0...1000 }),
    ("peer.pauseSeconds", { $0.peer.pauseSeconds = -1...1 }),
    ("peer.restSeconds", { $0.peer.restSeconds = -1...1 }),
    ("peer.walkSeconds", { $0.peer.walkSeconds = 0...1 }),
    ("peer.formation", { $0.peer.formation = .sideBySide }),
    ("peer.silence.seconds", { $0.peer.silence.seconds = -1 }),
    ("peer.silence.duration", { $0.peer.silence.duration = .nan }),
    ("odometry.slip.seconds", { $0.odometry.slip.seconds = -1 }),
    ("odometry.slip.duration", { $0.odometry.slip.duration = 61 }),
    ("odometry.slip.turnDegrees", { $0.odometry.slip.turnDegrees = -5...5 }),
    ("odometry.slip.shift", { $0.odometry.slip.shift = 0...1e5 }),
    ("odometry.slip.scale", { $0.odometry.slip.scale = 1.5 }), ("name", { $0.name = "a/b" }),
    ("odometry.rate", { $0.odometry.rate = 0 }),
    ("duration times odometry.rate", { $0.duration = 1e6 }),
    ("expectation.afterSeconds", { $0.expectation = .recovers(afterSeconds: -1) }),
  ]

  @Test("invalid settings are refused, by name", arguments: mistakes.indices)
  func refused(index: Int) throws {
    let (setting, change) = Self.mistakes[index]
    var scenario = Scenario(.sweepThenWalk)
    try scenario.validate()
    change(&scenario)
    let error = #expect(throws: ScenarioError.self) { try scenario.validate() }
    #expect(error?.setting == setting)
  }
}

/// Fowler, Noll and Vo's hash, 1a, of numbers to a millionth.
private struct FNVHash {
  var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ number: Double) {
    var bits = UInt64(bitPattern: Int64((number * 1e6).rounded()))
    for _ in 0..<8 {
      value = (value ^ bits & 255) &* 0x100_0000_01b3
      bits >>= 8
    }
  }
}
