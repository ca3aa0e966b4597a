// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// An engine that was saved and restored goes on as if it had not been.
@Suite("SavedEngine")
struct SavedEngineTests {
  typealias Script = SavedEngineScript

  private static let presets = [
    "find", "ranges-wander", "ranges-level", "ranges-level-heights", "azimuth-only",
    "mirrored-azimuth", "garbage", "pose-jump", "tracking-lost", "poses-stop",
    "odometry-restarts", "peer-moving", "peer-still-unknown", "peer-carried", "peer-stops",
    "walkers-crossing", "beacon-moved", "beacon-moved-ranges", "slip-step-40", "kidnapped",
    "level-office", "level-drift", "level-turn", "reflector", "short-minute", "standing-hours",
  ]

  /// - Throws: When a preset is not there.
  private static func script(_ name: String) throws -> Script {
    switch name {
    case "map": Script.mapped(exchanged: false)
    case "map-exchanged": Script.mapped(exchanged: true)
    case "crowd": Script.crowd()
    case "leap": try Script.leap()
    case "declared": try Script.declared()
    default: try Script(preset: name)
    }
  }

  private static let scripts =
    presets + ["map", "map-exchanged", "crowd", "leap", "declared"]

  /// After which inputs an engine is saved: the first samples, and evenly after that.
  private static func cuts(of script: Script) -> [Int] {
    let samples = script.inputs.indices.filter {
      if case .sample = script.inputs[$0] { true } else { false }
    }
    let evenly = (0..<24).map { script.inputs.count * $0 / 24 }
    return Set([0] + samples.prefix(12).map { $0 + 1 } + evenly + [script.inputs.count]).sorted()
  }

  // MARK: Going on

  @Test("a restored engine goes on bit by bit", arguments: scripts)
  func goesOn(name: String) throws {
    let script = try Self.script(name)
    let cuts = Self.cuts(of: script)
    var engine = try script.engine()
    var time = Timestamp(nanoseconds: 0)
    for (cut, next) in zip(cuts, cuts.dropFirst()) {
      let bytes = engine.saved()
      expectSame(engine.saved(), bytes, "saved twice after \(cut) inputs")
      var restored = try FusionEngine(restoring: bytes)
      expectSame(restored.saved(), bytes, "restored after \(cut) inputs")
      let outputs = Script.outputs(of: engine, at: time)
      #expect(Script.outputs(of: restored, at: time) == outputs, "after \(cut) inputs")
      for input in script.inputs[cut..<next] {
        let expected = Script.feed(input, to: &engine)
        let found = Script.feed(input, to: &restored)
        guard found == expected else {
          Issue.record("differs between inputs \(cut) and \(next): \(found), not \(expected)")
          return
        }
        if case .pose(let pose) = input { time = pose.timestamp }
      }
      // All that is in it: so the cuts before and after prove the whole run.
      expectSame(restored.saved(), engine.saved(), "between inputs \(cut) and \(next)")
    }
  }

  /// Says where two states differ, and what stands before.
  private func expectSame(_ found: [UInt8], _ expected: [UInt8], _ place: String) {
    guard found != expected else { return }
    let first = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
    let before = expected[max(0, first - 200)..<first].map { $0 > 0x20 && $0 < 0x7F ? $0 : 0x2E }
    Issue.record(
      """
      \(place): \(found.count) and \(expected.count) bytes, different from byte \(first) on, after \
      \(String(decoding: before, as: UTF8.self))
      """)
  }

  @Test("the scripts meet what an engine can hold")
  func coverage() throws {
    var (searching, converged, contradicted, inMap, slipping) = (0, 0, 0, 0, 0)
    var verdicts: Set<String> = []
    for name in ["find", "beacon-moved", "map", "map-exchanged", "slip-step-40"] {
      let script = try Self.script(name)
      var engine = try script.engine()
      for (index, input) in script.inputs.enumerated() {
        _ = Script.feed(input, to: &engine)
        if engine.contents.joint.slipReview.foundAt != nil { slipping += 1 }
        guard index % 50 == 0 else { continue }
        let estimate = engine.estimate(of: PeerID(index: 0))
        if estimate.isSearching { searching += 1 }
        if estimate.convergence == .converged { converged += 1 }
        if engine.contents.peers[0].isContradicted { contradicted += 1 }
        if engine.isInMap { inMap += 1 }
        if let verdict = engine.mapVerdict { verdicts.insert("\(verdict)") }
      }
    }
    #expect(searching > 0 && converged > 0 && contradicted > 0 && inMap > 0 && slipping > 0)
    #expect(verdicts.contains { $0.contains("exchanged") }, "\(verdicts)")
  }

  @Test("peers can be added to a restored engine, and have the names that they had")
  func names() throws {
    var engine = try FusionEngine()
    _ = try engine.addPeer(named: "Zürich")
    _ = engine.addPeer(.moving)
    var restored = try FusionEngine(restoring: engine.saved())
    #expect(restored.peerIDs == engine.peerIDs)
    #expect(throws: FusionConfigurationError.self) { try restored.addPeer(named: "Zürich") }
    #expect(try restored.addPeer(named: "Bern").index == 2)
  }

  @Test("settings and switched-off parts stay", arguments: [EngineFeatures.all, []])
  func settings(features: EngineFeatures) throws {
    var configuration = FusionConfiguration()
    configuration.features = features
    configuration.ranging.rangeSigma = 0.1 + 0.2
    configuration.odometry.isPlanar = true
    let restored = try FusionEngine(restoring: FusionEngine(configuration).saved())
    #expect(restored.configuration == configuration)
  }

  // MARK: Completeness

  /// What is written over before it is read, what follows from other things, and what is written under
  /// other names.
  private static let unsaved: Set = [
    "settings", "proposals", "workspace", "candidates", "steps", "start", "older", "olderState",
    "marginal",
    "motions", "rates", "differences", "model", "viewpoint", "mark", "departed", "slipEvent",
    "innovations", "moments", "dense", "logDeterminant",
  ]

  /// Structures of the kernels are written as numbers in a row.
  private static func isOfKernels(_ value: Any) -> Bool {
    "\(type(of: value))".hasPrefix("nearby_")
  }

  @Test(
    "every stored property is saved", arguments: ["map", "beacon-moved", "level-office", "crowd"])
  func completeness(name: String) throws {
    let script = try Self.script(name)
    var engine = try script.engine()
    for input in script.inputs { _ = Script.feed(input, to: &engine) }
    let bytes = engine.saved()
    let text = String(decoding: bytes.map { $0 < 0x80 ? $0 : 0x20 }, as: UTF8.self)
    var labels: Set<String> = []
    Self.collectLabels(of: engine, into: &labels)
    #expect(labels.count > 150)
    let lost = labels.subtracting(Self.unsaved).filter { !text.contains($0) }
    #expect(lost.isEmpty)
  }

  private static func collectLabels(of value: Any, into labels: inout Set<String>) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .struct:
      for child in mirror.children {
        guard let label = child.label else { continue }
        let isWrapped = label.hasPrefix("_")
        let name = isWrapped ? String(label.dropFirst()) : label
        if unsaved.contains(name) { continue }
        if Mirror(reflecting: child.value).displayStyle == .optional,
          Mirror(reflecting: child.value).children.isEmpty
        {
          continue
        }
        // The number alone, an enumeration by its name, and standard deviations that are infinite.
        if value is PeerID || value is any OptionSet || isOfKernels(value) { continue }
        labels.insert(name)
        if !isWrapped { collectLabels(of: child.value, into: &labels) }
      }
    case .collection:
      for child in mirror.children.prefix(3) { collectLabels(of: child.value, into: &labels) }
    case .optional:
      for child in mirror.children { collectLabels(of: child.value, into: &labels) }
    default: break
    }
  }

  // MARK: Size

  @Test("a converged peer takes some tens of kilobytes, and many less each")
  func size() throws {
    func bytes(_ name: String) throws -> Int {
      let script = try Self.script(name)
      var engine = try script.engine()
      for input in script.inputs { _ = Script.feed(input, to: &engine) }
      return engine.saved().count
    }
    #expect(try bytes("find") < 64_000)
    #expect(try bytes("zones-8") < 8 * 250_000)
  }
}
