// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyEvaluation

@Suite("ReferencePosterior", .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct ReferencePosteriorTests {
  /// A range's bias is a parameter of the plane grid below, its scale is known.
  private static let model: ReferenceModel = {
    var scenario = Scenario(.levelWalk)
    scenario.radio.rangeNoise = 0.1
    var configuration = scenario.matchingConfiguration
    configuration.ranging.rangeBiasSigma = 0.1
    configuration.ranging.rangeScaleSigma = 0
    configuration.odometry.positionDrift = 0
    configuration.odometry.yawDriftRadians = 0
    guard let model = ReferenceModel(scenario, configuration) else { fatalError("has faults") }
    return model
  }()

  private static let peer = Vector3(3, 1.2, -2)

  /// Ranges along a walk, with a fixed sequence of errors.
  private static func ranges(height: (Int) -> Double) -> [ReferenceObservation] {
    var generator = SeededGenerator(seed: 3)
    return (0..<40).map { index in
      let angle = 0.1 * Double(index)
      let place = Vector3(2 * cos(angle), height(index), 2 * sin(angle))
      return ReferenceObservation(
        odometryFromDevice: RigidTransform(rotation: .identity, translation: place),
        antenna: place, metres: 0.2,
        range: (peer - place).length + 0.07 + generator.normal(sigma: 0.1))
    }
  }

  /// The posterior's mean and covariance by a fine grid over the position, with the bias integrated.
  private static func grid(
    _ observations: [ReferenceObservation]
  ) -> (mean: Vector3, covariance: SymmetricMatrix3) {
    var (weight, mean, second) = (0.0, Vector3.zero, SymmetricMatrix3.zero)
    let step = 0.04
    for x in stride(from: 2.0, through: 4.2, by: step) {
      for y in stride(from: -2.6, through: 2.6, by: step) {
        for z in stride(from: -3.4, through: -1.0, by: step) {
          let place = Vector3(x, y, z)
          var (sum, square) = (0.0, 0.0)
          for observation in observations {
            let residual = (observation.range ?? 0) - (place - observation.antenna).length
            sum += residual
            square += residual * residual
          }
          let noise = model.rangeNoise * model.rangeNoise
          let bias = model.rangeBiasSigma * model.rangeBiasSigma
          let count = Double(observations.count)
          let likelihood = exp(-(square - sum * sum * bias / (noise + count * bias)) / (2 * noise))
          weight += likelihood
          mean += likelihood * place
          second = second + SymmetricMatrix3(outer: place, scale: likelihood)
        }
      }
    }
    mean = mean / weight
    return (mean, (1 / weight) * second + SymmetricMatrix3(outer: mean, scale: -1))
  }

  @Test(
    "particles agree with a fine grid, bent and mirrored posteriors too",
    arguments: [0.0, 0.05, 0.3])
  func grid(heightChange: Double) throws {
    let observations = Self.ranges { heightChange * sin(0.5 * Double($0)) }
    let expected = Self.grid(observations)
    let moment = try #require(
      ReferencePosterior(Self.model, observations).moments(after: [39], seed: 1).first)
    let inverse = try #require(expected.covariance.positiveDefiniteInverse)
    let off = (inverse.quadraticForm(moment.mean - expected.mean) / 3).squareRoot()
    #expect(off < 0.08, "\(moment) \(expected)")
    #expect(moment.meanError < 0.08)
    for (a, b) in [
      (moment.covariance.xx, expected.covariance.xx),
      (moment.covariance.yy, expected.covariance.yy),
      (moment.covariance.zz, expected.covariance.zz),
    ] {
      #expect(abs((a / b).squareRoot() - 1) < 0.06, "\(moment) \(expected)")
    }
  }

  @Test("two populations that disagree say so")
  func meanError() throws {
    let observations = Self.ranges { _ in 0 }
    var posterior = ReferencePosterior(Self.model, observations)
    posterior.count = 6
    posterior.sweeps = 0
    let coarse = try #require(posterior.moments(after: [39], seed: 1).first)
    #expect(coarse.meanError > 0.1, "\(coarse)")
  }

  @Test("the same seed gives the same posterior, another seed nearly the same")
  func seeds() throws {
    let observations = Self.ranges { 0.2 * sin(0.5 * Double($0)) }
    let posterior = ReferencePosterior(Self.model, observations)
    let moments = (1...2).map { posterior.moments(after: [10, 39], seed: $0)[1] }
    #expect(posterior.moments(after: [39], seed: 1)[0].mean == moments[0].mean)
    #expect(moments[0].mean != moments[1].mean)
    #expect((moments[0].mean - moments[1].mean).length < 0.1)
  }

  /// With a strong geometry the posterior is Gaussian, and its covariance is the Cramér-Rao bound.
  @Test("with angles and drift the covariance is that of the bound", arguments: [0.0, 0.02])
  func bound(drift: Double) throws {
    var scenario = Scenario(.sweepThenWalk)
    scenario.duration = 12
    scenario.peer.distance = 4...4
    scenario.peer.direction = .ahead
    scenario.odometry.positionDrift = drift
    scenario.odometry.yawDriftDegrees = 20 * drift
    let run = scenario.simulated(seed: 5)
    let configuration = scenario.matchingConfiguration
    let model = try #require(ReferenceModel(scenario, configuration))
    let last = run.samples.count - 1
    var posterior = ReferencePosterior(model, ReferenceObservation.all(of: run))
    posterior.count = 150
    let moment = try #require(posterior.moments(after: [last], seed: 5).first)
    let bound = PosteriorBound.positionSigmas(
      of: run,
      PosteriorBound.Model(scenario, rangeScaleSigma: configuration.ranging.rangeScaleSigma))
    let sigma = moment.covariance.trace.squareRoot()
    #expect(abs(sigma / bound[last] - 1) < 0.12, "\(sigma) for \(bound[last]) m")
    let error = try #require(moment.covariance.positiveDefiniteInverse)
      .quadraticForm(moment.mean - run.samples[last].peerInOdometry)
    #expect(error < 16, "\(error)")
  }

  @Test("only scenarios with one peer at rest and no faults have an exact posterior")
  func obstacles() throws {
    for (name, isPossible) in [
      ("find", true), ("level-bob", true), ("level-drift", true), ("level-office", false),
      ("nlos-20", false), ("peer-moving", false), ("level-turn", false), ("level-place", false),
      ("pose-jump", false), ("azimuth-only", false), ("clock-offset", false),
      ("slip-one", false),
    ] {
      let scenario = try #require(Scenario.preset(named: name))
      #expect((ReferenceModel.obstacle(in: scenario) == nil) == isPossible, "\(name)")
      #expect((ReferenceRun(scenario, scenario.matchingConfiguration) == nil) != isPossible)
    }
  }
}
