// SPDX-License-Identifier: Apache-2.0
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
  /// Without drift the recursion must give the same; the two share no code but the gradients.
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

  @Test("a matrix that is not positive definite has no inverse")
  func notPositiveDefinite() throws {
    #expect(positiveDefiniteInverse(of: [1, 2, 2, 1], order: 2) == nil)
    // [[4, 2], [2, 2]] has the determinant 4.
    let inverse = try #require(positiveDefiniteInverse(of: [4, 2, 2, 2], order: 2))
    #expect(zip(inverse, [0.5, -0.5, -0.5, 1]).allSatisfy { abs($0 - $1) < 1e-12 })
  }
}
