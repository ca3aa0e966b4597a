// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyFusion
internal import NearbyGeometry
public import NearbySimulation

/// What an engine said after one sample, beside the truth.
public struct Moment: Sendable {
  /// Seconds after the start.
  public var seconds: Double
  /// Whether it has converged, or what stands in the way.
  public var convergence: Convergence
  /// The length of the error of the peer's position relative to the device, metres.
  public var error: Double
  /// The square root of the trace of the claimed covariance, metres.
  public var claimedSigma: Double
  /// The normalised estimation error squared, three degrees of freedom; `nil` when the claimed
  /// covariance is not positive definite.
  public var normalizedErrorSquared: Double?
  /// The bound on the square root of the trace of the covariance, metres.
  public var bound: Double
  /// The true distance from the device to the peer, metres.
  public var distance: Double
  /// The true height of the peer over the device, metres.
  public var heightDifference: Double
  /// Whether the engine calls the peer above or below.
  public var verticalDirection: VerticalDirectionEstimate
  /// For range, azimuth and elevation: innovation squared over its variance, of measured components
  /// that are honest in truth and that the engine compared with a prediction.
  public var normalizedInnovationSquared: [Double?]
  /// How many hypotheses are alive.
  public var hypothesisCount: Int

  /// Whether it has converged.
  public var isConverged: Bool { convergence == .converged }

  /// Whether this is a false convergence: an error beyond both 0.5 m and 3.4 claimed sigma.
  public var isFalselyConverged: Bool {
    isConverged && error > 0.5 && error > 3.4 * claimedSigma
  }

  /// Whether the engine names a side, and the wrong one.
  public var isOnWrongSide: Bool {
    verticalDirection == .above && heightDifference < 0
      || verticalDirection == .below && heightDifference > 0
  }
}

/// One seeded run of a scenario through an engine.
public struct RunRecord: Sendable {
  /// The seed.
  public var seed: UInt64
  /// What the engine said, sample by sample, in the order of arrival.
  public var moments: [Moment]

  /// When it converged for the first time, seconds after the first sample.
  public var firstConvergence: Double? { sinceStart(moments.first(where: \.isConverged)) }

  /// When the bound met the criterion of convergence for the first time, seconds after the first
  /// sample.
  public var firstPossibleConvergence: Double? {
    sinceStart(moments.first { $0.bound <= max(0.35, 0.07 * $0.distance) })
  }

  private func sinceStart(_ moment: Moment?) -> Double? {
    guard let moment, let first = moments.first else { return nil }
    return moment.seconds - first.seconds
  }
}

/// Many seeded runs of one scenario through engines of one configuration.
public struct ConsistencyRun: Sendable {
  /// The scenario.
  public var scenario: Scenario
  /// What the engines are told; tests that break something on purpose change it.
  public var configuration: FusionConfiguration
  /// How the bound models direction-dependent angle errors.
  public var angleBias = PosteriorBound.AngleBias.field

  /// Makes runs in which the engines are told the truth about the sensors.
  public init(_ scenario: Scenario) {
    self.scenario = scenario
    configuration = scenario.matchingConfiguration
  }

  /// Runs one seed.
  ///
  /// - Parameter seed: The seed.
  /// - Returns: What the engine said.
  /// - Throws: When the configuration makes no sense.
  public func record(seed: UInt64) throws(FusionConfigurationError) -> RunRecord {
    let run = scenario.simulated(seed: seed)
    var model = PosteriorBound.Model(
      scenario, rangeScaleSigma: configuration.ranging.rangeScaleSigma)
    model.angleBias = angleBias
    let bounds = PosteriorBound.positionSigmas(of: run, model)
    var engine = try FusionEngine(configuration)
    let peer = engine.addPeer(scenario.peerMotion)
    var moments: [Moment] = []
    run.feed(&engine, as: peer) { index, report, engine in
      moments.append(
        Moment(
          estimate: engine.estimate(of: peer), report: report, truth: run.samples[index],
          bound: bounds[index]))
    }
    return RunRecord(seed: seed, moments: moments)
  }

  /// Runs many seeds, on all cores; the result does not depend on how many there are.
  ///
  /// - Parameter seeds: The seeds.
  /// - Returns: The records in the order of the seeds, with their statistics.
  /// - Throws: When the configuration makes no sense.
  public func report(seeds: Range<UInt64>) async throws -> ConsistencyReport {
    let records = try await withThrowingTaskGroup(of: RunRecord.self) { group in
      for seed in seeds { group.addTask { try record(seed: seed) } }
      var records: [RunRecord] = []
      for try await record in group { records.append(record) }
      return records
    }
    return ConsistencyReport(records: records.sorted { $0.seed < $1.seed })
  }
}

extension Moment {
  init(
    estimate: PeerEstimate, report: SampleReport, truth: SimulatedRun.Sample, bound: Double
  ) {
    let fromDevice = truth.peerInOdometry - truth.odometryFromDevice.translation
    let difference = (estimate.meanInWorld ?? Vector3(.infinity, 0, 0)) - truth.peerInOdometry
    seconds = truth.seconds
    convergence = estimate.convergence
    error = difference.length
    claimedSigma = estimate.covarianceInWorld.trace.squareRoot()
    normalizedErrorSquared = estimate.covarianceInWorld.positiveDefiniteInverse?
      .quadraticForm(difference)
    self.bound = bound
    distance = fromDevice.length
    heightDifference = fromDevice.y
    verticalDirection = estimate.verticalDirection
    normalizedInnovationSquared = [
      Self.normalizedSquare(report.range, isFaulty: truth.isRangeFaulty),
      Self.normalizedSquare(report.azimuth, isFaulty: truth.isAzimuthFaulty),
      Self.normalizedSquare(report.elevation, isFaulty: truth.isElevationFaulty),
    ]
    hypothesisCount = estimate.hypothesisCount
  }

  private static func normalizedSquare(_ report: ComponentReport, isFaulty: Bool) -> Double? {
    switch report.outcome {
    case .absent, .rejected: nil
    case .fused, .rejectedAsOutlier:
      isFaulty ? nil : report.innovation * report.innovation / report.innovationVariance
    }
  }
}

/// The statistics of many runs.
public struct ConsistencyReport: Sendable, CustomStringConvertible {
  /// The runs, in the order of their seeds.
  public let records: [RunRecord]

  /// Makes the statistics of records.
  public init(records: [RunRecord]) { self.records = records }

  /// Every moment at which an engine had converged.
  private var converged: [Moment] { records.flatMap { $0.moments.filter(\.isConverged) } }

  /// The mean normalised error squared while converged, over three: expected one.
  public var normalizedErrorSquared: Double {
    converged.mean { $0.normalizedErrorSquared ?? .infinity } / 3
  }

  /// The mean normalised innovation squared while converged, of range, azimuth and elevation:
  /// expected one each; `nil` where nothing was measured.
  public var normalizedInnovationSquared: [Double?] {
    (0..<3).map { component in
      let values = converged.compactMap { $0.normalizedInnovationSquared[component] }
      return values.isEmpty ? nil : values.mean { $0 }
    }
  }

  /// The root mean square error while converged, metres.
  public var rootMeanSquareError: Double { converged.mean { $0.error * $0.error }.squareRoot() }

  /// The root mean square of the claimed sigma over the same moments, metres.
  public var rootMeanSquareClaim: Double {
    converged.mean { $0.claimedSigma * $0.claimedSigma }.squareRoot()
  }

  /// The root mean square of the bound over the same moments, metres.
  public var rootMeanSquareBound: Double { converged.mean { $0.bound * $0.bound }.squareRoot() }

  /// The root mean square error over the bound: one is as good as it gets.
  public var boundRatio: Double { rootMeanSquareError / rootMeanSquareBound }

  /// The seeds of the runs with a false convergence at any moment.
  public var falseConvergences: [UInt64] {
    records.filter { $0.moments.contains(where: \.isFalselyConverged) }.map(\.seed)
  }

  /// The seeds of the runs that have converged at any moment.
  public var convergedSeeds: [UInt64] {
    records.filter { $0.firstConvergence != nil }.map(\.seed)
  }

  /// The seeds of the runs that named the wrong side, above or below, at any moment.
  public var wrongSides: [UInt64] {
    records.filter { $0.moments.contains(where: \.isOnWrongSide) }.map(\.seed)
  }

  /// The median, over the runs whose bound meets the criterion, of the time to converge over the time
  /// to the bound's convergence; runs that never converge count as infinite.
  ///
  /// Both times have one sample period (0.1 s) added, so that a first sample that suffices counts.
  public var medianTimeRatio: Double {
    let ratios = records.compactMap { record in
      record.firstPossibleConvergence.map { possible in
        ((record.firstConvergence ?? .infinity) + 0.1) / (possible + 0.1)
      }
    }.sorted()
    return ratios.isEmpty ? .nan : ratios[ratios.count / 2]
  }

  /// The statistics in one line.
  public var description: String {
    let innovations = normalizedInnovationSquared.map { $0.map(Self.text) ?? "-" }
    return """
      NEES/3 \(Self.text(normalizedErrorSquared)), NIS \(innovations.joined(separator: "/")), \
      RMSE \(Self.text(rootMeanSquareError)) m, claimed \(Self.text(rootMeanSquareClaim)) m, \
      bound \(Self.text(rootMeanSquareBound)) m, ratio \(Self.text(boundRatio)), \
      converged \(convergedSeeds.count) of \(records.count), false \(falseConvergences.count), \
      time ratio \(Self.text(medianTimeRatio))
      """
  }

  private static func text(_ value: Double) -> String { String(format: "%.3f", value) }
}

extension Array {
  fileprivate func mean(_ value: (Element) -> Double) -> Double {
    isEmpty ? .nan : reduce(0) { $0 + value($1) } / Double(count)
  }
}
