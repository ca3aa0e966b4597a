// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry
public import NearbySimulation

/// Seeded runs of one scenario through engines of one configuration, compared with the truth and
/// the bound.
public struct ConsistencyRun: Sendable {
  /// The scenario.
  public var scenario: Scenario
  /// The engines' configuration.
  ///
  /// Tests change it to break something on purpose.
  public var configuration: FusionConfiguration
  /// The bound's model of direction-dependent angle errors.
  public var angleBias = PosteriorBound.AngleBias.field

  /// Makes runs in which the engines' configuration matches the sensors.
  public init(_ scenario: Scenario) {
    self.scenario = scenario
    configuration = scenario.matchingConfiguration
  }

  /// Runs one seed, moment by moment.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - note: Called after each sample, in the order of arrival, with the sample's truth.
  /// - Returns: The sums over the moments.
  /// - Throws: When the configuration is invalid, or what `note` throws.
  @discardableResult
  public func record<Failure: Error>(
    seed: UInt64, note: (Moment, SimulatedRun.Sample) throws(Failure) -> Void
  ) throws -> RunRecord {
    let run = scenario.simulated(seed: seed)
    let event = RunEvent(of: scenario, in: run)
    let bounds = bounds(of: run, event)
    var record = RunRecord(seed: seed, event: event)
    var failure: Failure?
    try follow(run, bounds) { moment, truth, sample in
      var moment = moment
      moment.contradictsFormerPlace =
        event?.isContradicted(by: sample, in: scenario) ?? false
      record.add(
        moment, lineOfSight: truth.odometryFromDevice.translation - truth.peerInOdometry)
      do throws(Failure) { try note(moment, truth) } catch { failure = error }
      return failure == nil
    }
    if let failure { throw failure }
    if let settled = record.recovery?.settledSeconds {
      record.recovery?.freshStartSeconds = try freshStart(at: settled, in: run, bounds)
    }
    return record
  }

  /// Runs one seed.
  ///
  /// - Parameter seed: The seed.
  /// - Returns: The sums over the moments.
  /// - Throws: When the configuration is invalid.
  public func record(seed: UInt64) throws -> RunRecord {
    try record(seed: seed) { (_, _) throws(Never) in }
  }

  /// Runs many seeds.
  ///
  /// The result does not depend on the number of concurrent runs.
  ///
  /// - Parameters:
  ///   - seeds: The seeds.
  ///   - jobs: The largest number of concurrent runs; it is limited to the number of cores.
  ///   - finished: Called after each run.
  /// - Returns: The statistics.
  /// - Throws: When the configuration is invalid.
  public func report(
    seeds: Range<UInt64>, jobs: Int = .max, finished: () -> Void = {}
  ) async throws -> ConsistencyReport {
    var records: [RunRecord] = []
    try await withThrowingTaskGroup(of: RunRecord.self) { group in
      var waiting = seeds.makeIterator()
      for _ in 0..<min(max(1, jobs), 64) {
        if let seed = waiting.next() { group.addTask { try record(seed: seed) } }
      }
      while let record = try await group.next() {
        records.append(record)
        finished()
        if let seed = waiting.next() { group.addTask { try self.record(seed: seed) } }
      }
    }
    // Sorted by seed, so that rounding does not depend on which run ended first.
    return ConsistencyReport(records: records.sorted { $0.seed < $1.seed })
  }

  /// The bound after each sample.
  ///
  /// During an event, the position is as unknown as before the first sample.
  private func bounds(of run: SimulatedRun, _ event: RunEvent?) -> [Double] {
    var model = PosteriorBound.Model(
      scenario, of: run, rangeScaleSigma: configuration.ranging.rangeScaleSigma)
    model.angleBias = angleBias
    var bound = PosteriorBound(model)
    var isOver = event == nil
    return run.samples.map { sample in
      if let event, !isOver, sample.seconds >= event.span.lowerBound {
        bound.forgetPosition()
        isOver = sample.seconds >= event.span.upperBound
      }
      bound.add(sample, of: run)
      return bound.positionSigma
    }
  }

  /// Feeds a run to an engine, from a given time on, for as long as `note` returns true.
  ///
  /// `note` gets each moment, the newest sample so far, which holds the truth, and the sample
  /// itself.
  private func follow(
    _ run: SimulatedRun, _ bounds: [Double], from seconds: Double = -.infinity,
    _ note: (Moment, _ truth: SimulatedRun.Sample, SimulatedRun.Sample) -> Bool
  ) throws {
    var engine = try FusionEngine(configuration)
    let peer = engine.addPeer(scenario.peerMotion)
    var newest = 0
    for event in run.events {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index):
        let sample = run.samples[index]
        guard sample.seconds >= seconds else { continue }
        newest = max(newest, index)
        let truth = run.samples[newest]
        let report = engine.add(run.rangingSample(index, of: peer))
        let moment = Moment(
          estimate: engine.estimate(of: peer, at: truth.timestamp), report: report, of: sample,
          truth: truth, bound: bounds[newest])
        guard note(moment, truth, sample) else { return }
      }
    }
  }

  /// How long an engine that starts at a given time takes to converge to the right position,
  /// seconds.
  private func freshStart(
    at seconds: Double, in run: SimulatedRun, _ bounds: [Double]
  ) throws -> Double? {
    var first: Double?
    try follow(run, bounds, from: seconds) { moment, _, _ in
      if moment.isConverged, !moment.isFalselyConverged { first = moment.seconds - seconds }
      return first == nil
    }
    return first
  }
}
