// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry
public import NearbySimulation

extension Scenario {
  /// What a scenario allows an engine.
  public enum Expectation: Sendable {
    /// It converges.
    case converges
    /// It must not.
    case neverConverges
    /// It converges, and again after an event.
    case recovers(afterSeconds: Double)
    /// It converges on a moving peer and follows it.
    case follows
  }
}

public struct ProofScenario: Sendable {
  public var name: String
  public var scenario: Scenario
  public var expectation: Scenario.Expectation

  public static var all: [ProofScenario] {
    var ranges = Scenario(.wanderingWalk)
    ranges.radio.measuresAngles = false
    var still = Scenario(.standingStill)
    still.radio.measuresAngles = false
    var jump = Scenario(.wanderingWalk)
    jump.odometry.jump = .init(seconds: 25, displacement: .init(1.6, 0, -1.2))
    return [
      ProofScenario(name: "find", scenario: Scenario(.sweepThenWalk), expectation: .converges),
      ProofScenario(name: "ranges-wander", scenario: ranges, expectation: .converges),
      ProofScenario(name: "ranges-still", scenario: still, expectation: .neverConverges),
      ProofScenario(
        name: "pose-jump", scenario: jump, expectation: .recovers(afterSeconds: 25)),
    ]
  }
}
