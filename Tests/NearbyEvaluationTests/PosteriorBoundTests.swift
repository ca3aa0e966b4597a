// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEvaluation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@Suite("PosteriorBound")
struct PosteriorBoundTests {
  /// The Fisher information of all samples at once about
  /// `[p, range bias, range scale, azimuth field, elevation field]`, inverted by LAPACK.
  ///
  /// Without drift the recursion must give the same result. The two share only the code of the
  /// gradients.
  @Test("without drift the recursion equals the inverse of the batch information", arguments: 0..<4)
  func batchInformation(seed: UInt64) throws {
    var scenario = Scenario(.wanderingWalk)
    scenario.odometry.positionDrift = 0
    scenario.odometry.yawDriftRadians = 0
    scenario.radio.measuresAngles = seed % 2 == 0
    scenario.radio.rangeScaleSigma = 0.03
    scenario.radio.rangeFaults = .init(share: 0.2, persistence: 0.5)
    let run = scenario.simulated(seed: seed)
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0.03)
    model.positionSigma = 100
    let order = 5 + 2 * DirectionField.count
    var information = [Double](repeating: 0, count: order * order)
    func add(_ row: [Double], sigma: Double) {
      for i in 0..<order {
        for j in 0..<order { information[i * order + j] += row[i] * row[j] / (sigma * sigma) }
      }
    }
    for index in 0..<order {
      var unit = [Double](repeating: 0, count: order)
      unit[index] = 1
      let sigmas = [100, 100, 100, model.rangeBiasSigma, model.rangeScaleSigma]
      add(
        unit,
        sigma: index < 5
          ? sigmas[index]
          : index < 5 + DirectionField.count ? model.azimuth.bias : model.elevation.bias)
    }
    for sample in run.samples {
      let device = sample.odometryFromDevice
      let ray = sample.peerInOdometry - device.act(run.antennaInDevice)
      let unit = (1 + run.rangeScale) * ray.normalized
      let zeros = [Double](repeating: 0, count: DirectionField.count)
      if !sample.isRangeFaulty {
        add([unit.x, unit.y, unit.z, 1, ray.length] + zeros + zeros, sigma: model.rangeNoise)
      }
      guard sample.azimuthRadians != nil else { continue }
      let rayInDevice = device.rotation.inverse.act(ray)
      let gradients = PosteriorBound.angleGradients(rayInDevice)
      let basis = DirectionField.basis(at: rayInDevice)
      let a = device.rotation.act(gradients.azimuth)
      let e = device.rotation.act(gradients.elevation)
      add([a.x, a.y, a.z, 0, 0] + basis + zeros, sigma: model.azimuth.noise)
      add([e.x, e.y, e.z, 0, 0] + zeros + basis, sigma: model.elevation.noise)
    }
    let covariance = try #require(positiveDefiniteInverse(of: information, order: order))
    let batch = (covariance[0] + covariance[order + 1] + covariance[2 * order + 2]).squareRoot()
    let recursive = try #require(PosteriorBound.positionSigmas(of: run, model).last)
    #expect(abs(recursive - batch) < 1e-6 * batch, "\(recursive) against \(batch)")
  }

  @Test("three ranges along the axes, without bias: each axis is known as well as one range")
  func handComputed() {
    // From (±3, 0, 0), (0, 3, 0) and (0, 0, 3) to the origin: J = diag(2, 1, 1) / σ².
    var scenario = Scenario(.standingStill)
    scenario.radio.measuresAngles = false
    scenario.radio.rangeBiasSigma = 0
    scenario.radio.antennaInDevice = .zero
    var run = scenario.simulated(seed: 0)
    let places = [Vector3(3, 0, 0), Vector3(-3, 0, 0), Vector3(0, 3, 0), Vector3(0, 0, 3)]
    run.samples = places.map { place in
      var sample = run.samples[0]
      sample.odometryFromDevice = RigidTransform(rotation: .identity, translation: place)
      sample.peerInOdometry = .zero
      return sample
    }
    let model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    let sigma = PosteriorBound.positionSigmas(of: run, model)[3]
    #expect(abs(sigma - 0.1 * 2.5.squareRoot()) < 1e-6)
  }

  @Test("drift alone grows the bound by its random walk")
  func driftAlone() {
    // Variance of the place: 3 s² metres + y² metres · horizontal distance².
    var scenario = Scenario(.standingStill)
    scenario.odometry.positionDrift = 0.03
    scenario.odometry.yawDriftRadians = 0.01
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    model.positionSigma = 0
    var run = scenario.simulated(seed: 0)
    run.samples = [0.0, 4.0].map { travelled in
      var sample = run.samples[0]
      sample.isRangeFaulty = true
      sample.azimuthRadians = nil
      sample.elevationRadians = nil
      sample.odometryFromDevice = .identity
      sample.peerInOdometry = Vector3(3, 7, -4)
      sample.travelled = travelled
      return sample
    }
    let sigma = PosteriorBound.positionSigmas(of: run, model)[1]
    #expect(abs(sigma * sigma - (3 * 0.0009 * 4 + 0.0001 * 4 * 25)) < 1e-12)
  }

  @Test("a height difference tells the height but for its offset, which drifts")
  func heightDifferences() {
    var scenario = Scenario(.standingStill)
    scenario.barometers.noise = 0.2
    scenario.barometers.offsetSigma = 0.6
    scenario.barometers.offsetSeconds = 10
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    model.positionSigma = 2
    var run = scenario.simulated(seed: 0)
    run.samples = [0.0, 5].map { seconds in
      var sample = run.samples[0]
      sample.isRangeFaulty = true
      sample.azimuthRadians = nil
      sample.elevationRadians = nil
      sample.heightDifference = 1
      sample.seconds = seconds
      return sample
    }
    // Two values of height plus offset, the offsets with a correlation of exp(-1/2): the information on
    // the height is the sum of the inverse of their covariance.
    let (own, shared) = (0.04 + 0.36, 0.36 * exp(-0.5))
    let information = 1 / 4.0 + 2 / (own + shared)
    let sigma = PosteriorBound.positionSigmas(of: run, model)[1]
    #expect(abs(sigma * sigma - (4 + 4 + 1 / information)) < 1e-9)
  }

  @Test("on a straight line ranges alone never resolve the peer; angles do at once")
  func straightLine() throws {
    var scenario = Scenario(.straightLine)
    let withAngles = PosteriorBound.positionSigmas(
      of: scenario.simulated(seed: 1), .init(scenario, rangeScaleSigma: 0))
    scenario.radio.measuresAngles = false
    let withoutAngles = PosteriorBound.positionSigmas(
      of: scenario.simulated(seed: 1), .init(scenario, rangeScaleSigma: 0))
    #expect(try #require(withAngles.last) < 0.5)
    #expect(try #require(withoutAngles.last) > 2)
  }

  @Test("a bias that forgets its direction bounds more loosely than one that does not")
  func gaussMarkov() throws {
    let scenario = Scenario(.sweepThenWalk)
    let run = scenario.simulated(seed: 3)
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    var sigmas: [Double] = []
    for correlation in [1e6, 0.5, 0.05] {
      model.angleBias = .gaussMarkov(correlation: correlation)
      sigmas.append(try #require(PosteriorBound.positionSigmas(of: run, model).last))
    }
    #expect(sigmas.allSatisfy { $0 > 0 && $0 < 0.5 })
    model.azimuth.biasDegrees = 0
    model.elevation.biasDegrees = 0
    let unbiased = try #require(PosteriorBound.positionSigmas(of: run, model).last)
    #expect(sigmas.allSatisfy { $0 > unbiased })
  }

  // MARK: - Peers that walk, components that are missing

  /// Samples without measurements, a second apart, from the origin to a peer at a given position.
  private func silent(_ run: SimulatedRun, _ count: Int, peer: Vector3) -> SimulatedRun {
    var run = run
    run.samples = (0..<count).map { index in
      var sample = run.samples[0]
      sample.seconds = Double(index)
      sample.distance = nil
      sample.azimuthRadians = nil
      sample.elevationRadians = nil
      sample.odometryFromDevice = .identity
      sample.peerInOdometry = peer
      sample.travelled = 0
      return sample
    }
    return run
  }

  @Test("a walking peer's position spreads by its velocity and by white acceleration")
  func walking() {
    // After t: v² t² + q t³ / 3 along each of two horizontal axes; none along gravity.
    let scenario = Scenario(.standingStill)
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    model.positionSigma = 0
    model.peer = .walking(speedSigma: 0.8, accelerationDensity: 0.6)
    let run = silent(scenario.simulated(seed: 0), 4, peer: Vector3(3, 1, 0))
    var bound = PosteriorBound(model)
    for sample in run.samples { bound.add(sample, of: run) }
    let covariance = bound.positionCovariance
    let expected = 0.64 * 9 + 0.6 * 27 / 3
    #expect(abs(covariance.xx - expected) < 1e-9)
    #expect(abs(covariance.zz - expected) < 1e-9)
    #expect(covariance.yy == 0)
    #expect(covariance.xz == 0)
  }

  @Test("ranges tell the velocity of a walking peer along the line of sight")
  func walkingMeasured() {
    // Without acceleration, bias and scale, ranges at t = 0, 1, 2, 3 along x are a regression for
    // place and velocity; the place at the last of n = 4 has variance σ² (4 n - 2) / (n (n + 1)) =
    // 0.7 σ².
    let scenario = Scenario(.standingStill)
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    model.rangeBiasSigma = 0
    model.peer = .walking(speedSigma: 1000, accelerationDensity: 0)
    var run = silent(scenario.simulated(seed: 0), 4, peer: Vector3(3, 0, 0))
    run.antennaInDevice = .zero
    for index in run.samples.indices { run.samples[index].distance = 3 }
    var bound = PosteriorBound(model)
    for sample in run.samples { bound.add(sample, of: run) }
    #expect(abs(bound.positionCovariance.xx - 0.7 * 0.01) < 1e-7)
  }

  @Test("azimuths alone determine the position across the line of sight only")
  func azimuthOnly() {
    let scenario = Scenario(.standingStill)
    var model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    model.azimuth = .init(noiseDegrees: 3, biasDegrees: 0)
    var run = silent(scenario.simulated(seed: 0), 4, peer: Vector3(0, 0, -5))
    run.antennaInDevice = .zero
    for index in run.samples.indices { run.samples[index].azimuthRadians = 0 }
    var bound = PosteriorBound(model)
    for sample in run.samples { bound.add(sample, of: run) }
    // 5 m · 3 degrees / √4 across; as before along and up.
    let across = 5 * 3.0.degreesAsRadians / 2
    #expect(abs(bound.positionCovariance.xx.squareRoot() - across) < 1e-6)
    #expect(abs(bound.positionCovariance.yy.squareRoot() - 1000) < 1e-6)
    #expect(abs(bound.positionCovariance.zz.squareRoot() - 1000) < 1e-6)
  }

  @Test("after a reset the position is as unknown as at first, and the radio's biases stay known")
  func forgetting() throws {
    let scenario = Scenario(.wanderingWalk)
    let run = scenario.simulated(seed: 2)
    let model = PosteriorBound.Model(scenario, rangeScaleSigma: 0)
    var bound = PosteriorBound(model)
    for sample in run.samples { bound.add(sample, of: run) }
    let known = bound.positionSigma
    bound.forgetPosition()
    #expect(abs(bound.positionSigma - 1000 * 3.0.squareRoot()) < 1e-6)
    // The same samples again give a more accurate position than at first, since the bias is known
    // by then.
    let first = try #require(PosteriorBound.positionSigmas(of: run, model).last)
    for sample in run.samples { bound.add(sample, of: run) }
    #expect(known == first)
    #expect(bound.positionSigma < first)
  }

  @Test("a matrix that is not positive definite has no inverse")
  func notPositiveDefinite() throws {
    #expect(positiveDefiniteInverse(of: [1, 2, 2, 1], order: 2) == nil)
    // [[4, 2], [2, 2]] has the determinant 4.
    let inverse = try #require(positiveDefiniteInverse(of: [4, 2, 2, 2], order: 2))
    #expect(zip(inverse, [0.5, -0.5, -0.5, 1]).allSatisfy { abs($0 - $1) < 1e-12 })
  }
}
