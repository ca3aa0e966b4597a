// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// The hypotheses with which a bank begins.
@Suite("Initial hypotheses")
struct InitialHypothesesTests {
  /// What the first sample held.
  enum Shape: String, CaseIterable {
    case sphere, circle, arc, ring, spot
  }

  private func birth(
    _ shape: Shape, range: Double?, statedSigmas: Double? = nil, maximumCount: Int = 96,
    isPlanar: Bool? = nil, _ generator: inout SeededGenerator
  ) throws -> InitialHypotheses {
    var configuration = FusionConfiguration()
    configuration.odometry.isPlanar = isPlanar ?? (shape == .circle)
    var sample = RangingSample(
      peer: PeerID(index: 0), timestamp: Timestamp(nanoseconds: 0), distance: range)
    if shape == .arc || shape == .spot { sample.azimuthRadians = 0.4 }
    if shape == .ring || shape == .spot { sample.elevationRadians = 0.2 }
    if let ratio = statedSigmas {
      sample.distanceSigma = ratio * configuration.ranging.rangeSigma
      sample.azimuthSigmaRadians = ratio * configuration.ranging.azimuthSigmaRadians
      sample.elevationSigmaRadians = ratio * configuration.ranging.elevationSigmaRadians
    }
    var measurements = Measurements()
    for kind in MeasurementKind.allCases {
      measurements[kind] = MeasuredValue(kind, of: sample, configuration.ranging)
    }
    // A planar world has the device upright.
    let turn = Rotation(
      angleRadians: generator.uniform(in: -.pi...Double.pi), about: Vector3(0, 1, 0))
    let device = TrajectoryPoint(
      worldFromDevice: RigidTransform(rotation: turn, translation: generator.normalVector()),
      timestamp: sample.timestamp)
    configuration.hypotheses.maximumCount = maximumCount
    return InitialHypotheses(
      measurements, at: device, noise: NoiseLevels(configuration.ranging), Settings(configuration))
  }

  @Test(
    "the mixture is as far away as was measured", arguments: Shape.allCases,
    [1, 2, 5, 12] as [Double])
  func meanDistance(shape: Shape, range: Double) throws {
    var generator = SeededGenerator(seed: UInt64(range))
    let birth = try birth(shape, range: range, &generator)
    let seeds = birth.seeds()
    #expect(seeds.allSatisfy { $0.weight > 0 && $0.weight.isFinite })
    let total = seeds.reduce(0) { $0 + $1.weight }
    // Draws from the mixture: the first order has nothing of the shell's curvature.
    var sum = 0.0
    let draws = 200
    for seed in seeds {
      let p = seed.positionCovariance
      // Cholesky by hand.
      let a = p.xx.squareRoot()
      let (b, c) = (p.xy / a, p.xz / a)
      let d = max(p.yy - b * b, 0).squareRoot()
      let e = d > 0 ? (p.yz - b * c) / d : 0
      let f = max(p.zz - c * c - e * e, 0).squareRoot()
      var distances = 0.0
      for _ in 0..<draws {
        let n = generator.normalVector()
        let place =
          seed.position + Vector3(a * n.x, b * n.x + d * n.y, c * n.x + e * n.y + f * n.z)
        distances += (place - birth.antennaInWorld).length
      }
      sum += seed.weight / total * distances / Double(draws)
    }
    let isNear = abs(sum - range) < 0.03 * range
    if shape == .sphere && range == 1 {
      // So near, the spread of the few pieces is wider than the correction of their radius allows.
      withKnownIssue { #expect(isNear, "\(sum) m") }
    } else {
      #expect(isNear, "\(shape), \(range) m: \(sum) m")
    }
  }

  @Test("so many hypotheses, within the bank", arguments: Shape.allCases)
  func count(shape: Shape) throws {
    var generator = SeededGenerator(seed: 1)
    let seeds = try birth(shape, range: 5, &generator).seeds()
    switch shape {
    case .sphere: #expect(seeds.count > 48 && seeds.count <= 96)
    case .circle: #expect(seeds.count >= 16 && seeds.count <= 96)
    case .arc: #expect(seeds.count == 7 + 48)
    case .ring: #expect(seeds.count == 16 + 48)
    case .spot: #expect(seeds.count == 1 + 48)
    }
    let total = seeds.reduce(0) { $0 + $1.weight }
    let doubted = seeds.filter(\.anglesAreFaulty).reduce(0) { $0 + $1.weight }
    let hasAngles = shape != .sphere && shape != .circle
    #expect(abs(doubted / total - (hasAngles ? 0.1 : 0)) < 1e-12)
  }

  @Test(
    "a bank of any size is filled on both sides of the level", arguments: Shape.allCases,
    [8, 9, 11, 14, 15, 16, 17, 23, 24, 31, 47, 63, 64, 65, 95, 96])
  func smallBanks(shape: Shape, maximumCount: Int) throws {
    for (range, isPlanar) in [(5.0, false), (5, true), (nil, false), (nil, true)] {
      // Only angles tell a peer without a range.
      guard range != nil || (shape != .sphere && shape != .circle) else { continue }
      var generator = SeededGenerator(seed: 5)
      let birth = try birth(
        shape, range: range, maximumCount: maximumCount, isPlanar: isPlanar, &generator)
      let seeds = birth.seeds()
      let comment: Comment = "range \(range ?? .nan), planar \(isPlanar): \(seeds.count)"
      // One direction suffices where both angles are known.
      let least = range == nil ? 4 : min(maximumCount, 8)
      #expect((least...maximumCount).contains(seeds.count), comment)
      let total = seeds.reduce(0) { $0 + $1.weight }
      let doubted = seeds.filter(\.anglesAreFaulty).reduce(0) { $0 + $1.weight }
      let isDoubted = birth.range != nil && (birth.azimuth != nil || birth.elevation != nil)
      #expect(abs(doubted / total - (isDoubted ? 0.1 : 0)) < 1e-12, comment)
      let broken = seeds.count {
        $0.weight <= 0
          || positiveDefiniteInverse(of: full($0), order: StateIndex.restingCount) == nil
      }
      #expect(broken == 0, comment)
      // No side of the level is favoured, but by a measured elevation.
      guard birth.elevation == nil else { continue }
      let heights = seeds.reduce(0) {
        $0 + $1.weight / total * ($1.position.y - birth.antennaInWorld.y)
      }
      #expect(abs(heights) < 1e-9, comment)
    }
  }

  @Test("an engine of few hypotheses survives a first sample of any shape", arguments: 8...15)
  func smallEngines(maximumCount: Int) throws {
    var configuration = FusionConfiguration()
    configuration.hypotheses.maximumCount = maximumCount
    for present in 1..<8 {
      for motion in PeerMotion.allCases {
        var engine = try FusionEngine(configuration)
        let peer = engine.addPeer(motion)
        for step in 0..<4 {
          let time = Timestamp(nanoseconds: Int64(step) * 100_000_000)
          engine.add(
            DevicePose(
              timestamp: time,
              worldFromDevice: RigidTransform(
                rotation: .identity, translation: Vector3(0.1 * Double(step), 0, 0))))
          engine.add(
            RangingSample(
              peer: peer, timestamp: time, distance: present & 1 != 0 ? 3 : nil,
              azimuthRadians: present & 2 != 0 ? 0.2 : nil,
              elevationRadians: present & 4 != 0 ? 0.1 : nil))
        }
        let count = engine.estimate(of: peer).hypothesisCount
        #expect((1...maximumCount).contains(count), "present \(present), \(motion)")
      }
    }
  }

  /// A seed's covariance, both triangles.
  private func full(_ seed: HypothesisBank.Seed) -> [Double] {
    let order = StateIndex.restingCount
    return (0..<order * order).map { at in
      let (row, column) = (min(at / order, at % order), max(at / order, at % order))
      return seed.covariance[StateIndex.packed(row, column)]
    }
  }

  @Test("covariances are positive definite, errors included", arguments: Shape.allCases)
  func positiveDefinite(shape: Shape) throws {
    var generator = SeededGenerator(seed: 3)
    for seed in try birth(shape, range: 4, &generator).seeds() {
      #expect(positiveDefiniteInverse(of: full(seed), order: StateIndex.restingCount) != nil)
    }
  }

  @Test(
    "covariances are positive definite whatever sigma a sample states", arguments: Shape.allCases,
    [0.2, 0.5, 2, 5])
  func statedSigmas(shape: Shape, ratio: Double) throws {
    var generator = SeededGenerator(seed: 3)
    let order = StateIndex.restingCount
    let broken = try birth(shape, range: 4, statedSigmas: ratio, &generator).seeds()
      .count { positiveDefiniteInverse(of: full($0), order: order) == nil }
    #expect(broken == 0, "\(shape), \(ratio): \(broken)")
  }

  @Test("a bank holds what searches for a peer of unknown motion find", arguments: Shape.allCases)
  func searchCapacity(shape: Shape) throws {
    for (range, isPlanar) in [(5.0, false), (5, true), (nil, false), (nil, true)] {
      var generator = SeededGenerator(seed: 6)
      let birth = try birth(shape, range: range, isPlanar: isPlanar, &generator)
      // At rest or moving, with mirrored azimuths or without.
      #expect(4 * birth.priors().count <= Int(NEARBY_CAPACITY))
    }
  }

  @Test("above and below have the same chance, in the sphere and in its priors")
  func symmetry() throws {
    var generator = SeededGenerator(seed: 4)
    let birth = try birth(.sphere, range: 5, &generator)
    func unmatched(_ places: [Vector3]) -> Int {
      places.filter { place in
        let mirror = Vector3(place.x, 2 * birth.antennaInWorld.y - place.y, place.z)
        return !places.contains { ($0 - mirror).length < 1e-9 }
      }.count
    }
    let seeds = birth.seeds()
    #expect(unmatched(seeds.map(\.position)) == 0)
    let priors = birth.priors()
    #expect(priors.count == 64)
    #expect(unmatched(priors.map(\.center)) == 0)
    #expect(priors.allSatisfy { abs(($0.center - birth.antennaInWorld).length - 5) < 1e-9 })
    #expect(priors.allSatisfy { $0.covariance.positiveDefiniteInverse != nil })
  }
}
