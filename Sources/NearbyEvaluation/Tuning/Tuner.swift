// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// Finds the settings under which a recording's samples are most likely.
///
/// It needs no truth. The likelihood is that of `EvidenceFilter`; what it is maximised over is the
/// noise (`NoiseParameters`), with a weak prior around what is stated, so that what the recording cannot
/// tell stays as it was.
public struct Tuner: Sendable {
  private let data: TuningData
  /// Peers with most samples are used, so many at most.
  private static let mostPeers = 12
  /// So many samples are used at most, evenly thinned.
  private static let mostSamples = 12_000
  /// How often reference and noise are found in turn.
  private static let rounds = 3

  /// Makes a tuner of a recording.
  public init(_ data: TuningData) { self.data = data.prepared(Self.mostPeers, Self.mostSamples) }

  /// A reference to be linear about, and the noise with which it was found.
  private struct Candidate {
    var filter: EvidenceFilter
    var noise: NoiseParameters
    var value: Double
  }

  /// Estimates everything.
  ///
  /// - Parameter progress: Called now and then with the share of the work that is done.
  /// - Returns: What was found; `nil` when no peer at rest has enough samples.
  public func tune(progress: (Double) -> Void = { _ in }) -> TuningResult? {
    guard data.samples.count >= 30 else { return nil }
    guard var best = start() else { return nil }
    progress(0.2)
    for round in 0..<Self.rounds {
      best = improved(best)
      best.filter.relinearise(best.noise)
      best.filter.relinearise(best.noise)
      progress(0.2 + 0.2 * Double(round + 1))
    }
    let result = result(of: best)
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
      for (ranges, drift) in [(1.0, 1.0), (1, 6), (4, 1), (4, 6)] {
        guard let found = candidate(isPlanar: isPlanar, ranges: ranges, drift: drift) else {
          continue
        }
        if found.value > best?.value ?? -.infinity { best = found }
      }
    }
    return best
  }

  private func candidate(isPlanar: Bool, ranges: Double, drift: Double) -> Candidate? {
    var configuration = data.stated
    configuration.odometry.isPlanar = isPlanar
    configuration.ranging.rangeSigma = min(1e3, ranges * configuration.ranging.rangeSigma)
    configuration.odometry.positionDrift = min(10, drift * configuration.odometry.positionDrift)
    configuration.odometry.yawDriftRadians = min(
      .pi, drift * configuration.odometry.yawDriftRadians)
    guard let starts = data.starts(configuration) else { return nil }
    var filter = EvidenceFilter(data, isPlanar: isPlanar)
    guard filter.steps.count >= 30 else { return nil }
    let noise = NoiseParameters(configuration)
    let places = filter.pass(
      noise, .init(isBackward: true, starts: starts, keepsPlaces: true)
    ).places.map(\.mean)
    filter.linearise(about: places, filter.base)
    // With wide noise first: a reference that is off must not be taken for outliers.
    filter.relinearise(noise)
    var best: Candidate?
    for factor in [0.0, 0.7, 1.4, 2.1, 2.8] {
      for more in [0.0, 1.5, 3] {
        var other = noise
        for name in [NoiseParameters.Name.rangeWhite, .rangeWander] { other[name] += factor }
        for name in [NoiseParameters.Name.positionDrift, .yawDrift] { other[name] += more }
        let value = objective(filter, other)
        if value > best?.value ?? -.infinity {
          best = Candidate(filter: filter, noise: other, value: value)
        }
      }
    }
    guard var found = best else { return nil }
    found.filter.relinearise(found.noise)
    found.value = objective(found.filter, found.noise)
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

  private func objective(_ filter: EvidenceFilter, _ noise: NoiseParameters) -> Double {
    filter.pass(noise).logLikelihood + prior(noise)
  }

  /// The parameters that the recording's measurements depend on.
  private var free: [NoiseParameters.Name] {
    NoiseParameters.Name.allCases.filter { name in
      switch name {
      case .positionDrift, .yawDrift: true
      case .rangeWhite, .rangeWander, .rangeOutliers: data.count(of: .range) >= 20
      case .azimuthWhite, .azimuthWander: data.count(of: .azimuth) >= 20
      case .elevationWhite, .elevationWander: data.count(of: .elevation) >= 20
      case .angleOutliers: data.count(of: .azimuth) + data.count(of: .elevation) >= 20
      }
    }
  }

  private func maximizer(_ filter: EvidenceFilter, _ noise: NoiseParameters) -> Maximizer {
    let free = free
    return Maximizer(
      function: { logs in
        var noise = noise
        for (name, value) in zip(free, logs) { noise[name] = value }
        return objective(filter, noise)
      }, intervals: free.map(NoiseParameters.interval(of:)))
  }

  private func improved(_ candidate: Candidate) -> Candidate {
    var candidate = candidate
    let (point, value) = maximizer(candidate.filter, candidate.noise).maximum(
      from: free.map { candidate.noise[$0] })
    for (name, log) in zip(free, point) { candidate.noise[name] = log }
    candidate.value = value
    return candidate
  }

  // MARK: The result

  private func result(of best: Candidate) -> TuningResult {
    let free = free
    let curvature = maximizer(best.filter, best.noise).curvature(at: free.map { best.noise[$0] })
    var certainty = TuningResult.Certainty()
    if let covariance = curvature.symmetricInverse {
      for (row, name) in zip(covariance, free) {
        certainty.covariance[name] = Dictionary(uniqueKeysWithValues: zip(free, row))
      }
    }
    let stated = NoiseParameters(data.stated)
    let value = best.filter.pass(best.noise).logLikelihood
    for name in free {
      var other = best.noise
      other[name] = stated[name]
      certainty.losses[name] = value - best.filter.pass(other).logLikelihood
    }
    return TuningResult(
      noise: best.noise, certainty: certainty, pass: best.filter.pass(best.noise),
      statedValue: best.filter.pass(stated).logLikelihood, isPlanar: best.filter.isPlanar,
      data: data)
  }
}

extension EvidenceFilter {
  /// Moves the reference to where the peers are under some noise.
  mutating func relinearise(_ noise: NoiseParameters) {
    let (places, constants) = smoothed(noise)
    // Halfway: with few samples the clock's offset would swing about its value.
    linearise(about: places, base.halfway(to: constants))
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
