// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Bytes that are not those of an engine are refused with a reason, and never trap.
@Suite("SavedEngine: bytes that are not those of an engine")
struct DamagedEngineTests {
  typealias Script = SavedEngineScript

  private static let scripts: [Script] = {
    let presets = ["find", "peer-carried", "level-office", "beacon-moved", "slip-step-40"]
    let simulated = presets.compactMap { try? Script(preset: $0, seconds: 50) }
    return simulated + [Script.mapped(exchanged: false), Script.crowd()]
  }()

  /// An engine in the middle of a run.
  private static func engine(_ script: Script, after share: Double) throws -> FusionEngine {
    var engine = try script.engine()
    for input in script.inputs.prefix(Int(share * Double(script.inputs.count))) {
      _ = Script.feed(input, to: &engine)
    }
    return engine
  }

  private static func error(_ bytes: [UInt8]) -> SavedEngineError? {
    do {
      _ = try FusionEngine(restoring: bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test("bytes that are cut off")
  func truncation() throws {
    let bytes = try Self.engine(Self.scripts[0], after: 0.5).saved()
    let sampled = Array(stride(from: 60, to: bytes.count, by: 97))
    for count in Array(0..<60) + sampled + [bytes.count - 1] {
      guard case .cutOff(let expected, let found) = Self.error(Array(bytes.prefix(count))) else {
        Issue.record("\(count) bytes are not said to be cut off")
        continue
      }
      #expect(found == count && expected > count && expected <= bytes.count)
    }
    #expect(Self.error(bytes + [0]) == .damaged)
    #expect(Self.error(Array("{\"type\": \"map\"}".utf8)) == .notAnEngine)
  }

  @Test("one byte that has changed", arguments: [1, 0x80, 0xFF] as [UInt8])
  func flips(mask: UInt8) throws {
    let bytes = try Self.engine(Self.scripts[0], after: 0.5).saved()
    let places = Array(0..<64) + Array(stride(from: 64, to: bytes.count, by: 211))
    for place in places + [bytes.count - 8, bytes.count - 1] {
      var other = bytes
      other[place] ^= mask
      #expect(Self.error(other) != nil, "byte \(place)")
    }
  }

  @Test("another format is refused with both numbers")
  func otherFormat() throws {
    var bytes = try FusionEngine().saved()
    bytes[SavedEngine.magic.count] = 7
    let error = try #require(Self.error(bytes))
    #expect(error == .otherFormat(found: 7, supported: SavedEngine.formatVersion))
    #expect(error.description.contains("format 7"))
    #expect(error.description.contains("format \(SavedEngine.formatVersion)"))
  }

  @Test("fields of another structure are named, with the version that wrote them")
  func otherStructure() throws {
    struct Other: Codable { var configuration = 1 }
    let bytes = SavedEngine.wrapped(try StateWriter.bytes(of: Other()))
    guard case .inconsistent(let problem, let version) = Self.error(bytes) else {
      Issue.record("it is not refused")
      return
    }
    #expect(version == NearbyVersion.current)
    #expect(problem.contains("byte"), "\(problem)")
  }

  /// Numbers that code which trusts its state falls over.
  private static let nastyWords: [UInt64] = [
    0, .max, 1 << 63, Double.nan.bitPattern, Double.infinity.bitPattern, (-1.0).bitPattern,
    1e300.bitPattern, (-1e-300).bitPattern, 4e18.bitPattern,
  ]

  /// Counts, indices and sizes, on which other parts of a state rely.
  private static let counts = [
    "count", "stride", "head", "mayMove", "hasHeights", "index", "firstMirrored", "hasTwins",
    "peer", "entry", "entries", "anchor", "rangeCounts", "cellCount", "knots", "corrections",
    "members", "records", "fitted", "removed", "pending", "member", "covariance", "information",
    "gradient", "origin", "cells", "moverCount", "constants", "heardCount", "names", "peers",
    "ring", "pieces", "priors", "search", "history", "tracks", "dormant", "birthMeasurements",
    "motion", "present", "world", "features", "starts", "observations", "lastKept",
    "keyframes", "rate",
  ].map { Array($0.utf8) }

  /// The bytes behind the names of counts, where each stands for the first time.
  private static func placesOfCounts(_ state: [UInt8]) -> [Int] {
    counts.compactMap { name in
      let marked = [UInt8(name.count)] + name
      let first = (0..<state.count - marked.count).first { start in
        state[start..<start + marked.count].elementsEqual(marked)
      }
      return first.map { $0 + marked.count }
    }
  }

  /// The bytes about what looks like the number of a key of two bytes, as most are.
  private static func placesOfKeys(_ state: [UInt8]) -> [Int] {
    (0..<state.count - 1).filter { state[$0] >= 0x80 && (1...2).contains(state[$0 + 1]) }
  }

  private static func mutate(
    _ state: inout [UInt8], _ counts: [Int], _ generator: inout SeededGenerator
  ) {
    if Bool.random(using: &generator), let first = counts.randomElement(using: &generator) {
      let place = min(max(first + Int.random(in: -3...4, using: &generator), 0), state.count - 1)
      let step = UInt8.random(in: 1...6, using: &generator)
      let isMore = Bool.random(using: &generator)
      state[place] = isMore ? state[place] &+ step : state[place] &- step
      return
    }
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let place = Int.random(in: 0..<state.count, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: state[place] = UInt8.random(in: 0...255, using: &generator)
      case 1: state[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 2: state[place] = UInt8.random(in: 0...3, using: &generator)
      case 3: state.insert(UInt8.random(in: 0...3, using: &generator), at: place)
      case 4: state.remove(at: place)
      default:
        let word = Self.nastyWords.randomElement(using: &generator) ?? 0
        for offset in 0..<min(8, state.count - place) {
          state[place + offset] = UInt8(truncatingIfNeeded: word >> UInt64(8 * offset))
        }
      }
    }
  }

  @Test(
    "a state with other contents and the right checksum is refused, or goes on",
    arguments: scripts.indices, [0.1, 0.6, 0.95])
  func mutations(index: Int, share: Double) throws {
    let script = Self.scripts[index]
    let state = Array(try SavedEngine.unwrapped(Self.engine(script, after: share).saved()).state)
    let rest = script.inputs.dropFirst(Int(share * Double(script.inputs.count))).prefix(400)
    let (counts, keys) = (Self.placesOfCounts(state), Self.placesOfKeys(state))
    #expect(counts.count > 20 && keys.count > 200)
    var goneOn = 0
    for seed in 0..<80 {
      var generator = SeededGenerator(seed: UInt64(1000 * index + seed) + UInt64(100 * share))
      var other = state
      Self.mutate(&other, seed % 2 == 0 ? counts : keys, &generator)
      guard var engine = try? FusionEngine(restoring: SavedEngine.wrapped(other)) else { continue }
      goneOn += 1
      for input in rest { _ = Script.feed(input, to: &engine) }
      _ = Script.outputs(of: engine, at: Timestamp(nanoseconds: 30_000_000_000))
      _ = engine.saved()
    }
    #expect(goneOn > 0, "most numbers of a state may be any")
  }
}
