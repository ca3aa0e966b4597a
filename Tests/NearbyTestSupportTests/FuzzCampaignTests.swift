// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyTestSupport

@Suite("Fuzz campaigns")
final class FuzzCampaignTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID())").path

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func environment(_ variables: [String: String]) -> FuzzCampaign.Environment {
    var environment = FuzzCampaign.Environment(variables)
    environment.folder = folder
    return environment
  }

  @Test("seeds are consecutive until the time is spent, and the running case is recorded")
  func budget() {
    var seeds: [UInt64] = []
    var notes: [String] = []
    let path = "\(folder)/Some.running"
    let report = FuzzCampaign("Some", share: 0.5).run(
      environment(["NEARBY_FUZZ_SECONDS": "0.2", "NEARBY_FUZZ_START": "7"])
    ) { one in
      seeds.append(one.seed)
      let note = FileManager.default.contents(atPath: path) ?? Data()
      notes.append(String(decoding: note, as: UTF8.self))
      one.count("things", 2)
      Thread.sleep(forTimeInterval: 0.01)
    }
    #expect(report.cases == seeds.count)
    #expect(seeds == (7..<7 + UInt64(seeds.count)).map(\.self))
    // Ten by the clock; fewer on a machine that is busy.
    #expect((1...10).contains(seeds.count))
    #expect(notes == seeds.map { "NEARBY_FUZZ_SEED=\($0) make fuzz FUZZ_ONLY=Some\n" })
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(report.failures.isEmpty)
    #expect(report.description.contains("\(seeds.count) cases"))
    #expect(report.description.contains("\(2 * seeds.count) things"))
  }

  @Test("a failure names its seed, a thrown error is a failure, and ten failures end a campaign")
  func failures() {
    struct Fault: Error, CustomStringConvertible { var description: String { "thrown" } }
    let report = FuzzCampaign("Some", share: 1).run(environment(["NEARBY_FUZZ_SECONDS": "60"])) {
      one in
      one.expect(one.seed % 2 == 0, "odd")
      #expect(one.isFine == (one.seed % 2 == 0))
      if one.seed == 4 { throw Fault() }
    }
    #expect(report.failures.count == 10)
    #expect(report.failures.first == "seed 1: odd [NEARBY_FUZZ_SEED=1 make fuzz FUZZ_ONLY=Some]")
    #expect(report.failures.contains { $0.hasPrefix("seed 4: thrown") })
  }

  @Test("cases that have failed once come first, all of them, unless one case is run alone")
  func failedSeeds() {
    func seeds(_ variables: [String: String]) -> [UInt64] {
      var seeds: [UInt64] = []
      _ = FuzzCampaign("Some", share: 1, failedSeeds: [90, 80]).run(environment(variables)) {
        seeds.append($0.seed)
      }
      return seeds
    }
    #expect(seeds(["NEARBY_FUZZ_SECONDS": "0", "NEARBY_FUZZ_START": "7"]) == [90, 80])
    #expect(seeds(["NEARBY_FUZZ_SEED": "5"]) == [5])
    let many = seeds(["NEARBY_FUZZ_SECONDS": "0.1", "NEARBY_FUZZ_START": "7"])
    #expect(many.prefix(4) == [90, 80, 7, 8])
  }

  @Test("one case can be run alone")
  func oneSeed() {
    var seeds: [UInt64] = []
    let report = FuzzCampaign("Some", share: 1).run(environment(["NEARBY_FUZZ_SEED": "12345"])) {
      seeds.append($0.seed)
    }
    #expect(seeds == [12345])
    #expect(report.cases == 1)
  }
}
