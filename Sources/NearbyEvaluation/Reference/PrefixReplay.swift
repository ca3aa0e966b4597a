// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbySimulation
internal import NearbySmoothing

/// The beginning of a run: all that has arrived by the last sample of a time step.
struct Prefix: Sendable {
  /// The number of the time step, from one.
  var step: Int
  /// How many events of the run belong to it.
  var eventCount: Int
  /// The index of its newest sample.
  var newest: Int
  /// The time of that sample, and the device's path until then.
  var arrival: PrefixRun.Arrival

  /// The prefixes of a run at evenly spaced steps; steps without a sample are left out.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - duration: How long it is, seconds.
  ///   - count: The number of steps.
  /// - Returns: The prefixes, ascending.
  static func steps(of run: SimulatedRun, until duration: Double, _ count: Int) -> [Prefix] {
    var prefixes: [Prefix] = []
    for (index, event) in run.events.enumerated() {
      guard case .sample(let arrived) = event else { continue }
      let share = run.samples[arrived].seconds / duration
      let step = min(count, max(1, Int((share * Double(count)).rounded(.up))))
      // A late sample belongs to the step in which it arrives.
      let last = prefixes.last
      let newest = max(arrived, last?.newest ?? 0)
      if let last, last.step >= step { prefixes.removeLast() }
      let sample = run.samples[newest]
      prefixes.append(
        Prefix(
          step: max(step, last?.step ?? 0), eventCount: index + 1, newest: newest,
          arrival: PrefixRun.Arrival(seconds: sample.seconds, metres: sample.travelled)))
    }
    return prefixes
  }
}

/// A smoother that is given a run bit by bit.
///
/// A copy goes on from where it was made.
struct PrefixReplay: Sendable {
  /// The smoother's estimate of a peer at the newest sample, beside the truth.
  struct Position {
    /// Where the peer is in the odometry's world, metres.
    var truth: Vector3
    /// The length of the smoother's error, metres.
    var error: Double
    /// The square root of the trace of the smoother's covariance, metres.
    var sigma: Double
    /// Whether the smoother meets the convergence rule, and the peer is at rest.
    var isClaimable: Bool
  }

  private let run: SimulatedRun
  private var smoother: Smoother
  private let peers: [PeerID]
  private var eventCount = 0
  private var newest = 0

  /// Slower than this a peer is at rest, m/s.
  private static let restingSpeed = 1e-3

  /// Makes a replay of a run, before its first event.
  init(_ run: SimulatedRun, _ configuration: FusionConfiguration, _ motion: PeerMotion) throws {
    self.run = run
    var smoother = try Smoother(configuration)
    peers = run.peers.map { _ in smoother.addPeer(motion) }
    self.smoother = smoother
  }

  /// Hands the smoother the events up to the end of a prefix.
  mutating func advance(to prefix: Prefix) {
    for event in run.events[eventCount..<prefix.eventCount] {
      switch event {
      case .pose(let index): smoother.add(run.poses[index])
      case .tracking(let index): smoother.add(run.tracking[index])
      case .sample(let index):
        smoother.add(run.rangingSample(index, of: peers[run.samples[index].peer]))
      }
    }
    eventCount = prefix.eventCount
    newest = prefix.newest
  }

  /// Estimates everything from the events so far.
  ///
  /// - Returns: The positions of the peers; `nil` for a peer that has not been heard.
  func positions() -> [Position?] {
    let sample = run.samples[newest]
    let odometryFromTruth =
      sample.odometryFromDevice * run.device.pose(at: sample.seconds).inverse
    return zip(smoother.solve().tracks, run.peers).map { track, peer in
      guard let final = track.final else { return nil }
      let truth = odometryFromTruth.act(peer.path.position(at: sample.seconds))
      let isResting = peer.path.velocity(at: sample.seconds).length < Self.restingSpeed
      return Position(
        truth: truth, error: (final.positionInWorld - truth).length,
        sigma: final.covarianceInWorld.trace.squareRoot(),
        isClaimable: isResting && track.converges(smoother.configuration))
    }
  }
}

extension SmoothedTrack {
  /// Whether the position at the end meets the engine's rule of convergence.
  ///
  /// It does if its total standard deviation is small enough for its distance, and the places within that
  /// standard deviation of the most probable one hold enough probability.
  ///
  /// - Parameter configuration: The engine's configuration.
  /// - Returns: Whether it does; false for an empty track.
  func converges(_ configuration: FusionConfiguration) -> Bool {
    guard let final, let device = final.worldFromDevice,
      let best = modes.max(by: { $0.probability < $1.probability })
    else { return false }
    let rule = configuration.convergence
    let required = rule.requiredSigma(at: (best.positionInWorld - device.translation).length)
    let near = modes.filter { ($0.positionInWorld - best.positionInWorld).length <= required }
    let variance =
      configuration.odometry.isPlanar
      ? final.covarianceInWorld.xx + final.covarianceInWorld.zz : final.covarianceInWorld.trace
    return variance <= required * required
      && near.reduce(0) { $0 + $1.probability } >= rule.dominantModeWeight
  }
}

/// What an engine says of all peers of a run at some prefixes.
struct EngineTrace {
  /// For each prefix the estimates of the peers at its newest sample.
  private(set) var estimates: [[PeerEstimate]] = []
  /// For each peer its first sample after which the engine had converged.
  private(set) var firstClaims: [PrefixRun.Arrival?]

  /// Runs an engine.
  init(
    _ run: SimulatedRun, _ configuration: FusionConfiguration, _ motion: PeerMotion,
    at prefixes: [Prefix]
  ) throws {
    var engine = try FusionEngine(configuration)
    let peers = run.peers.map { _ in engine.addPeer(motion) }
    firstClaims = run.peers.map { _ in nil }
    var waiting = prefixes[...]
    var newest = 0
    for (index, event) in run.events.enumerated() {
      switch event {
      case .pose(let index): engine.add(run.poses[index])
      case .tracking(let index): engine.add(run.tracking[index])
      case .sample(let sample):
        let peer = run.samples[sample].peer
        engine.add(run.rangingSample(sample, of: peers[peer]))
        newest = max(newest, sample)
        let now = run.samples[newest]
        if firstClaims[peer] == nil,
          engine.estimate(of: peers[peer], at: now.timestamp).convergence == .converged
        {
          firstClaims[peer] = PrefixRun.Arrival(seconds: now.seconds, metres: now.travelled)
        }
        guard waiting.first?.eventCount == index + 1 else { continue }
        waiting = waiting.dropFirst()
        estimates.append(peers.map { engine.estimate(of: $0, at: now.timestamp) })
      }
    }
  }
}
