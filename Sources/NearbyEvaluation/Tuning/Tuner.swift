// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbySmoothing

/// Finds the settings under which a recording's samples are most likely.
///
/// It needs no truth. What is maximised is the evidence of the chain that the smoother solves
/// (`NoiseEvidence`), over the noise (`NoiseParameters`), with a weak prior around what is stated, so that
/// what the recording cannot tell stays as it was. How much of the noise is white the residuals at the
/// mode tell (`ResidualSeries`), in turn with the maximum of the evidence.
public struct Tuner: Sendable {
  /// How much work is done.
  public struct Effort: Sendable {
    /// The largest number of peers; those with most samples are used.
    var mostPeers: Int
    /// The largest number of samples, evenly thinned.
    var mostSamples: Int
    /// The same for the constants.
    var mostConstantSamples: Int
    /// The largest number of knots of the path.
    var mostKnots: Int
    /// The least number of samples for each knot.
    var samplesPerKnot = 1
    /// How often the mode's constants, the white shares and the maximum are found in turn.
    var rounds: Int
    /// The factors of the stated accuracy of ranges and of the stated drift with which an engine looks for the
    /// peers at first.
    var starts: [(ranges: Double, drift: Double)]
    /// The steps of a search for the maximum.
    var mostSteps: Int
    /// Whether all settings are tested on the end of the recording, and not only what most contradicts them.
    var isThorough: Bool

    /// For measuring a radio: seconds to minutes.
    public static let thorough = Effort(
      mostPeers: 12, mostSamples: 12_000, mostConstantSamples: 12_000, mostKnots: 600, rounds: 3,
      starts: [(1, 1), (1, 6), (4, 1), (4, 6)], mostSteps: 25, isThorough: true)
    /// For a first look: tenths of a second.
    public static let quick = Effort(
      mostPeers: 8, mostSamples: 2000, mostConstantSamples: 10_000, mostKnots: 150,
      samplesPerKnot: 4, rounds: 2,
      starts: [(1, 1), (1, 6)], mostSteps: 8, isThorough: false)
  }

  private let data: TuningData
  /// The same with more samples: for constants, which need one mode only.
  private let all: TuningData
  private let effort: Effort
  /// What is stated, with the offset of the radio's clock at which ranges fit the path best.
  private let aligned: FusionConfiguration
  /// The least number of knots.
  private static let leastKnots = 30
  /// Fewer samples of a kind tell nothing.
  private static let leastSamples = 20

  /// Makes a tuner of a recording.
  ///
  /// - Parameters:
  ///   - data: The recording.
  ///   - effort: How much work is done.
  public init(_ data: TuningData, effort: Effort = .thorough) {
    self.data = data.prepared(effort.mostPeers, effort.mostSamples)
    all = data.prepared(effort.mostPeers, effort.mostConstantSamples)
    self.effort = effort
    var aligned = data.stated
    if let offset = data.alignedClockOffset { aligned.ranging.clockOffset = offset }
    self.aligned = aligned
  }

  /// A mode, and the noise with which it was found.
  private struct Candidate {
    var evidence: NoiseEvidence
    var stated: FusionConfiguration
    var noise: NoiseParameters
    var value: Double
    /// Of each kind's white share one standard deviation.
    var shareSigmas = PerKind<Double>(repeating: .infinity)

    var configuration: FusionConfiguration { noise.configuration(stated) }
  }

  /// Estimates everything.
  ///
  /// - Parameter progress: Called now and then with the share of the work that is done.
  /// - Returns: What was found; `nil` when no peer at rest has enough samples.
  public func tune(progress: (Double) -> Void = { _ in }) -> TuningResult? {
    guard data.samples.count >= 30 else { return nil }
    guard var best = start() else { return nil }
    rebase(&best)
    var mended = aligned
    mended.ranging.clockOffset = best.evidence.constants.clockOffset
    mended.ranging.antennaInDevice = best.evidence.constants.antenna
    let moved = data.movedPeers(mended)
    if !moved.isEmpty {
      let others = Tuner(all.excluding(moved), effort: effort)
      return others.tune(progress: progress)
    }
    progress(0.2)
    for round in 0..<effort.rounds {
      rebase(&best)
      if round > 0 { learnShares(&best) }
      improve(&best)
      progress(0.2 + 0.6 * Double(round + 1) / Double(effort.rounds))
    }
    rebase(&best)
    let certainty = certainty(of: best)
    if effort.mostConstantSamples > effort.mostSamples { rebase(&best, all) }
    let result = result(of: best, certainty)
    progress(1)
    return result
  }

  // MARK: The start

  /// The best of several starts: an engine locates the peers with several settings.
  private func start() -> Candidate? {
    var best: Candidate?
    var planes = [data.stated.odometry.isPlanar]
    if !planes[0], data.hasFlatPath { planes.append(true) }
    for isPlanar in planes {
      for (ranges, drift) in effort.starts {
        guard let found = candidate(isPlanar: isPlanar, ranges: ranges, drift: drift) else {
          continue
        }
        if found.value > best?.value ?? -.infinity { best = found }
      }
    }
    return best
  }

  private func candidate(isPlanar: Bool, ranges: Double, drift: Double) -> Candidate? {
    var stated = aligned
    stated.odometry.isPlanar = isPlanar
    var configuration = stated
    configuration.ranging.rangeSigma = min(1e3, ranges * configuration.ranging.rangeSigma)
    configuration.odometry.positionDrift = min(10, drift * configuration.odometry.positionDrift)
    configuration.odometry.yawDriftRadians = min(
      .pi, drift * configuration.odometry.yawDriftRadians)
    let sightings = data.sightings(
      at: .init(
        clockOffset: stated.ranging.clockOffset, antenna: stated.ranging.antennaInDevice),
      drift: configuration.odometry.positionDrift)
    guard sightings.count >= 30, let starts = data.starts(configuration),
      var evidence = NoiseEvidence(
        data.path, sightings, peerCount: data.motions.count, stated: stated,
        mostKnots: min(
          effort.mostKnots, max(Self.leastKnots, sightings.count / effort.samplesPerKnot)))
    else { return nil }
    var noise = NoiseParameters(configuration)
    // A drift that is too small is taken for errors of the radio that wander, and those weaken what
    // would tell the drift: the way out of it begins with noise that is white.
    noise.whiteShares = PerKind(repeating: 1)
    guard evidence.locate(from: starts, under: noise.configuration(stated)) else { return nil }
    evidence.measureViewpoints()
    // With wide noise too: a mode that is off must not be taken for outliers.
    var best: Candidate?
    for factor in [0.0, 0.7, 1.4, 2.1, 2.8] {
      for more in [0.0, 1.5, 3] {
        var other = noise
        other[.rangeSigma] += factor
        for name in [NoiseParameters.Name.positionDrift, .yawDrift] { other[name] += more }
        let value = objective(evidence, other, stated)
        if value > best?.value ?? -.infinity {
          best = Candidate(evidence: evidence, stated: stated, noise: other, value: value)
        }
      }
    }
    guard var found = best else { return nil }
    found.evidence.settle(under: found.configuration)
    found.value = objective(found.evidence, found.noise, stated)
    return found
  }

  // MARK: The maximum

  private func prior(_ noise: NoiseParameters) -> Double {
    let stated = NoiseParameters(data.stated)
    return NoiseParameters.Name.allCases.reduce(0) { sum, name in
      let deviation = (noise[name] - stated[name]) / NoiseParameters.priorSigma(of: name)
      return sum - 0.5 * deviation * deviation
    }
  }

  private func objective(
    _ evidence: NoiseEvidence, _ noise: NoiseParameters, _ stated: FusionConfiguration
  ) -> Double {
    evidence.logEvidence(of: noise.configuration(stated)) + prior(noise)
  }

  /// The parameters that the recording's measurements depend on.
  private var free: [NoiseParameters.Name] {
    func has(_ kinds: [MeasurementKind]) -> Bool {
      kinds.reduce(0) { $0 + data.count(of: $1) } >= Self.leastSamples
    }
    return NoiseParameters.Name.allCases.filter { name in
      switch name {
      case .positionDrift, .yawDrift: true
      case .rangeOutliers: has([.range])
      case .rangeSigma: has([.range])
      case .azimuthSigma: has([.azimuth])
      case .elevationSigma: has([.elevation])
      case .angleOutliers: has([.azimuth, .elevation])
      }
    }
  }

  private func maximizer(
    _ candidate: Candidate, over free: [NoiseParameters.Name]
  ) -> Maximizer {
    var evidence = candidate.evidence
    func noise(_ logs: [Double]) -> NoiseParameters {
      var noise = candidate.noise
      for (name, value) in zip(free, logs) { noise[name] = value }
      return noise
    }
    return Maximizer(
      function: { objective(evidence, noise($0), candidate.stated) },
      intervals: free.map(NoiseParameters.interval(of:)), mostIterations: effort.mostSteps,
      differencesAreForward: !effort.isThorough,
      follow: { evidence.approach(noise($0).configuration(candidate.stated)) })
  }

  private func improve(_ candidate: inout Candidate) {
    let free = free
    let (point, value) = maximizer(candidate, over: free).maximum(
      from: free.map { candidate.noise[$0] })
    for (name, log) in zip(free, point) { candidate.noise[name] = log }
    candidate.value = value
  }

  /// Goes to the mode, and takes the samples with their poses at its constants, until these stay.
  private func rebase(_ candidate: inout Candidate, _ samples: TuningData? = nil) {
    candidate.evidence.settle(under: candidate.configuration)
    let drift = candidate.noise.value(.positionDrift)
    var steps = 0
    repeat {
      let constants = candidate.evidence.constants
      candidate.evidence.rebase(
        on: constants, (samples ?? data).sightings(at: constants, drift: drift))
      candidate.evidence.settle(under: candidate.configuration)
      steps += 1
    } while steps < Self.mostRebases && candidate.evidence.clockStep > Self.clockTolerance
    candidate.evidence.measureViewpoints()
  }

  private static let mostRebases = 6
  /// The poses of the samples are final when the offset changes by less, seconds.
  private static let clockTolerance = 2e-3

  /// Learns how much of the noise is white.
  private func learnShares(_ candidate: inout Candidate) {
    for kind in MeasurementKind.allCases
    where data.count(of: kind) >= Self.leastSamples {
      let series = candidate.evidence.residuals(of: kind)
      let faults = FaultModel(candidate.configuration)
      let (sigma, share) = (
        candidate.noise[.sigma(of: kind)], candidate.noise.whiteShares[kind]
      )
      let start = [sigma + log(share), sigma + 0.5 * log(max(1 - share * share, 0.01))]
      let stated = data.stated.ranging
      let statedWhite = log(stated.whiteShare(of: kind) * stated.sigma(of: kind))
      let maximizer = Maximizer(
        function: { logs in
          let away = (logs[1] - statedWhite) / Self.wanderPriorSigma
          return series.reduce(-0.5 * away * away) {
            $0
              + $1.logLikelihood(
                of: kind, white: exp(2 * logs[0]), wander: exp(2 * logs[1]), faults)
          }
        }, intervals: start.map { ($0 - 5)...($0 + 5) })
      let point = maximizer.maximum(from: start).point
      let (white, wander) = (exp(2 * point[0]), exp(2 * point[1]))
      let found = (white / (white + wander)).squareRoot()
      candidate.noise.whiteShares[kind] = found
      guard let covariance = maximizer.curvature(at: point).symmetricInverse else { continue }
      let spread = covariance[0][0] + covariance[1][1] - 2 * covariance[0][1]
      candidate.shareSigmas[kind] =
        found * wander / (white + wander) * max(spread, 0).squareRoot()
    }
  }

  /// The spread of the prior of the wandering error's logarithm.
  private static let wanderPriorSigma = 1.2

  // MARK: The result

  /// What is found, without the settings that do not prove themselves on the end of the recording.
  private func result(
    of best: Candidate, _ certainty: TuningResult.Certainty
  ) -> TuningResult? {
    guard var result = untested(best, certainty) else { return nil }
    guard effort.isThorough else { return result }
    var beginning = best
    beginning.evidence = best.evidence.beginning(HeldOutTest.beginning)
    improve(&beginning)
    let test = HeldOutTest(data)
    if let found = untested(beginning, certainty)?.configuration {
      for index in test.harmfulGroups(in: found) {
        result.withhold(HeldOutTest.groups[index], stated: data.stated)
      }
    }
    // The whole recording may have said something else than its beginning.
    for index in test.unsupportedGroups(in: result.configuration) {
      result.withhold(HeldOutTest.groups[index], stated: data.stated)
    }
    return result
  }

  /// What is found.
  private func untested(
    _ best: Candidate, _ certainty: TuningResult.Certainty
  ) -> TuningResult? {
    guard let findings = best.evidence.findings(under: best.configuration) else { return nil }
    // Densities to other powers are not comparable: the white shares are the same for both.
    var stated = NoiseParameters(data.stated)
    stated.whiteShares = best.noise.whiteShares
    return TuningResult(
      noise: best.noise, certainty: certainty, findings: findings,
      logEvidence: (
        best.evidence.logEvidence(of: stated.configuration(best.stated)),
        best.evidence.logEvidence(of: best.configuration)
      ), isPlanar: best.stated.odometry.isPlanar, data: data)
  }

  private func certainty(of best: Candidate) -> TuningResult.Certainty {
    var certainty = TuningResult.Certainty()
    certainty.shareSigmas = best.shareSigmas
    // A parameter at the end of its interval has no maximum, and no curvature there.
    let stated = NoiseParameters(data.stated)
    let free = free.filter { !best.noise.isAtEnd($0) }
    let curvature = maximizer(best, over: free).curvature(at: free.map { best.noise[$0] })
    // A parameter in which the evidence is flat is left out, so that the others have a covariance.
    var told = Array(free.indices)
    while let flattest = told.min(by: { curvature[$0][$0] < curvature[$1][$1] }) {
      let part = told.map { row in told.map { curvature[row][$0] } }
      if let covariance = part.symmetricInverse {
        for (place, index) in told.enumerated() {
          certainty.variances[free[index]] = covariance[place][place]
        }
        break
      }
      told.removeAll { $0 == flattest }
    }
    let value = best.evidence.logEvidence(of: best.configuration)
    for name in told.map({ free[$0] }) {
      func loss(_ log: Double) -> Double {
        var other = best.noise
        other[name] = log
        return value - best.evidence.logEvidence(of: other.configuration(best.stated))
      }
      let all = loss(stated[name])
      guard all > TuningResult.contradiction else { continue }
      var (good, bad) = (best.noise[name], stated[name])
      while abs(good - bad) > 0.05 {
        let middle = 0.5 * (good + bad)
        if loss(middle) > TuningResult.contradiction { bad = middle } else { good = middle }
      }
      certainty.limits[name] = good
    }
    return certainty
  }
}

extension [[Double]] {
  /// The inverse of a symmetric positive definite matrix, by Gauss and Jordan; `nil` when it has none.
  var symmetricInverse: [[Double]]? {
    let size = count
    var left = self
    var right = (0..<size).map { row in (0..<size).map { $0 == row ? 1.0 : 0 } }
    for pivot in 0..<size {
      let value = left[pivot][pivot]
      guard value > 1e-9 else { return nil }
      for column in 0..<size {
        left[pivot][column] /= value
        right[pivot][column] /= value
      }
      for row in 0..<size where row != pivot {
        let factor = left[row][pivot]
        for column in 0..<size {
          left[row][column] -= factor * left[pivot][column]
          right[row][column] -= factor * right[pivot][column]
        }
      }
    }
    return right
  }
}
