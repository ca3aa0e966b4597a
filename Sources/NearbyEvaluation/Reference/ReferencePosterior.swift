// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyGeometry
internal import NearbySimulation

/// The exact posterior of a resting peer's position, by sampling.
///
/// The prior is flat in space. Particles are places of the peer at the first sample; each carries a
/// `ConditionalFilter`, which marginalises the drift and the radio's constant errors analytically and
/// gives the place's likelihood. The particles are weighted sample by sample. When their effective number
/// falls below half, they are resampled and moved by Markov chain steps that leave the posterior of all
/// samples so far unchanged (iterated batch importance sampling, Chopin 2002; the steps are those of
/// differential evolution, ter Braak 2006). Nothing is linearised in the place, so that bent posteriors
/// and mirror images are as they are.
///
/// Two populations that know nothing of each other give the accuracy: ``Moment/meanError``.
package struct ReferencePosterior: Sendable {
  /// The posterior after one sample.
  package struct Moment: Sendable {
    /// The mean of the peer's position in the odometry's world as it is at that time, metres.
    package var mean: Vector3
    /// Its covariance, m².
    package var covariance: SymmetricMatrix3
    /// The standard error of the mean in posterior sigmas, per axis: half the Mahalanobis distance
    /// between the means of two independent populations, over √3.
    package var meanError: Double
    /// The effective number of particles.
    package var effectiveCount: Double
  }

  /// Particles in each of the two populations.
  package var count = 1000
  /// Markov chain steps of each particle after a resampling.
  package var sweeps = 4

  private let model: ReferenceModel
  private let observations: [ReferenceObservation]

  /// Makes the posterior of observations.
  package init(_ model: ReferenceModel, _ observations: [ReferenceObservation]) {
    self.model = model
    self.observations = observations
  }

  /// The posterior after some of the samples.
  ///
  /// - Parameters:
  ///   - indices: The indices of those samples, ascending.
  ///   - seed: The seed of the particles.
  /// - Returns: One moment for each index; empty when the first sample has no range.
  package func moments(after indices: [Int], seed: UInt64) -> [Moment] {
    let halves = (0..<2 as Range<UInt64>).map { half in
      var population = ParticlePopulation(
        count: count, sweeps: sweeps, model, observations,
        SeededGenerator(seed: seed, stream: 5_000_000 + half))
      return population.summaries(after: indices)
    }
    return zip(halves[0], halves[1]).map(Self.combined)
  }

  private static func combined(
    _ a: ParticlePopulation.Summary, _ b: ParticlePopulation.Summary
  ) -> Moment {
    let half = 0.5 * (a.mean - b.mean)
    let covariance =
      0.5 * (a.covariance + b.covariance) + SymmetricMatrix3(outer: half)
    let square = covariance.positiveDefiniteInverse?.quadraticForm(half) ?? .infinity
    return Moment(
      mean: 0.5 * (a.mean + b.mean), covariance: covariance, meanError: (square / 3).squareRoot(),
      effectiveCount: a.effectiveCount + b.effectiveCount)
  }
}

/// Weighted places of the peer at the first sample.
struct ParticlePopulation {
  /// The mean and the covariance of the peer's position now.
  struct Summary {
    var mean: Vector3
    var covariance: SymmetricMatrix3
    var effectiveCount: Double
  }

  private struct Particle {
    var start: Vector3
    var filter: ConditionalFilter
    var logWeight: Double
  }

  private let count: Int
  private let sweeps: Int
  private let model: ReferenceModel
  private let observations: [ReferenceObservation]
  private let hasAngles: Bool
  private var generator: SeededGenerator
  private var particles: [Particle] = []

  /// There are more particles at first, since the first angles leave a thousandth of the sphere.
  private static let firstFactor = 16

  init(
    count: Int, sweeps: Int, _ model: ReferenceModel, _ observations: [ReferenceObservation],
    _ generator: SeededGenerator
  ) {
    self.count = count
    self.sweeps = sweeps
    self.model = model
    self.observations = observations
    self.generator = generator
    hasAngles = observations.contains { $0.azimuthRadians != nil || $0.elevationRadians != nil }
  }

  /// The summaries after some observations, whose indices ascend.
  mutating func summaries(after indices: [Int]) -> [Summary] {
    var wanted = indices[...]
    guard drawFirst() else { return [] }
    var summaries: [Summary] = []
    for index in observations.indices {
      for i in particles.indices {
        let before = particles[i].filter.logLikelihood
        particles[i].filter.add(observations[index], model)
        particles[i].logWeight += particles[i].filter.logLikelihood - before
      }
      if effectiveCount(weights()) < Double(particles.count) / 2 { rejuvenate(until: index) }
      if wanted.first == index {
        summaries.append(summary())
        wanted = wanted.dropFirst()
      }
      if wanted.isEmpty { break }
    }
    return summaries
  }

  // MARK: Weights

  /// The weights, which sum to one.
  private func weights() -> [Double] {
    let largest = particles.map(\.logWeight).max() ?? 0
    let weights = particles.map { exp($0.logWeight - largest) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  private func effectiveCount(_ weights: [Double]) -> Double {
    1 / weights.reduce(0) { $0 + $1 * $1 }
  }

  private func summary() -> Summary {
    let weights = weights()
    var mean = Vector3.zero
    for (weight, particle) in zip(weights, particles) { mean += weight * particle.filter.position }
    var covariance = SymmetricMatrix3.zero
    for (weight, particle) in zip(weights, particles) {
      let offset = particle.filter.position - mean
      let part = particle.filter.positionCovariance + SymmetricMatrix3(outer: offset)
      covariance = covariance + weight * part
    }
    return Summary(mean: mean, covariance: covariance, effectiveCount: effectiveCount(weights))
  }

  // MARK: Drawing

  /// Draws places on the shell of the first range, weighted for a prior that is flat in space.
  private mutating func drawFirst() -> Bool {
    guard let first = observations.first, let range = first.range else { return false }
    let scale = model.rangeScaleSigma * range
    let variance =
      model.rangeNoise * model.rangeNoise + model.rangeBiasSigma * model.rangeBiasSigma
      + scale * scale
    // Wider than the likelihood, so that no weight is large.
    let sigma = 1.5 * variance.squareRoot()
    particles = (0..<Self.firstFactor * count).map { _ in
      var (normal, radius) = (0.0, 0.0)
      repeat {
        normal = generator.normal()
        radius = range + sigma * normal
      } while radius < 0.01
      let direction = generator.rotation().act(Vector3(1, 0, 0))
      let start = first.antenna + radius * direction
      return Particle(
        start: start, filter: ConditionalFilter(at: start, hasAngles: hasAngles, model),
        logWeight: 2 * log(radius) + normal * normal / 2)
    }
    return true
  }

  /// Resamples, and moves every particle within the posterior of the observations so far.
  private mutating func rejuvenate(until last: Int) {
    let weights = weights()
    var chosen: [Particle] = []
    chosen.reserveCapacity(count)
    // Systematic resampling.
    var (sum, next) = (0.0, generator.uniform() / Double(count))
    for (weight, particle) in zip(weights, particles) {
      sum += weight
      while next < sum, chosen.count < count {
        chosen.append(particle)
        next += 1 / Double(count)
      }
    }
    // Shuffled, so that the two halves from which steps are taken are alike.
    chosen.shuffle(using: &generator)
    particles = chosen
    for index in particles.indices { particles[index].logWeight = 0 }
    for sweep in 0..<sweeps {
      // 2.38 / √(2 · 3) is the best step for a Gaussian, a shorter one for a bent shell.
      let length = sweep.isMultiple(of: 2) ? 0.97 : 0.3
      let middle = particles.count / 2
      move(0..<middle, byThoseOf: middle..<particles.count, length: length, until: last)
      move(middle..<particles.count, byThoseOf: 0..<middle, length: length, until: last)
    }
  }

  /// One step of differential evolution for some particles, by the differences of others.
  private mutating func move(
    _ moving: Range<Int>, byThoseOf others: Range<Int>, length: Double, until last: Int
  ) {
    for index in moving {
      let a = others.lowerBound + Int(generator.uniform() * Double(others.count))
      let b = others.lowerBound + Int(generator.uniform() * Double(others.count))
      let start =
        particles[index].start + length * (particles[a].start - particles[b].start)
        + generator.normalVector(sigma: 1e-3)
      let chance = generator.uniform()
      var filter = ConditionalFilter(at: start, hasAngles: hasAngles, model)
      for observation in observations[...last] { filter.add(observation, model) }
      if log(chance) < filter.logLikelihood - particles[index].filter.logLikelihood {
        particles[index].start = start
        particles[index].filter = filter
      }
    }
  }
}
