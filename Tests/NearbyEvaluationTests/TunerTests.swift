// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyEvaluation

/// Settings that were drawn are found again; NEARBY_TUNING_RUNS sets how many runs.
@Suite("Tuning") struct TunerTests {
  private static let runs =
    ProcessInfo.processInfo.environment["NEARBY_TUNING_RUNS"].flatMap { Int($0) } ?? 4

  @Test func findsDrawnSettings() throws {
    var ranges: [Double] = []
    var outliers: [Double] = []
    var drifts: [Double] = []
    for seed in 1...Self.runs {
      let draw = TuningDraw(seed: UInt64(seed))
      let result = try #require(try Tuner(draw.data()).tune())
      #expect(result.logEvidence.found > result.logEvidence.stated)
      try result.configuration.validate()
      for estimate in result.estimates where estimate.isObservable {
        switch estimate.quantity {
        case .rangeSigma: ranges.append(estimate.value / draw.scenario.radio.rangeNoise - 1)
        case .rangeOutliers: outliers.append(estimate.value - draw.scenario.radio.rangeFaults.share)
        case .positionDrift:
          drifts.append(estimate.value / draw.scenario.odometry.positionDrift - 1)
        case .yawDrift: drifts.append(estimate.value / draw.scenario.odometry.yawDriftRadians - 1)
        default: break
        }
      }
    }
    #expect(ranges.count >= Self.runs / 2)
    #expect(ranges.median <= 0.05)
    #expect(outliers.median <= 0.03)
    #expect(drifts.median <= 0.3)
  }

  @Test("what is written predicts the end no worse than what is stated", arguments: 1...2)
  func noHarm(seed: Int) throws {
    let draw = TuningDraw(seed: UInt64(seed))
    // With what was simulated stated, there is little to gain, and chance decides.
    let data = try draw.data(stated: draw.scenario.matchingConfiguration)
    let written = try #require(Tuner(data).tune()).configuration
    let test = HeldOutTest(data)
    #expect(test.score(of: written).margin(over: test.score(of: data.stated)) >= 0)
  }

  @Test("what is left as stated because it agrees is told", arguments: 1...2)
  func confirmed(seed: Int) throws {
    let draw = TuningDraw(seed: UInt64(seed))
    var stated = draw.scenario.matchingConfiguration
    stated.ranging.clockOffset = draw.scenario.radio.clockOffset
    let data = try draw.data(stated: stated)
    let result = try #require(Tuner(data, effort: .quick).tune())
    // The clock is that of the simulation, as stated.
    #expect(result.confirmed.contains(.clockOffset))
    #expect(result.configuration.ranging.clockOffset == data.stated.ranging.clockOffset)
    #expect(Set(result.confirmed).isDisjoint(with: result.withheld))
    let observable = Set(result.estimates.filter(\.isObservable).map(\.quantity))
    #expect(Set(result.confirmed).isSubset(of: observable))
  }

  @Test("what harms is left as stated, and what helps is written beside it")
  func unsupportedGroups() throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = 180
    scenario.peer.count = 3
    (scenario.radio.measuresAzimuth, scenario.radio.measuresElevation) = (false, false)
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftDegrees = 2
    let draw = TuningDraw(scenario, seed: 1)
    var stated = scenario.matchingConfiguration
    let sigma = stated.ranging.rangeSigma
    stated.ranging.rangeSigma = 6 * sigma
    let test = HeldOutTest(try draw.data(stated: stated))
    var good = stated
    good.ranging.rangeSigma = sigma
    #expect(test.unsupportedGroups(in: good).isEmpty)
    #expect(test.unsupportedGroups(in: stated).isEmpty)
    var (drifting, flat) = (good, good)
    drifting.odometry.yawDriftRadians /= 50
    flat.odometry.isPlanar = true
    var isAnyLeft = false
    for bad in [drifting, flat] {
      let groups = test.unsupportedGroups(in: bad)
      isAnyLeft = isAnyLeft || !groups.isEmpty
      var rest = bad
      for index in groups { rest.restore(HeldOutTest.groups[index], from: stated) }
      #expect(test.score(of: rest).margin(over: test.score(of: stated)) >= 0)
      #expect(rest.ranging.rangeSigma == sigma)
    }
    #expect(isAnyLeft)
  }

  @Test("several recordings of one radio give one result, surer than each")
  func combines() throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = 60
    scenario.peer.count = 3
    scenario.radio.measuresAngles = false
    scenario.radio.rangeNoise = 0.2
    scenario.radio.clockOffset = 0.15
    let stated = FusionConfiguration()
    let results = try (1...3).map { seed in
      try #require(
        Tuner(try TuningDraw(scenario, seed: UInt64(seed)).data(), effort: .quick).tune())
    }
    let all = TuningResult.combining(results, stated: stated)
    func noise(_ result: TuningResult) throws -> TuningResult.Estimate {
      try #require(result.estimates.first { $0.quantity == .rangeSigma })
    }
    let values = try results.map { try noise($0) }
    let combined = try noise(all)
    #expect(abs(combined.value - 0.2) < 3 * combined.sigma + 0.004)
    #expect(combined.sigma < (values.map(\.sigma).min() ?? 0))
    #expect(combined.value >= (values.map(\.value).min() ?? 1))
    #expect(combined.value <= (values.map(\.value).max() ?? 0))
    #expect(abs(all.configuration.ranging.rangeSigma - combined.value) < 0.01)
    #expect(all.logEvidence.found > all.logEvidence.stated)
    try all.configuration.validate()
    #expect(
      TuningResult.combining([results[0]], stated: stated).configuration
        == results[0].configuration)
  }

  @Test func needsSamples() throws {
    let data = try TuningData(stated: FusionConfiguration())
    #expect(Tuner(data).tune() == nil)
  }
}

extension [Double] {
  /// The median of the magnitudes.
  fileprivate var median: Double {
    isEmpty ? .infinity : map(abs).sorted()[count / 2]
  }
}
