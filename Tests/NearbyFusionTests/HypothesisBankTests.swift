// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// The kernels of the bank against each other and against their definitions.
@Suite("Hypothesis bank")
struct HypothesisBankTests {
  private static let order = Int(NEARBY_STATE_SIZE)

  // MARK: - Random inputs

  private func place(_ generator: inout SeededGenerator) -> Vector3 {
    generator.normalVector(sigma: 4) + Vector3(3, 0, -3)
  }

  private func motion(_ generator: inout SeededGenerator) -> nearby_motion {
    let device = generator.normalVector()
    var motion = nearby_motion()
    motion.device_in_world = (device.x, device.y, device.z)
    motion.horizontal_diffusion = generator.uniform() * 1e-3
    motion.vertical_diffusion = generator.uniform() * 1e-3
    motion.yaw_diffusion = generator.uniform() < 0.3 ? 0 : generator.uniform() * 1e-4
    return motion
  }

  private func errorStep(_ generator: inout SeededGenerator) -> nearby_error_step {
    nearby_error_step(
      range: generator.uniform(), range_added: generator.uniform() * 1e-2,
      azimuth: generator.uniform(), azimuth_added: generator.uniform() * 4e-3,
      elevation: generator.uniform(), elevation_added: generator.uniform() * 8e-3, fault: 0.9,
      height: 1, height_added: 0)
  }

  private func measurement(
    _ generator: inout SeededGenerator, of peer: Vector3, present: Int32
  ) -> nearby_measurement {
    let turn = generator.rotation()
    let antenna = generator.normalVector()
    var result = nearby_measurement(antenna: antenna, worldFromDevice: turn)
    let ray = turn.inverse.act(peer - antenna)
    let angles = ArrivalAngles(ofDirection: ray)
    result.present = present
    let excess = generator.uniform() < 0.1 ? generator.exponential(mean: 2) : 0
    result.value = (
      ray.length + generator.normal(sigma: 0.1) + excess,
      (angles.azimuthRadians + generator.normal(sigma: 0.06)).remainder(dividingBy: 2 * .pi),
      angles.elevationRadians + generator.normal(sigma: 0.09), 0
    )
    if generator.uniform() < 0.5 {
      result.previous = (result.value.0 + 0.1, result.value.1 - 0.05, result.value.2, 0)
    }
    return result
  }

  private func choleskySucceeds(_ matrix: [Double]) -> Bool {
    positiveDefiniteInverse(of: matrix, order: Self.order) != nil
  }

  // MARK: - Lanes against one

  @Test("in lanes and alone the numbers are the same", arguments: 0..<24 as Range<UInt64>)
  func lanesAgainstSingle(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let count = 2 + Int(seed % 12)
    // Wide, so that the single path takes the curvature into account as lanes always do.
    let hypotheses = (0..<count).map { _ in
      KernelBank.Hypothesis(&generator, position: place(&generator), sigma: 1.2)
    }
    for present in 0..<8 as Range<Int32> {
      var lanes = KernelBank(hypotheses, stride: (count + 7) / 8 * 8)
      var singles = hypotheses.map { KernelBank([$0], stride: 1) }
      let motion = motion(&generator)
      let errors = errorStep(&generator)
      let measurement = measurement(&generator, of: place(&generator), present: present)
      lanes.propagate(motion, errors)
      lanes.update(measurement)
      for index in singles.indices {
        singles[index].propagate(motion, errors)
        singles[index].update(measurement)
        // One alone is not weighed.
        for field in 0..<Int(NEARBY_FIELD_COUNT) where field != Int(NEARBY_FIELD_LOG_WEIGHT) {
          let (a, b) = (lanes[field, index], singles[index][field, 0])
          #expect(
            abs(a - b) <= 1e-9 * max(1, abs(b)),
            "field \(field) of \(index), present \(present), seed \(seed): \(a) and \(b)")
        }
      }
    }
  }

  @Test(
    "whatever vectors the kernels are compiled for, the numbers are the same",
    arguments: (0...nearby_widest_vectors().rawValue).map(nearby_vectors.init(rawValue:)),
    [1, 2, 4, 5, 8, 13])
  func vectors(vectors: nearby_vectors, count: Int) {
    for (seed, order) in [
      (UInt64(3), KernelBank.restingOrder), (4, KernelBank.movingOrder),
      (5, KernelBank.heightOrder),
    ] {
      var generator = SeededGenerator(seed: seed)
      // Narrow and wide: alone, one is flat to the models and the other is not.
      for sigma in [0.01, 1.2] {
        let hypotheses = (0..<count).map { index in
          var hypothesis = KernelBank.Hypothesis(
            &generator, position: place(&generator), sigma: sigma, order: order)
          hypothesis.moves = order == KernelBank.movingOrder && index % 2 == 0
          return hypothesis
        }
        let before = KernelBank(hypotheses, stride: count == 1 ? 1 : (count + 7) / 8 * 8)
        for present in 0..<16 as Range<Int32> {
          let measurement = measurement(&generator, of: place(&generator), present: present)
          var (one, other) = (before, before)
          one.update(measurement, in: NEARBY_VECTORS_OF_ANY)
          other.update(measurement, in: vectors)
          for index in 0..<count {
            for field in 0..<one.fields.count / one.stride {
              let (a, b) = (one[field, index], other[field, index])
              #expect(
                abs(a - b) <= 1e-9 * max(1, abs(b)),
                "field \(field) of \(index), present \(present): \(a) and \(b)")
            }
          }
        }
      }
    }
  }

  @Test(
    "an advance over a path is a prediction with its correlation factors and an update",
    arguments: [0, 0.003, 0.4, 3, 800], [1, 2, 8])
  func advanceOverPath(length: Double, count: Int) {
    // Of a measurement in which nothing is present the prediction is left.
    let (resting, height, moving) = (
      KernelBank.restingOrder, KernelBank.heightOrder, KernelBank.movingOrder
    )
    let cases: [(seed: UInt64, order: Int, present: Int32, most: Double)] = [
      (1, resting, 7, 1e-10), (2, moving, 15, 1e-10), (3, resting, 0, 1e-13),
      (4, moving, 0, 1e-13), (5, height, 15, 1e-10), (6, height, 0, 1e-13),
    ]
    for (seed, order, present, most) in cases {
      var generator = SeededGenerator(seed: seed)
      let hypotheses = (0..<count).map { _ in
        KernelBank.Hypothesis(
          &generator, position: place(&generator), sigma: 1, order: order)
      }
      var motion = motion(&generator)
      motion.seconds = 0.4
      motion.velocity_seconds = 3
      var travelled = KernelBank(hypotheses, stride: count == 1 ? 1 : 8)
      // A range fault that has lasted: how much of it repeats itself depends on the way, too.
      for index in 0..<count {
        travelled[Int(NEARBY_FIELD_FAULT), index] = 0.5
        travelled[Int(NEARBY_FIELD_RANGE_RESIDUAL), index] = 0.7
      }
      var stepped = travelled
      let measurement = measurement(&generator, of: place(&generator), present: present)
      let factors = travelled.advance(
        motion,
        nearby_travel(
          range: length, range_variance: 0.01, angle: 0.7 * length, azimuth_variance: 0.002,
          fault: 0.2 * length, elevation_variance: 0.003, height: 0.1 * length,
          height_variance: 0.25),
        to: measurement)
      let expected = [
        exp(-length), exp(-0.7 * length), exp(-0.2 * length), exp(-0.1 * length),
      ]
      for (a, b) in zip([factors.range, factors.angle, factors.fault], expected) {
        #expect(abs(a - b) <= (3e-14 + 1e-15 * length) * b + 1e-260)
      }
      let decorrelation = expected.map { 1 - $0 * $0 }
      stepped.propagate(
        motion,
        nearby_error_step(
          range: expected[0], range_added: decorrelation[0] * 0.01, azimuth: expected[1],
          azimuth_added: decorrelation[1] * 0.002, elevation: expected[1],
          elevation_added: decorrelation[1] * 0.003, fault: expected[2],
          height: expected[3], height_added: decorrelation[3] * 0.25)
      )
      stepped.update(measurement, faultCorrelation: expected[2])
      for index in 0..<count {
        for field in 0..<travelled.fields.count / travelled.stride {
          let (a, b) = (travelled[field, index], stepped[field, index])
          #expect(abs(a - b) <= most * max(1, abs(b)), "field \(field) of \(index)")
        }
      }
    }
  }

  @Test("what a flat model leaves out matters little", arguments: 0..<400 as Range<UInt64>)
  func flatAgainstCurved(seed: UInt64) {
    // From far too wide for flat models to clearly narrow enough; lanes are curved whatever they hold.
    var generator = SeededGenerator(seed: seed)
    let peer = place(&generator)
    let hypothesis = KernelBank.Hypothesis(
      &generator, position: peer, sigma: 0.01 * pow(30, generator.uniform()))
    var measurement = measurement(&generator, of: peer, present: Int32(1 + seed % 7))
    // No faults: a probability near one half, or a step of metres, would make much of little.
    measurement.fault_onset = (0, 0, 0, 0)
    let antenna = measurement.antenna_in_world
    measurement.value.0 =
      (peer - Vector3(antenna.0, antenna.1, antenna.2)).length + generator.normal(sigma: 0.1)
    var curved = KernelBank([hypothesis], stride: 8)
    var single = KernelBank([hypothesis], stride: 1)
    curved.update(measurement)
    single.update(measurement)
    let (a, b) = (single.mean(0), curved.mean(0))
    let (p, q) = (single.covariance(0), curved.covariance(0))
    for state in 0..<Self.order {
      let variance = q[state * Self.order + state]
      #expect(abs(a[state] - b[state]) < 0.05 * variance.squareRoot())
      #expect(abs(p[state * Self.order + state] / variance - 1) < 0.05)
    }
  }

  // MARK: - Against the textbook

  /// The textbook's update with several values at once, without a thought of faults.
  private func jointUpdate(
    _ hypothesis: KernelBank.Hypothesis, _ jacobians: [[Double]], _ innovations: [Double],
    _ noise: [Double]
  ) throws -> (mean: [Double], covariance: [Double], logLikelihood: Double) {
    let (n, m) = (Self.order, jacobians.count)
    let p = hypothesis.covariance
    let gains = jacobians.map { h in
      (0..<n).map { row in (0..<n).reduce(0.0) { $0 + p[row * n + $1] * h[$1] } }
    }
    let s = (0..<m * m).map { at in
      let (i, j) = (at / m, at % m)
      return (0..<n).reduce(i == j ? noise[i] : 0) { $0 + jacobians[i][$1] * gains[j][$1] }
    }
    let inverse = try #require(positiveDefiniteInverse(of: s, order: m))
    let weights = (0..<m).map { i in
      (0..<m).reduce(0.0) { $0 + inverse[i * m + $1] * innovations[$1] }
    }
    let mean = (0..<n).map { row in
      (0..<m).reduce(hypothesis.mean[row]) { $0 + gains[$1][row] * weights[$1] }
    }
    let covariance = (0..<n * n).map { at in
      (0..<m * m).reduce(p[at]) { sum, pair in
        sum - gains[pair / m][at / n] * inverse[pair] * gains[pair % m][at % n]
      }
    }
    let squared = zip(innovations, weights).reduce(0.0) { $0 + $1.0 * $1.1 }
    let determinant =
      m == 1
      ? s[0]
      : m == 2
        ? s[0] * s[3] - s[1] * s[2]
        : s[0] * (s[4] * s[8] - s[5] * s[7]) - s[1] * (s[3] * s[8] - s[5] * s[6])
          + s[2] * (s[3] * s[7] - s[4] * s[6])
    let logLikelihood = -0.5 * (squared + Double(m) * log(2 * .pi) + log(determinant))
    return (mean, covariance, logLikelihood)
  }

  @Test(
    "obvious inliers are a Kalman update, all components at once",
    arguments: 0..<12 as Range<UInt64>, [1, 8] as [Int])
  func kalmanUpdate(seed: UInt64, stride: Int) throws {
    let n = Self.order
    var generator = SeededGenerator(seed: seed)
    let hypothesis = KernelBank.Hypothesis(
      &generator, position: Vector3(4, 1, -5) + generator.normalVector(), sigma: 0.005)
    for present in 1..<8 as Range<Int32> {
      var from = nearby_measurement(
        antenna: generator.normalVector(), worldFromDevice: generator.rotation())
      from.fault_onset = (0, 0, 0, 0)
      from.present = present
      var pose = nearby_antenna_pose(
        antenna_in_world: from.antenna_in_world, device_from_world: from.device_from_world)
      // With no offset of height differences.
      let state = hypothesis.mean + [0]
      var jacobians = [[Double]](
        repeating: [Double](repeating: 0, count: KernelBank.heightOrder), count: 3)
      let predicted = [
        unsafe nearby_predict(Int32(NEARBY_RANGE), state, &pose, &jacobians[0]),
        unsafe nearby_predict(Int32(NEARBY_AZIMUTH), state, &pose, &jacobians[1]),
        unsafe nearby_predict(Int32(NEARBY_ELEVATION), state, &pose, &jacobians[2]),
      ]
      let innovations = (0..<3).map { _ in generator.uniform(in: 0.02...0.1) }
      from.value = (
        predicted[0] + innovations[0], predicted[1] + innovations[1],
        predicted[2] + innovations[2], 0
      )
      let noise = [from.variance.0, from.variance.1, from.variance.2]
      var bank = KernelBank([hypothesis], stride: stride)
      bank.update(from)

      let components = (0..<3).filter { present & 1 << Int32($0) != 0 }
      let expected = try jointUpdate(
        hypothesis, components.map { Array(jacobians[$0].prefix(n)) },
        components.map { innovations[$0] },
        components.map { noise[$0] })
      // In lanes the curvature, of order P/r, comes on top, and each is linearised after the other.
      let tolerance = stride == 1 ? 1e-11 : 1e-3
      let (mean, covariance) = (bank.mean(0), bank.covariance(0))
      for row in 0..<n {
        let sigma = hypothesis.covariance[row * (n + 1)].squareRoot()
        #expect(
          abs(mean[row] - expected.mean[row]) <= tolerance * sigma + 1e-13, "\(present), \(row)")
        for column in 0..<n {
          let scale =
            sigma * hypothesis.covariance[column * (n + 1)].squareRoot()
          let at = row * n + column
          #expect(abs(covariance[at] - expected.covariance[at]) <= tolerance * scale + 1e-16)
        }
      }
      // One alone is not weighed.
      let logWeight = bank[Int(NEARBY_FIELD_LOG_WEIGHT), 0]
      #expect(stride == 1 ? logWeight == 0 : abs(logWeight - expected.logLikelihood) < 1e-2)
      for component in components {
        #expect(abs(bank[Int(NEARBY_FIELD_INLIER) + component, 0] - 1) < 1e-12)
      }
    }
  }

  @Test("a constant error stays over time, a wandering one is forgotten", arguments: [1, 8])
  func biasesStay(stride: Int) {
    var generator = SeededGenerator(seed: 8)
    let before = KernelBank.Hypothesis(&generator, position: Vector3(4, 1, -5), sigma: 0.1)
    var bank = KernelBank([before], stride: stride)
    bank.propagate(
      nearby_motion(),
      nearby_error_step(
        range: 0.5, range_added: 0.01, azimuth: 0.4, azimuth_added: 0.002, elevation: 0.3,
        elevation_added: 0.003, fault: 1, height: 1, height_added: 0))
    let factors = [0.5, 0.4, 0.3]
    let added = [0.01, 0.002, 0.003]
    for component in 0..<3 {
      let bias = Int(NEARBY_STATE_RANGE_BIAS) + component
      let wander = Int(NEARBY_STATE_RANGE_WANDER) + component
      let n = Self.order
      let (mean, p) = (bank.mean(0), bank.covariance(0))
      let (meanBefore, pBefore) = (before.mean, before.covariance)
      #expect(mean[bias] == meanBefore[bias])
      #expect(abs(mean[wander] - factors[component] * meanBefore[wander]) < 1e-14)
      #expect(p[bias * (n + 1)] == pBefore[bias * (n + 1)])
      #expect(abs(p[bias * n + wander] - factors[component] * pBefore[bias * n + wander]) < 1e-14)
      let variance = factors[component] * factors[component] * pBefore[wander * (n + 1)]
      #expect(abs(p[wander * (n + 1)] - variance - added[component]) < 1e-14)
    }
  }

  @Test("an absurd value with a chance of a fault hardly moves anything")
  func outlierIsIgnored() {
    var generator = SeededGenerator(seed: 5)
    let hypothesis = KernelBank.Hypothesis(&generator, position: Vector3(4, 1, -5), sigma: 0.1)
    var from = nearby_measurement(antenna: .zero, worldFromDevice: .identity)
    from.present = 1
    from.value.0 = 15
    var bank = KernelBank([hypothesis], stride: 1)
    bank.update(from)
    for (after, before) in zip(bank.mean(0), hypothesis.mean) {
      #expect(abs(after - before) < 1e-9)
    }
    #expect(bank[Int(NEARBY_FIELD_FAULT), 0] > 0.999)
  }

  // MARK: - Positive definite

  @Test(
    "the covariance stays positive definite", arguments: 0..<2 as Range<UInt64>, [1, 8] as [Int])
  func staysPositiveDefinite(seed: UInt64, stride: Int) {
    var generator = SeededGenerator(seed: seed, stream: UInt64(stride))
    let peer = place(&generator)
    let hypotheses = (0..<(stride == 1 ? 1 : 3)).map { _ in
      KernelBank.Hypothesis(
        &generator, position: peer + generator.normalVector(sigma: 1), sigma: 2)
    }
    var bank = KernelBank(hypotheses, stride: stride)
    for step in 0..<10_000 {
      if generator.uniform() < 0.5 { bank.propagate(motion(&generator), errorStep(&generator)) }
      let present = Int32(generator.uniform() * 8)
      bank.update(measurement(&generator, of: peer, present: present))
      bank.normalize()
      for index in 0..<bank.count where !choleskySucceeds(bank.covariance(index)) {
        Issue.record("not positive definite: seed \(seed), step \(step), hypothesis \(index)")
        return
      }
    }
    #expect(bank.fields.allSatisfy { !$0.isNaN })
  }

  // MARK: - Reduction and moments

  private func crowd(_ generator: inout SeededGenerator, count: Int) -> KernelBank {
    var centers = (0..<3).map { _ in place(&generator) }
    centers.append(centers[0])
    let hypotheses = (0..<count).map { index in
      var one = KernelBank.Hypothesis(
        &generator, position: centers[index % 4] + generator.normalVector(sigma: 0.3), sigma: 0.5)
      one.logWeight = generator.normal(sigma: 1)
      return one
    }
    var bank = KernelBank(hypotheses, stride: (count + 7) / 8 * 8)
    bank.normalize()
    return bank
  }

  @Test("shares sum to one after normalising, however unlikely all are")
  func normalizing() {
    var generator = SeededGenerator(seed: 2)
    var bank = crowd(&generator, count: 13)
    let before = bank.weights
    #expect(abs(before.reduce(0, +) - 1) < 1e-12)
    for index in 0..<13 { bank[Int(NEARBY_FIELD_LOG_WEIGHT), index] -= 5000 }
    bank.normalize()
    for (a, b) in zip(bank.weights, before) { #expect(abs(a - b) < 1e-10) }
  }

  @Test("moments are those of the mixture", arguments: 0..<12 as Range<UInt64>)
  func moments(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var bank = crowd(&generator, count: 1 + Int(seed))
    let (mean, covariance) = bank.moments()
    let naive = bank.naiveMoments()
    for (a, b) in zip(mean + covariance, naive.mean + naive.covariance) {
      #expect(abs(a - b) <= 1e-11 * max(1, abs(b)))
    }
  }

  @Test("merging keeps share, mean and covariance", arguments: 0..<12 as Range<UInt64>)
  func mergingPreservesMoments(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var bank = crowd(&generator, count: 24)
    let before = bank.naiveMoments()
    bank.reduce(most: 24, pruningWeight: 0, mergingLoss: 0.2)
    #expect(bank.count < 24 && bank.count > 1)
    #expect(abs(bank.weights.reduce(0, +) - 1) < 1e-12)
    let after = bank.naiveMoments()
    for (a, b) in zip(after.mean + after.covariance, before.mean + before.covariance) {
      #expect(abs(a - b) <= 1e-11 * max(1, abs(b)))
    }
    for index in 0..<bank.count { #expect(choleskySucceeds(bank.covariance(index))) }
  }

  @Test(
    "merges are those of Runnalls' bound, pair by pair", arguments: 0..<16 as Range<UInt64>,
    [0.02, 0.2] as [Double])
  func mergingAgainstDefinition(seed: UInt64, limit: Double) {
    var generator = SeededGenerator(seed: seed)
    var bank = crowd(&generator, count: 5 + 3 * Int(seed))
    let expected = bank.naivelyMerged(limit: limit)
    bank.reduce(most: bank.count, pruningWeight: 0, mergingLoss: limit)
    #expect(bank.count == expected.count, "of \(5 + 3 * seed)")
    for index in 0..<min(bank.count, expected.count) {
      #expect(abs(bank.weight(index) - expected[index].weight) < 1e-12)
      for (a, b) in zip(bank.mean(index), expected[index].mean) { #expect(abs(a - b) < 1e-11) }
      for (a, b) in zip(bank.covariance(index), expected[index].covariance) {
        #expect(abs(a - b) < 1e-11)
      }
    }
  }

  @Test(
    "at most so many are left, the heaviest of them first", arguments: 0..<8 as Range<UInt64>,
    [1, 3, 8] as [Int])
  func most(seed: UInt64, most: Int) {
    var generator = SeededGenerator(seed: seed)
    var bank = crowd(&generator, count: 20)
    let heaviest = bank.weights.sorted(by: >).prefix(most)
    bank.reduce(most: most, pruningWeight: 0, mergingLoss: 0)
    #expect(bank.count == most)
    let total = heaviest.reduce(0, +)
    for (a, b) in zip(bank.weights, heaviest) { #expect(abs(a - b / total) < 1e-12) }
  }

  @Test("light ones are dropped", arguments: 0..<4 as Range<UInt64>, [0.02, 0.03, 1])
  func pruning(seed: UInt64, share: Double) {
    var generator = SeededGenerator(seed: seed)
    var bank = crowd(&generator, count: 20)
    // But never one that has half of an even share.
    let heavy = bank.weights.filter { $0 >= min(share, 0.025) }.count
    bank.reduce(most: 20, pruningWeight: share, mergingLoss: 0)
    #expect(heavy > 0 && heavy < 20)
    #expect(bank.count == heavy)
  }

  @Test("a crowd of equals is not dropped for being many", arguments: [2, 13, 192])
  func pruningOfEquals(count: Int) {
    var generator = SeededGenerator(seed: 3)
    let hypotheses = (0..<count).map { index in
      KernelBank.Hypothesis(&generator, position: Vector3(20 * Double(index), 0, 0), sigma: 0.5)
    }
    var bank = KernelBank(hypotheses, stride: (count + 7) / 8 * 8)
    bank.normalize()
    bank.reduce(most: count, pruningWeight: 1, mergingLoss: 0)
    #expect(bank.count == count)
  }

  @Test("the heaviest survives among many of equal share")
  func tiesDoNotCrowdOut() {
    var generator = SeededGenerator(seed: 1)
    let hypotheses = (0..<8).map { index in
      var one = KernelBank.Hypothesis(
        &generator, position: Vector3(20 * Double(index), 0, 0), sigma: 0.5)
      one.logWeight = index == 7 ? log(0.65) : log(0.05)
      return one
    }
    var bank = KernelBank(hypotheses, stride: 8)
    bank.reduce(most: 4, pruningWeight: 0, mergingLoss: 0)
    #expect(bank.count == 4)
    // Those at the cut come in by their order, and may fill the places before heavier ones come.
    #expect(abs(bank[0, 0] - 140) < 1e-9)
  }
}
