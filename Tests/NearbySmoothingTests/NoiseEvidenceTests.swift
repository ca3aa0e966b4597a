// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbySmoothing

/// The evidence of a chain, by which noise is tuned.
@Suite("Noise evidence")
struct NoiseEvidenceTests {
  /// Height differences are linear in the drift along gravity, in the peers' heights and in the radio's
  /// constants: there Laplace's approximation is exact.
  @Test(
    "is a Gaussian's where everything is linear",
    arguments: [
      [], .clockOffset, .leverArm, [.clockOffset, .leverArm],
    ] as [ChainLayout.Constants], [1, 2] as [UInt64])
  func gaussian(_ constants: ChainLayout.Constants, seed: UInt64) throws {
    let linear = try LinearProblem(constants, seed: seed)
    var state = DeviceTrace(problem: linear.problem, starts: [nil, nil]).straight()
    state.constants = []
    let mode = try #require(Minimizer.polish.mode(linear.problem, from: state))
    #expect(abs(mode.logEvidence - linear.logDensity) < 1e-4)
  }

  @Test("is the smoother's on the same problem", arguments: [0.02, 0.1])
  func smoother(drift: Double) throws {
    var configuration = FusionConfiguration()
    configuration.odometry.positionDrift = drift
    configuration.odometry.yawDriftRadians = 0.5 * drift
    configuration.ranging.rangeSigma = 0.2
    configuration.ranging.whiteSharesAreKnown = true
    // What tuning assumes of errors that last.
    configuration.ranging.rangeBiasSigma = 0.5
    configuration.odometry.turnRateSigmaRadians = 0.01
    configuration.odometry.scaleSigma = 0.02
    let walk = try PathWithSamples(configuration)
    var evidence = try #require(
      NoiseEvidence(
        walk.unit, walk.sightings(walk.unit.map(\.point)), peerCount: 2, stated: configuration))
    let isLocated = evidence.locate(from: walk.starts, under: configuration)
    #expect(isLocated)
    evidence.settle(under: configuration)
    evidence.measureViewpoints()

    let places = Dictionary(uniqueKeysWithValues: walk.stated.map { ($0.timestamp, $0) })
    let knots = try evidence.knots.map {
      DriftKnot(device: try #require(places[$0.device.timestamp]))
    }
    var problem = ProblemBuilder(configuration, walk.sightings(walk.stated)).problem(
      knots: knots, peers: [0, 1], isMoving: [false, false])
    problem.radioConstants = evidence.problem.radioConstants
    problem.radioPriors = evidence.problem.radioPriors
    var learner = NoiseLearner(peerCount: 2, configuration.ranging)
    learner.measure(&problem, at: evidence.state, learnsShares: false)
    let smoothed = try #require(NoiseEvidence.nearby.mode(problem, from: evidence.state))
    #expect(abs(smoothed.logEvidence - evidence.logEvidence(of: configuration)) < 1e-4)
  }
}

/// Height differences of two peers from a path of a few knots, and their density as that of one Gaussian.
private struct LinearProblem {
  var problem: SmoothingProblem
  /// The logarithm of the density of all values.
  var logDensity = 0.0

  private static let clockVariance = 0.02
  private static let leverVariance = 0.03
  private static let variance = 0.01
  private static let priorSigma = 3.0

  init(_ constants: ChainLayout.Constants, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var configuration = FusionConfiguration()
    configuration.odometry.positionDrift = 0.3
    configuration.odometry.turnRateSigmaRadians = 0
    configuration.odometry.scaleSigma = 0
    var engine = try FusionEngine(configuration)
    var knots: [DriftKnot] = []
    for index in 0..<5 {
      engine.add(
        DevicePose(
          timestamp: SimulatedWalk.time(0.5 * Double(index)),
          worldFromDevice: RigidTransform(
            rotation: .identity, translation: 0.3 * Double(index) * Vector3(1, 0.2, -0.5))))
      if let point = engine.newestDevicePoint { knots.append(DriftKnot(device: point)) }
    }
    // No engine takes so few outliers: so that not even a start that is far off is one.
    configuration.faults.heightOnset = 1e-250
    var observations: [Observation] = []
    for knot in 0..<4 {
      for peer in [0, 1, 0] {
        let pose = RigidTransform(
          rotation: generator.rotation(),
          translation: knots[knot].place + generator.normalVector(sigma: 0.2))
        var observation = Observation(
          cell: ChainProblem.Cell(
            pose: AntennaPose(pose, antennaInDevice: .zero), knot: knot,
            share: generator.uniform(in: 0...1), seconds: 0.1, peer: peer),
          measurements: PerKind(repeating: nil), poseVariance: (0, 0))
        observation.measurements[.heightDifference] = MeasuredValue(
          value: generator.normal(sigma: 0.5), sigma: 0.1)
        observation.noise[.heightDifference] = MeasurementNoise(variance: Self.variance)
        observation.cell.rate.velocity = generator.normalVector(sigma: 1)
        observations.append(observation)
      }
    }
    problem = SmoothingProblem(
      knots: knots, observations: observations, isMoving: [false, false],
      configuration: configuration, priorCenter: Vector3(0.5, 0.4, 0), priorSigma: Self.priorSigma)
    problem.radioConstants = constants
    if constants.contains(.clockOffset) { problem.radioPriors.append((0, Self.clockVariance)) }
    if constants.contains(.leverArm) {
      problem.radioPriors += Array(repeating: (0, Self.leverVariance), count: 3)
    }
    logDensity = Self.logDensity(residuals, covariance)
  }

  /// Measured minus expected.
  private var residuals: [Double] {
    problem.observations.map { observation in
      let value = observation[.heightDifference]?.value ?? 0
      return value - (problem.priorCenter.y - observation.cell.pose.antenna.y)
    }
  }

  private var covariance: [[Double]] {
    problem.observations.indices.map { a in
      problem.observations.indices.map { b in
        covariance(problem.observations[a], problem.observations[b])
          + (a == b ? Self.variance : 0)
      }
    }
  }

  private func covariance(_ a: Observation, _ b: Observation) -> Double {
    var sum = a.cell.peer == b.cell.peer ? Self.priorSigma * Self.priorSigma : 0
    for (step, drift) in problem.steps.enumerated() {
      func share(_ o: Observation) -> Double {
        step < o.cell.knot ? 1 : step == o.cell.knot ? o.cell.share : 0
      }
      sum += share(a) * share(b) * drift.drift.vertical
    }
    if problem.radioConstants.contains(.clockOffset) {
      sum += Self.clockVariance * a.cell.rate.velocity.y * b.cell.rate.velocity.y
    }
    if problem.radioConstants.contains(.leverArm) {
      let (p, q) = (a.cell.pose, b.cell.pose)
      sum +=
        Self.leverVariance
        * (p.right.y * q.right.y + p.up.y * q.up.y + p.back.y * q.back.y)
    }
    return sum
  }

  /// log N(r; 0, S), by Cholesky's factor.
  private static func logDensity(_ r: [Double], _ s: [[Double]]) -> Double {
    var (factor, white) = (s, r)
    var sum = -0.5 * Double(r.count) * log(2 * .pi)
    for j in r.indices {
      for k in 0..<j {
        white[j] -= factor[j][k] * white[k]
        for i in j..<r.count { factor[i][j] -= factor[i][k] * factor[j][k] }
      }
      let root = factor[j][j].squareRoot()
      for i in j..<r.count { factor[i][j] /= root }
      white[j] /= root
      sum -= log(root) + 0.5 * white[j] * white[j]
    }
    return sum
  }
}

/// A walk with two peers, as a smoother's engine has its path and as tuning has it.
private struct PathWithSamples {
  var stated: [TrajectoryPoint] = []
  var unit: [NoiseEvidence.PathPoint] = []
  var starts: [NoiseEvidence.Start?] = []
  private let walk = SimulatedWalk()

  init(_ configuration: FusionConfiguration) throws {
    var one = configuration
    one.odometry.positionDrift = 1
    one.odometry.yawDriftRadians = 1
    var (engine, unitEngine) = (try FusionEngine(configuration), try FusionEngine(one))
    for step in 0...300 {
      let t = 0.05 * Double(step)
      let pose = DevicePose(timestamp: SimulatedWalk.time(t), worldFromDevice: walk.truth(t))
      engine.add(pose)
      unitEngine.add(pose)
      if let point = engine.newestDevicePoint { stated.append(point) }
      if let point = unitEngine.newestDevicePoint {
        unit.append(.init(point, jumpPositionVariance: 0, jumpYawVariance: 0))
      }
    }
    starts = walk.peers.prefix(2).map {
      NoiseEvidence.Start(
        timestamp: SimulatedWalk.time(15), position: $0.place,
        covariance: SymmetricMatrix3(xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1))
    }
  }

  /// Samples of both peers, with the device where a path has it.
  func sightings(_ path: [TrajectoryPoint]) -> [Sighting] {
    var generator = SeededGenerator(seed: 5)
    return path.enumerated().filter { $0.offset % 3 == 1 }.map { index, point in
      let peer = walk.peers[index % 2]
      let away = walk.truth(0.05 * Double(index)).inverse.act(peer.place)
      var values = PerKind<MeasuredValue?>(repeating: nil)
      values[.range] = MeasuredValue(
        value: away.length + generator.normal(sigma: 0.1), sigma: 0.2)
      var sighting = Sighting(
        peer: index % 2, timestamp: point.timestamp, device: point, measurements: values,
        isObstructed: false)
      sighting.rate.velocity = Vector3(0.3, 0, 0.1)
      return sighting
    }
  }
}
