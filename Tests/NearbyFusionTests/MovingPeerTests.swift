// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// The kernels for peers that may move, against their definitions.
@Suite("Moving peers: kernels")
struct MovingPeerTests {
  private static let order = KernelBank.movingOrder
  /// Where the velocity stands in the state, after all that a peer at rest has.
  private static let velocities = Int(NEARBY_STATE_VELOCITY)..<order

  private func hypothesis(
    _ generator: inout SeededGenerator, moves: Bool, weight: Double = 1
  ) -> KernelBank.Hypothesis {
    var result = KernelBank.Hypothesis(
      &generator, position: generator.normalVector(sigma: 3), sigma: 0.5,
      order: KernelBank.movingOrder)
    result.moves = moves
    result.logWeight = log(weight)
    if !moves {
      for velocity in Self.velocities {
        result.mean[velocity] = 0
        for other in 0..<Self.order {
          result.covariance[velocity * Self.order + other] = 0
          result.covariance[other * Self.order + velocity] = 0
        }
      }
    }
    return result
  }

  /// A step in which nothing drifts.
  private func step(seconds: Double, velocitySeconds: Double = 4) -> nearby_motion {
    var motion = nearby_motion()
    motion.seconds = seconds
    motion.horizontal_speed_variance = 0.81
    motion.vertical_speed_variance = 0.09
    motion.velocity_seconds = velocitySeconds
    return motion
  }

  @Test("a step is F x and F P Fᵀ + Q", arguments: 0..<16 as Range<UInt64>)
  func propagation(seed: UInt64) {
    let n = Self.order
    var generator = SeededGenerator(seed: seed)
    let before = hypothesis(&generator, moves: true)
    var bank = KernelBank([before], stride: seed % 2 == 0 ? 1 : 8)
    bank.propagate(step(seconds: 0.7))

    let left = exp(-0.7 / 4)
    var f = [Double](repeating: 0, count: n * n)
    for state in 0..<n { f[state * (n + 1)] = Self.velocities.contains(state) ? left : 1 }
    for axis in 0..<3 { f[axis * n + Self.velocities.lowerBound + axis] = 4 * (1 - left) }
    func times(_ a: [Double], _ b: [Double], transposed: Bool) -> [Double] {
      (0..<n * n).map { (at: Int) -> Double in
        let (row, column) = (at / n, at % n)
        var sum = 0.0
        for k in 0..<n {
          sum += a[row * n + k] * (transposed ? b[column * n + k] : b[k * n + column])
        }
        return sum
      }
    }
    var expected = times(times(f, before.covariance, transposed: false), f, transposed: true)
    for axis in 0..<3 {
      let speed = axis == 1 ? 0.09 : 0.81
      let velocity = Self.velocities.lowerBound + axis
      // The integrals of e^(-2s/4), e^(-s/4) (1 - e^(-s/4)) and (1 - e^(-s/4))², by hand.
      let both = speed * 4 * (1 - left) * (1 - left)
      expected[axis * (n + 1)] += speed * 16 * (2 * 0.7 / 4 - 3 + 4 * left - left * left)
      expected[axis * n + velocity] += both
      expected[velocity * n + axis] += both
      expected[velocity * (n + 1)] += speed * (1 - left * left)
    }
    let covariance = bank.covariance(0)
    for at in 0..<n * n { #expect(abs(covariance[at] - expected[at]) < 1e-12, "element \(at)") }
    for state in 0..<n {
      let mean = (0..<n).reduce(0.0) { $0 + f[state * n + $1] * before.mean[$1] }
      #expect(abs(bank.mean(0)[state] - mean) < 1e-12)
    }
  }

  @Test("two half steps are a whole one", arguments: 0..<8 as Range<UInt64>)
  func halfSteps(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let before = hypothesis(&generator, moves: true)
    var whole = KernelBank([before], stride: 1)
    var halves = whole
    whole.propagate(step(seconds: 1.3))
    halves.propagate(step(seconds: 0.4))
    halves.propagate(step(seconds: 0.9))
    for (a, b) in zip(whole.covariance(0), halves.covariance(0)) { #expect(abs(a - b) < 1e-12) }
    for (a, b) in zip(whole.mean(0), halves.mean(0)) { #expect(abs(a - b) < 1e-12) }
  }

  @Test(
    "what a velocity does in a time is right, however short the time",
    arguments: [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.0399, 0.0401, 0.1, 1, 40, 1e6])
  func straying(ratio: Double) {
    let unit = nearby_ornstein_uhlenbeck_over(ratio)
    // The integrals of e^-2s, e^-s (1 - e^-s) and (1 - e^-s)² by the midpoint rule, scaled.
    let steps = 40_000
    let length = min(ratio, 60)
    var (velocity, both, position, reach) = (0.0, 0.0, 0.0, 0.0)
    for step in 0..<steps {
      let s = (Double(step) + 0.5) / Double(steps) * length
      let (left, come) = (exp(-s), -expm1(-s))
      velocity += left * left
      both += left * come
      position += come * come
      reach += left
    }
    let width = length / Double(steps)
    // Beyond the last step the velocity is forgotten.
    let expected = [
      2 * velocity * width, 2 * both * width, 2 * (position * width + max(0, ratio - length)),
      reach * width,
    ]
    let actual = [unit.velocity, unit.both, unit.position, unit.reach]
    for (a, b) in zip(actual, expected) { #expect(abs(a - b) <= 1e-6 * b, "\(a) and \(b)") }
    #expect(unit.correlation == 1 - unit.reach || abs(unit.correlation - exp(-ratio)) < 1e-300)
    // The variance of the place is that of its velocity's and of what is added.
    let straying = 2 * unit.displacement
    #expect(abs(straying - unit.reach * unit.reach - unit.position) <= 1e-6 * straying)
    // What is added is a covariance.
    #expect(unit.position * unit.velocity > unit.both * unit.both * (1 - 1e-9))
  }

  @Test(
    "a step that is short against the velocity's time takes no variance away", arguments: [1, 8])
  func shortSteps(stride: Int) {
    var generator = SeededGenerator(seed: 4)
    var before = hypothesis(&generator, moves: true)
    before.covariance = before.covariance.map { _ in 0 }
    var bank = KernelBank([before], stride: stride)
    for exponent in -9...0 {
      bank.propagate(step(seconds: pow(10, Double(exponent)), velocitySeconds: 1e4))
      let covariance = bank.covariance(0)
      for axis in 0..<3 {
        let velocity = Self.velocities.lowerBound + axis
        let place = covariance[axis * (Self.order + 1)]
        let speed = covariance[velocity * (Self.order + 1)]
        let both = covariance[axis * Self.order + velocity]
        #expect(place > 0 && speed > 0, "after \(pow(10, Double(exponent))) s")
        #expect(place * speed >= both * both * (1 - 1e-9), "after \(pow(10, Double(exponent))) s")
      }
    }
  }

  @Test("a peer at rest stays where it is")
  func rest() {
    var generator = SeededGenerator(seed: 1)
    let before = hypothesis(&generator, moves: false)
    var bank = KernelBank([before], stride: 1)
    bank.propagate(step(seconds: 100))
    #expect(bank.mean(0) == before.mean)
    #expect(bank.covariance(0) == before.covariance)
  }

  @Test(
    "without a velocity, inliers update a bank as one of peers at rest",
    arguments: 0..<8 as Range<UInt64>
  )
  func updateAtRest(seed: UInt64) {
    let (n, resting) = (Self.order, KernelBank.restingOrder)
    var generator = SeededGenerator(seed: seed)
    let long = hypothesis(&generator, moves: false)
    var short = long
    short.mean = Array(long.mean.prefix(resting))
    short.covariance = (0..<resting * resting).map {
      long.covariance[$0 / resting * n + $0 % resting]
    }
    // A value that is more probably a fault moves nothing in a bank of peers at rest.
    let (antenna, turn) = (Vector3(1, 5, 2), generator.rotation())
    let ray = turn.inverse.act(Vector3(long.mean[0], long.mean[1], long.mean[2]) - antenna)
    let angles = ArrivalAngles(ofDirection: ray)
    var measurement = nearby_measurement(antenna: antenna, worldFromDevice: turn)
    measurement.present = 7
    measurement.value = (
      ray.length + 0.05, angles.azimuthRadians + 0.02, angles.elevationRadians - 0.03, 0
    )
    var (a, b) = (KernelBank([long], stride: 1), KernelBank([short], stride: 1))
    a.update(measurement)
    b.update(measurement)
    for state in 0..<resting {
      #expect(abs(a.mean(0)[state] - b.mean(0)[state]) < 1e-12)
      for other in 0..<resting {
        let (ours, theirs) = (
          a.covariance(0)[state * n + other], b.covariance(0)[state * resting + other]
        )
        #expect(abs(ours - theirs) < 1e-12)
      }
    }
    #expect(a.mean(0)[Self.velocities].allSatisfy { $0 == 0 })
  }

  @Test(
    "mixing keeps the moments of the whole, velocities apart", arguments: 0..<16 as Range<UInt64>)
  func mixing(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let moving = generator.uniform(in: 0.05...0.95)
    var bank = KernelBank(
      [
        hypothesis(&generator, moves: false, weight: 1 - moving),
        hypothesis(&generator, moves: true, weight: moving),
      ], stride: 8)
    let before = bank.naiveMoments()
    let (still, underway) = (bank.mean(0), bank.mean(1))
    bank.mix(start: 0.1, stop: 0.3, speedVariances: (0.81, 0.09))
    let after = bank.naiveMoments()
    for (a, b) in zip(before.mean + before.covariance, after.mean + after.covariance) {
      #expect(abs(a - b) < 1e-12)
    }
    let moves = (1 - moving) * 0.1 + moving * 0.7
    #expect(abs(bank.weight(1) - moves) < 1e-12)
    #expect(abs(bank.weight(0) + bank.weight(1) - 1) < 1e-12)
    // Of those that move now, so many have just started, with no velocity on average.
    let started = (1 - moving) * 0.1 / moves
    let velocity = Self.velocities.lowerBound
    #expect(abs(bank.mean(1)[velocity] - (1 - started) * underway[velocity]) < 1e-12)
    #expect(abs(bank.mean(1)[0] - ((1 - started) * underway[0] + started * still[0])) < 1e-12)
    #expect(bank.mean(0)[Self.velocities].allSatisfy { $0 == 0 })
    for velocity in Self.velocities {
      #expect((0..<Self.order).allSatisfy { bank.covariance(0)[velocity * Self.order + $0] == 0 })
    }
    #expect(positiveDefiniteInverse(of: bank.covariance(1), order: Self.order) != nil)
  }

  @Test("hypotheses at rest and moving never merge")
  func kindsStayApart() {
    var generator = SeededGenerator(seed: 3)
    var moving = hypothesis(&generator, moves: true, weight: 0.5)
    var still = hypothesis(&generator, moves: false, weight: 0.5)
    (still.mean, moving.mean) = (moving.mean, moving.mean)
    for velocity in Self.velocities { still.mean[velocity] = 0 }
    for row in 0..<KernelBank.restingOrder {
      for column in 0..<KernelBank.restingOrder {
        let at = row * Self.order + column
        still.covariance[at] = moving.covariance[at]
      }
    }
    var bank = KernelBank([still, moving], stride: 8)
    bank.reduce(most: 96, pruningWeight: 1e-6, mergingLoss: 0.05)
    #expect(bank.count == 2)
  }
}
