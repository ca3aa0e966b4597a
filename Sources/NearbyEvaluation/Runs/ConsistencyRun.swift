// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
package import NearbyRecordings
package import NearbySimulation

/// Seeded runs of one scenario through engines of one configuration, compared with the truth and
/// the bound.
package struct ConsistencyRun: Sendable {
  /// The scenario.
  package var scenario: Scenario
  /// The engines' configuration.
  ///
  /// Tests change it to break something on purpose.
  package var configuration: FusionConfiguration
  /// Whether each run is calibrated first, as `nearby run` does it.
  package var calibration = CalibrationMode.off
  /// The bound's model of direction-dependent angle errors.
  package var angleBias = PosteriorBound.AngleBias.field

  /// Makes runs in which the engines' configuration matches the sensors.
  package init(_ scenario: Scenario) {
    self.scenario = scenario
    configuration = scenario.matchingConfiguration
  }

  /// Runs one seed, moment by moment.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - note: Called after each sample of any peer, in the order of arrival, with the sample's truth.
  /// - Returns: The sums over the moments, for each peer.
  /// - Throws: When the configuration is invalid, or what `note` throws.
  @discardableResult
  package func records<Failure: Error>(
    seed: UInt64, note: (Moment, SimulatedRun.Sample) throws(Failure) -> Void
  ) throws -> [RunRecord] {
    let run = scenario.simulated(seed: seed, peerCount: scenario.peer.count)
    let events = run.peers.indices.map { RunEvent(of: scenario, in: run, peer: $0) }
    let bounds = bounds(of: run, events)
    var records = events.enumerated().map { RunRecord(seed: seed, peer: $0, event: $1) }
    var failure: Failure?
    let configuration = configuration(for: run)
    try follow(run, configuration, bounds) { moment, truth, sample in
      var moment = moment
      moment.contradictsFormerPlace =
        events[sample.peer]?.isContradicted(by: sample, in: scenario) ?? false
      records[sample.peer].add(
        moment, lineOfSight: truth.odometryFromDevice.translation - truth.peerInOdometry)
      do throws(Failure) { try note(moment, truth) } catch { failure = error }
      return failure == nil
    }
    if let failure { throw failure }
    for index in records.indices {
      guard let settled = records[index].recovery?.settledSeconds else { continue }
      records[index].recovery?.freshStartSeconds = try freshStart(
        at: settled, in: run, configuration, peer: index, bounds)
    }
    return records
  }

  /// Runs one seed.
  ///
  /// - Parameter seed: The seed.
  /// - Returns: The sums over the moments, for each peer.
  /// - Throws: When the configuration is invalid.
  package func records(seed: UInt64) throws -> [RunRecord] {
    try records(seed: seed) { (_, _) throws(Never) in }
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
  package func report(
    seeds: Range<UInt64>, jobs: Int = .max, finished: () -> Void = {}
  ) async throws -> ConsistencyReport {
    let all = try await SeededRuns(seeds: seeds, jobs: jobs)
      .results(finished: finished) { try records(seed: $0) }
    return ConsistencyReport(records: all.flatMap(\.self))
  }

  /// The engine's configuration in a run.
  ///
  /// - Parameter run: The run.
  /// - Returns: ``configuration``, with what the run tells of it where it is calibrated.
  package func configuration(for run: SimulatedRun) -> FusionConfiguration {
    guard calibration == .use else { return configuration }
    let data = CalibrationData(run, motion: scenario.peerMotion, stated: configuration)
    return RecordingCalibration(data, calibration).configuration
  }

  /// The bound after each sample, of the sample's peer.
  ///
  /// During an event, the position is as unknown as before the first sample.
  private func bounds(of run: SimulatedRun, _ events: [RunEvent?]) -> [Double] {
    var sigmas = [Double](repeating: .infinity, count: run.samples.count)
    for peer in run.peers.indices {
      let event = events[peer]
      // The bound is that of a run with one peer.
      var alone = run
      alone.peers = [run.peers[peer]]
      var model = PosteriorBound.Model(
        scenario, of: alone, rangeScaleSigma: configuration.ranging.rangeScaleSigma)
      model.angleBias = angleBias
      var bound = PosteriorBound(model)
      var isOver = event == nil
      for (index, sample) in run.samples.enumerated() where sample.peer == peer {
        if let event, !isOver, sample.seconds >= event.span.lowerBound {
          bound.forgetPosition()
          isOver = sample.seconds >= event.span.upperBound
        }
        bound.add(sample, of: alone)
        sigmas[index] = bound.positionSigma
      }
    }
    return sigmas
  }

  /// Feeds a run to an engine, from a given time on, for as long as `note` returns true.
  ///
  /// `note` gets each moment of a sample's peer, the peer's newest sample so far, which holds the
  /// truth, and the sample itself.
  private func follow(
    _ run: SimulatedRun, _ configuration: FusionConfiguration, _ bounds: [Double],
    from seconds: Double = -.infinity,
    _ note: (Moment, _ truth: SimulatedRun.Sample, SimulatedRun.Sample) -> Bool
  ) throws {
    var engine = try FusionEngine(configuration)
    let peers = run.peers.map { _ in engine.addPeer(scenario.peerMotion) }
    var newest = [Int](repeating: 0, count: peers.count)
    for event in run.events {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let index):
        let sample = run.samples[index]
        guard sample.seconds >= seconds else { continue }
        let peer = peers[sample.peer]
        newest[sample.peer] = max(newest[sample.peer], index)
        let truth = run.samples[newest[sample.peer]]
        let report = engine.add(run.rangingSample(index, of: peer))
        let moment = Moment(
          estimate: engine.estimate(of: peer, at: truth.timestamp), report: report, of: sample,
          truth: truth, bound: bounds[newest[sample.peer]])
        guard note(moment, truth, sample) else { return }
      }
    }
  }

  /// How long an engine that starts at a given time takes to converge to the right position,
  /// seconds.
  private func freshStart(
    at seconds: Double, in run: SimulatedRun, _ configuration: FusionConfiguration, peer: Int,
    _ bounds: [Double]
  ) throws -> Double? {
    var first: Double?
    try follow(run, configuration, bounds, from: seconds) { moment, _, sample in
      if sample.peer == peer, moment.isConverged, !moment.isFalselyConverged {
        first = moment.seconds - seconds
      }
      return first == nil
    }
    return first
  }
}
