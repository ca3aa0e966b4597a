// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Glibc
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// The fit of a whole window: exact without noise, right about its width, unmoved by outliers.
@Suite("Fit")
struct FitTests {
  private static let range: Int32 = 1
  private static let angles: Int32 = 6

  private func keyframe(
    at place: Vector3, _ turn: Rotation, peer: Vector3, present: Int32
  ) -> nearby_keyframe {
    let ray = turn.inverse.act(peer - place)
    let angles = ArrivalAngles(ofDirection: ray)
    let (x, y, z) = (turn.xAxis, turn.yAxis, turn.zAxis)
    var result = nearby_keyframe()
    result.antenna_in_world = (place.x, place.y, place.z)
    result.device_from_world = (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z)
    result.present = present
    result.value = (
      ray.length, angles.azimuthRadians, angles.elevationRadians, peer.y - place.y
    )
    result.variance = (0.01, 0.004, 0.008, 0.01)
    return result
  }

  /// A winding path, 3 m across in every direction.
  private func path(
    _ generator: inout SeededGenerator, count: Int, peer: Vector3, present: Int32
  ) -> [nearby_keyframe] {
    (0..<count).map { index in
      let t = Double(index) / Double(count - 1)
      let place =
        Vector3(3 * t - 1.5, 1.5 * sin(7 * t), 1.5 * cos(5 * t))
        + generator.normalVector(sigma: 0.1)
      let turn = Rotation(angleRadians: generator.normal(sigma: 0.5), about: Vector3(0, 1, 0))
      return keyframe(at: place, turn, peer: peer, present: present)
    }
  }

  private func model(center: Vector3, sigma: Double) -> nearby_fit_model {
    let weight = 1 / (sigma * sigma)
    return nearby_fit_model(
      center: (center.x, center.y, center.z), information: (weight, 0, 0, weight, 0, weight),
      range_scale_sigma: 0, bias_variance: (0, 0, 0, 0), wander_variance: (0, 0, 0, 0),
      outlier_share: (0.1, 0.1, 0.1, 0.1), range_excess: 1.5, field_of_view: 2, is_mirrored: 0,
      has_heights: 0)
  }

  private struct Result {
    var state: [Double]
    var covariance: [Double]
    var logEvidence: Double
    var inlierShares = [Double](repeating: .nan, count: Int(NEARBY_COMPONENTS))

    var position: Vector3 { Vector3(state[0], state[1], state[2]) }
    var positionCovariance: SymmetricMatrix3 {
      SymmetricMatrix3(
        xx: covariance[0], xy: covariance[1], xz: covariance[3], yy: covariance[2],
        yz: covariance[4], zz: covariance[5])
    }
  }

  private func fit(
    _ keyframes: [nearby_keyframe], _ model: nearby_fit_model, from start: Vector3,
    widest: Double = 400
  ) -> Result {
    var model = model
    var result = Result(
      state: [start.x, start.y, start.z]
        + [Double](repeating: 0, count: Int(NEARBY_HEIGHT_STATE_SIZE) - 3),
      covariance: [Double](repeating: .nan, count: Int(NEARBY_HEIGHT_COVARIANCE_SIZE)),
      logEvidence: .nan)
    result.logEvidence = unsafe keyframes.withUnsafeBufferPointer { keyframes in
      unsafe result.state.withUnsafeMutableBufferPointer { state in
        unsafe result.covariance.withUnsafeMutableBufferPointer { covariance in
          unsafe result.inlierShares.withUnsafeMutableBufferPointer { inlierShares in
            unsafe nearby_fit(
              keyframes.baseAddress, Int32(keyframes.count), &model, widest, state.baseAddress,
              covariance.baseAddress, inlierShares.baseAddress)
          }
        }
      }
    }
    return result
  }

  private func peer(_ generator: inout SeededGenerator) -> Vector3 {
    let angle = generator.uniform(in: -.pi...Double.pi)
    let distance = generator.uniform(in: 3...8)
    return Vector3(
      distance * cos(angle), generator.uniform(in: -1.5...1.5), distance * sin(angle))
  }

  @Test("exact ranges lead to the true place from metres away", arguments: 0..<24 as Range<UInt64>)
  func exactRanges(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    let keyframes = path(&generator, count: 30, peer: peer, present: Self.range)
    let start = peer + 2.5 * generator.normalVector().normalized
    let result = fit(keyframes, model(center: start, sigma: 1000), from: start)
    #expect((result.position - peer).length < 1e-6, "seed \(seed)")
    #expect(result.logEvidence.isFinite)
    // Pinned by priors of no width.
    for state in 3..<Int(NEARBY_STATE_SIZE) { #expect(abs(result.state[state]) < 1e-6) }
  }

  @Test("exact angles lead to the true place", arguments: 0..<16 as Range<UInt64>)
  func exactAngles(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    let keyframes = path(&generator, count: 30, peer: peer, present: Self.angles)
    let start = peer + generator.normalVector().normalized
    let result = fit(keyframes, model(center: start, sigma: 10_000), from: start)
    #expect((result.position - peer).length < 1e-6, "seed \(seed)")
  }

  @Test("a window without keyframes returns the prior")
  func priorOnly() {
    let center = Vector3(1, 2, 3)
    let result = fit([], model(center: center, sigma: 2), from: .zero)
    #expect((result.position - center).length < 1e-9)
    #expect(abs(result.positionCovariance.xx - 4) < 1e-9)
    #expect(abs(result.positionCovariance.xy) < 1e-12)
  }

  @Test("a prior that is none is refused")
  func badPrior() {
    var broken = model(center: .zero, sigma: 1)
    broken.information.0 = -1
    #expect(fit([], broken, from: .zero).logEvidence == -.infinity)
  }

  @Test("what no information can be is refused, and the state stays what it was")
  func indefinite() {
    let peer = Vector3(0, 0, -5)
    var broken = keyframe(at: .zero, .identity, peer: peer, present: Self.range)
    broken.variance.0 = -0.01
    let result = fit([broken], model(center: peer, sigma: 1), from: Vector3(1, 0, -5))
    #expect(result.logEvidence == -.infinity)
    #expect(result.position == Vector3(1, 0, -5))
    #expect(result.covariance.allSatisfy { $0.isNaN })
  }

  @Test(
    "a prior far from round keeps its covariance", arguments: 0..<8 as Range<UInt64>,
    [1.0, 1e4, 1e8])
  func nearlySingular(seed: UInt64, ratio: Double) throws {
    var generator = SeededGenerator(seed: seed)
    let axis = generator.normalVector().normalized
    let least = 1e-3
    var broad = model(center: .zero, sigma: 1)
    let part = { (a: Double, b: Double, isDiagonal: Bool) in
      least * (ratio * a * b + (isDiagonal ? 1 : 0))
    }
    broad.information = (
      part(axis.x, axis.x, true), part(axis.x, axis.y, false), part(axis.x, axis.z, false),
      part(axis.y, axis.y, true), part(axis.y, axis.z, false), part(axis.z, axis.z, true)
    )
    let p = broad.information
    let expected = try #require(
      positiveDefiniteInverse(
        of: [p.0, p.1, p.2, p.1, p.3, p.4, p.2, p.4, p.5], order: 3))
    let found = fit([], broad, from: .zero).covariance
    for row in 0..<3 {
      for column in row..<3 {
        let entry = found[column * (column + 1) / 2 + row]
        #expect(abs(entry - expected[3 * row + column]) < 1e-15 * ratio / least + 1e-12 / least)
      }
    }
  }

  // MARK: - Side by side

  /// Starts around a peer in one window, each with a model of its own.
  private func starts(
    _ count: Int, hasHeights: Bool
  ) -> (keyframes: [nearby_keyframe], models: [nearby_fit_model], places: [Vector3]) {
    var generator = SeededGenerator(seed: UInt64(count))
    let peer = peer(&generator)
    var keyframes = path(&generator, count: 13, peer: peer, present: 7)
    for index in keyframes.indices {
      keyframes[index].present = 1 + Int32(generator.uniform() * 7)
      keyframes[index].value.0 += generator.normal(sigma: 0.1) + (index % 5 == 0 ? 2 : 0)
      keyframes[index].lasting = 0.8
      keyframes[index].yaw_drift = 0.01 * Double(12 - index)
    }
    var models: [nearby_fit_model] = []
    var places: [Vector3] = []
    for lane in 0..<count {
      places.append(peer + 2 * generator.normalVector().normalized)
      var model = model(center: places[lane], sigma: 3 + Double(lane))
      model.has_heights = hasHeights ? 1 : 0
      model.wander_variance.3 = 0.25
      model.is_mirrored = Int32(lane % 2)
      model.range_scale_sigma = 0.02 * Double(lane)
      // Its neighbours must not mind a prior that is none.
      if lane == 2 { model.information.3 = -1 }
      models.append(model)
    }
    return (keyframes, models, places)
  }

  /// What fits side by side give out.
  private struct Together {
    var states: [Double]
    var covariances: [Double]
    var inlierShares: [Double]
    var evidences: [Double]
    var hasFolded: [Int32]

    init(
      _ keyframes: [nearby_keyframe], _ models: [nearby_fit_model], from places: [Vector3],
      in vectors: nearby_vectors
    ) {
      let count = places.count
      let n = Int(models[0].has_heights == 1 ? NEARBY_HEIGHT_STATE_SIZE : NEARBY_STATE_SIZE)
      states = places.flatMap { [$0.x, $0.y, $0.z] + [Double](repeating: 0, count: n - 3) }
      covariances = [Double](repeating: 0, count: count * n * (n + 1) / 2)
      inlierShares = [Double](repeating: 0, count: Int(NEARBY_COMPONENTS) * count)
      evidences = [Double](repeating: .nan, count: count)
      hasFolded = [Int32](repeating: -1, count: count)
      unsafe nearby_fit_side_by_side_with(
        keyframes, Int32(keyframes.count), models, Int32(count), 400, &states, &covariances,
        &inlierShares, &evidences, &hasFolded, vectors)
    }
  }

  @Test(
    "fits side by side are what each is by itself", arguments: 1...Int(NEARBY_FITS),
    [false, true])
  func sideBySide(count: Int, hasHeights: Bool) {
    let (keyframes, models, places) = starts(count, hasHeights: hasHeights)
    let together = Together(keyframes, models, from: places, in: nearby_widest_vectors())
    let n = Int(hasHeights ? NEARBY_HEIGHT_STATE_SIZE : NEARBY_STATE_SIZE)
    let triangle = n * (n + 1) / 2
    for lane in 0..<count {
      let hasFolded = together.hasFolded[lane]
      #expect(hasFolded == 0 || hasFolded == 1 && models[lane].is_mirrored == 1)
      let alone = fit(keyframes, models[lane], from: places[lane])
      #expect(together.evidences[lane] == alone.logEvidence)
      #expect(together.evidences[lane].isFinite == (lane != 2))
      #expect(Array(together.states[lane * n..<(lane + 1) * n]) == Array(alone.state.prefix(n)))
      guard lane != 2 else { continue }
      #expect(
        Array(together.covariances[lane * triangle..<(lane + 1) * triangle])
          == Array(alone.covariance.prefix(triangle)))
      let kinds = Int(NEARBY_COMPONENTS)
      #expect(Array(together.inlierShares[kinds * lane..<kinds * (lane + 1)]) == alone.inlierShares)
    }
  }

  @Test(
    "whatever vectors the kernels are compiled for, fits are the same",
    arguments: (0...nearby_widest_vectors().rawValue).map(nearby_vectors.init(rawValue:)),
    [1, 4, 5, 8])
  func vectors(vectors: nearby_vectors, count: Int) {
    for hasHeights in [false, true] {
      let (keyframes, models, places) = starts(count, hasHeights: hasHeights)
      let one = Together(keyframes, models, from: places, in: NEARBY_VECTORS_OF_ANY)
      let other = Together(keyframes, models, from: places, in: vectors)
      #expect(one.hasFolded == other.hasFolded)
      let pairs = [
        (one.states, other.states), (one.covariances, other.covariances),
        (one.inlierShares, other.inlierShares), (one.evidences, other.evidences),
      ]
      for (a, b) in pairs.flatMap({ zip($0, $1) }) where a != b {
        #expect(abs(a - b) <= 1e-7 * max(1, abs(a)))
      }
    }
  }

  // MARK: - Width

  /// What the fit says it predicts, from its parameters: the state, then the drift's amplitudes.
  private func predict(_ x: [Double], _ k: nearby_keyframe) -> [Double] {
    let states = x.count - 4
    let offset = states > Int(NEARBY_STATE_SIZE) ? x[Int(NEARBY_STATE_HEIGHT_OFFSET)] : 0
    let turned = Vector3(x[2] - k.pivot.2, 0, k.pivot.0 - x[0])
    let amplitudes = x.suffix(4)
    let first = amplitudes.startIndex
    let drift =
      Vector3(
        k.horizontal_drift * amplitudes[first], k.vertical_drift * amplitudes[first + 1],
        k.horizontal_drift * amplitudes[first + 2])
      + k.yaw_drift * amplitudes[first + 3] * turned
    let (a, r) = (k.antenna_in_world, k.device_from_world)
    let v = Vector3(x[0], x[1], x[2]) - drift - Vector3(a.0, a.1, a.2)
    let ray = Vector3(
      Vector3(r.0, r.1, r.2).dot(v), Vector3(r.3, r.4, r.5).dot(v), Vector3(r.6, r.7, r.8).dot(v))
    let angles = ArrivalAngles(ofDirection: ray)
    let bias = { (component: Int) in x[Int(NEARBY_STATE_RANGE_BIAS) + component] }
    let wander = { (component: Int) in x[Int(NEARBY_STATE_RANGE_WANDER) + component] }
    return [
      (1 + x[Int(NEARBY_STATE_RANGE_SCALE)]) * ray.length + bias(0) + k.memory.0 * wander(0),
      angles.azimuthRadians + bias(1) + k.memory.1 * wander(1),
      angles.elevationRadians + bias(2) + k.memory.2 * wander(2), v.y + k.memory.3 * offset,
    ]
  }

  @Test(
    "the covariance is the inverse of the information", arguments: 0..<12 as Range<UInt64>,
    [NEARBY_STATE_SIZE, NEARBY_HEIGHT_STATE_SIZE])
  func covariance(seed: UInt64, size: Int) throws {
    let states = Int(size)
    let hasHeights = size != NEARBY_STATE_SIZE
    let n = states + 4
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    var keyframes = path(&generator, count: 20, peer: peer, present: 7)
    for index in keyframes.indices {
      let left = 1 - Double(index) / 20
      keyframes[index].memory = (1 - left, 0.5 * (1 - left), 0.3, 0.9)
      keyframes[index].horizontal_drift = 0.3 * left
      keyframes[index].vertical_drift = 0.2 * left
      keyframes[index].yaw_drift = 0.1 * left
      keyframes[index].pivot = (0.5 * left, 0, -0.3)
      keyframes[index].present = 1 + Int32(generator.uniform() * (hasHeights ? 15 : 7))
    }
    var model = model(center: peer, sigma: 3)
    model.information = (0.2, 0.02, -0.03, 0.3, 0.01, 0.25)
    model.range_scale_sigma = 0.03
    model.bias_variance = (0.0225, 0.002, 0.004, 0)
    model.wander_variance = (0.02, 0.003, 0.005, 0.25)
    model.outlier_share = (0, 0, 0, 0)
    model.has_heights = hasHeights ? 1 : 0
    // Without noise and with every prior about the truth, the truth is the mode.
    let result = fit(keyframes, model, from: peer + generator.normalVector(sigma: 0.3))
    #expect((result.position - peer).length < 1e-6)

    var information = [Double](repeating: 0, count: n * n)
    let p = model.information
    let prior = [p.0, p.1, p.2, p.1, p.3, p.4, p.2, p.4, p.5]
    for row in 0..<3 {
      for column in 0..<3 { information[row * n + column] = prior[row * 3 + column] }
    }
    let variances =
      [0.03 * 0.03, 0.0225, 0.002, 0.004, 0.02, 0.003, 0.005]
      + (hasHeights ? [0.25] : [])
    for (offset, variance) in variances.enumerated() {
      information[(Int(NEARBY_STATE_RANGE_SCALE) + offset) * (n + 1)] = 1 / variance
    }
    for drift in states..<n { information[drift * (n + 1)] = 1 }
    let truth = [peer.x, peer.y, peer.z] + [Double](repeating: 0, count: n - 3)
    for k in keyframes {
      let jacobian = NumericJacobian(at: truth, angles: [1, 2]) { predict($0, k) }
      let variances = [k.variance.0, k.variance.1, k.variance.2, k.variance.3]
      for component in 0..<variances.count where k.present & 1 << Int32(component) != 0 {
        let h = jacobian.rows[component]
        for row in 0..<n {
          for column in 0..<n {
            information[row * n + column] += h[row] * h[column] / variances[component]
          }
        }
      }
    }
    let expected = try #require(positiveDefiniteInverse(of: information, order: n))
    for row in 0..<states {
      for column in row..<states {
        let packed = column * (column + 1) / 2 + row
        let scale = (expected[row * (n + 1)] * expected[column * (n + 1)]).squareRoot()
        #expect(
          abs(result.covariance[packed] - expected[row * n + column]) < 1e-5 * scale,
          "(\(row), \(column)), seed \(seed)")
      }
    }
  }

  @Test("a value that may be a fault informs as Louis says", arguments: 0..<25)
  func doubtfulValue(step: Int) {
    // A place ahead known to 3 cm, and one range, with a sigma of 10 cm, that is up to 0.5 m too long.
    let peer = Vector3(0, 0, -5)
    let (prior, noise) = (0.03 * 0.03, 0.01)
    var doubtful = keyframe(at: .zero, .identity, peer: peer, present: Self.range)
    doubtful.value.0 += 0.02 * Double(step)
    var model = model(center: peer, sigma: prior.squareRoot())
    let without = fit([], model, from: peer, widest: 1).positionCovariance.zz
    let result = fit([doubtful], model, from: peer, widest: 1)
    let variance = result.positionCovariance.zz
    model.outlier_share = (0, 0, 0, 0)
    let undoubted = fit([doubtful], model, from: peer, widest: 1).positionCovariance.zz

    // The densities at the mode by hand, and of them the observed information.
    let error = doubtful.value.0 - result.position.length
    let asInlier = 0.9 * exp(-0.5 * error * error / noise) / (2 * .pi * noise).squareRoot()
    let asFault = 0.1 * (0.25 / 45 + (error > 0 ? 0.75 * exp(-error / 1.5) / 1.5 : 0))
    let weight = asInlier / (asInlier + asFault)
    let observed = weight / noise * (1 - (1 - weight) * error * error / noise)
    #expect(abs(result.inlierShares[0] - weight) < 1e-7)
    #expect(abs(variance - 1 / (1 / prior + max(0, observed))) < 1e-7 * prior)

    #expect(abs(undoubted - 1 / (1 / prior + 1 / noise)) < 1e-7 * prior)
    #expect(variance > undoubted)
    #expect(variance <= without * (1 + 1e-9))
    // Where fault and inlier are about as likely, the value says nothing of the place.
    if (0.2...0.8).contains(weight) { #expect(variance > without * (1 - 1e-9), "\(weight)") }
  }

  // MARK: - Outliers

  @Test("three ranges out of ten 2 m too long", arguments: 0..<24 as Range<UInt64>)
  func outliers(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    var keyframes = path(&generator, count: 40, peer: peer, present: Self.range)
    for index in keyframes.indices { keyframes[index].value.0 += generator.normal(sigma: 0.1) }
    for index in keyframes.indices.shuffled(using: &generator).prefix(12) {
      keyframes[index].value.0 += 2
    }
    // A fit finds the mode that is downhill; of some starts the one with most evidence counts.
    let model = model(center: peer + generator.normalVector().normalized, sigma: 5)
    let fits = (0..<8).map { _ in
      fit(keyframes, model, from: peer + 2 * generator.normalVector().normalized)
    }
    let result = try #require(fits.max { $0.logEvidence < $1.logEvidence })
    let error = result.position - peer
    let information = try #require(result.positionCovariance.positiveDefiniteInverse)
    // Chi-square with three degrees of freedom: one in ten thousand is beyond this.
    #expect(information.quadraticForm(error) < 21.1, "seed \(seed), off by \(error.length) m")
  }

  @Test("close by, 18 of 40 ranges too long: the best mode is found from some start")
  func manyOutliersCloseBy() {
    var generator = SeededGenerator(seed: 9)
    let peer = peer(&generator)
    var keyframes = path(&generator, count: 40, peer: peer, present: Self.range)
    for index in keyframes.indices {
      keyframes[index].value.0 += generator.normal(sigma: 0.1)
      if generator.uniform() < 0.3 { keyframes[index].value.0 += 2 }
    }
    let model = model(center: peer + generator.normalVector().normalized, sigma: 5)
    let truth = fit(keyframes, model, from: peer, widest: 1)
    #expect((truth.position - peer).length < 0.3)
    let best = (0..<8).map { _ in
      fit(keyframes, model, from: peer + 2 * generator.normalVector().normalized).logEvidence
    }.max()
    // Widened so far, the outliers carry every start over to a mode with 60 nats less.
    withKnownIssue { #expect((best ?? -.infinity) > truth.logEvidence - 1) }
  }

  @Test("faults in a row cost less than faults here and there", arguments: 0..<8 as Range<UInt64>)
  func burst(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    var keyframes = path(&generator, count: 40, peer: peer, present: Self.range)
    for index in keyframes.indices {
      keyframes[index].value.0 += generator.normal(sigma: 0.1)
      keyframes[index].lasting = 0.9
    }
    func evidence(faultsAt faulty: [Int]) -> (Double, [Double]) {
      var keyframes = keyframes
      for index in faulty { keyframes[index].value.0 += 2 }
      let result = fit(keyframes, model(center: peer, sigma: 3), from: peer, widest: 1)
      return (result.logEvidence, result.inlierShares)
    }
    let (row, inlierSharesInRow) = evidence(faultsAt: Array(10..<18))
    let (apart, _) = evidence(faultsAt: (0..<8).map { 5 * $0 })
    // A row has one onset, eight single ones have eight, each of 4.6 nats: 0.1 × 0.1 to begin, and to
    // end 0.1 × 0.9.
    #expect(row > apart + 10, "seed \(seed): \(row) against \(apart)")
    #expect(abs(inlierSharesInRow[0] - 0.8) < 0.02)
    #expect(inlierSharesInRow[1] == 1 && inlierSharesInRow[2] == 1)
  }

  @Test("chained faults have the likelihood that the chain's definition gives")
  func chainLikelihood() {
    // Three ranges from one place, residuals 0, 3, 0 about a peer that is pinned where it is.
    let peer = Vector3(0, 0, -5)
    var keyframes = (0..<3).map { _ in
      keyframe(at: .zero, .identity, peer: peer, present: Self.range)
    }
    keyframes[1].value.0 += 3
    for index in 0..<3 { keyframes[index].lasting = 0.7 }
    let model = model(center: peer, sigma: 1e-5)
    let result = fit(keyframes, model, from: peer, widest: 1)
    // By hand: all eight paths of the chain, each with its transitions and densities.
    let inlier = { (e: Double) in exp(-0.5 * e * e / 0.01) / (2 * Double.pi * 0.01).squareRoot() }
    let faulty = { (e: Double) in
      0.25 / 45 + (e > 0 ? 0.75 * exp(-e / 1.5) / 1.5 : 0)
    }
    var sum = 0.0
    for path in 0..<8 {
      var probability = 1.0
      for step in 0..<3 {
        let isFaulty = path >> step & 1 == 1
        let drawn = isFaulty ? 0.1 : 0.9
        let stays = step > 0 && isFaulty == (path >> (step - 1) & 1 == 1)
        let error = step == 1 ? 3.0 : 0.0
        probability *= step == 0 ? drawn : 0.3 * drawn + (stays ? 0.7 : 0)
        probability *= isFaulty ? faulty(error) : inlier(error)
      }
      sum += probability
    }
    // The parameters with pinned priors leave the Laplace term of a unit prior for each drift.
    let pinned = fit([], model, from: peer, widest: 1).logEvidence
    #expect(abs(result.logEvidence - pinned - log(sum)) < 1e-3)
  }

  @Test("azimuths from behind, taken for azimuths from before", arguments: 0..<8 as Range<UInt64>)
  func mirrored(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let peer = Vector3(generator.normal(sigma: 1), 0.3, 5)
    var keyframes = path(
      &generator, count: 30, peer: peer, present: Self.range | Self.angles)
    for index in keyframes.indices where abs(keyframes[index].value.1) > .pi / 2 {
      keyframes[index].value.1 = (.pi - keyframes[index].value.1).wrappedAngle
    }
    var model = model(center: peer, sigma: 3)
    let plain = fit(keyframes, model, from: peer, widest: 1)
    model.is_mirrored = 1
    let mirrored = fit(keyframes, model, from: peer, widest: 1)
    #expect(plain.inlierShares[1] < 0.2)
    #expect(mirrored.inlierShares[1] > 0.8)
    #expect(mirrored.logEvidence > plain.logEvidence + 20)
    #expect((mirrored.position - peer).length < 1e-3)
  }

  @Test(
    "a fit that might mirror azimuths says whether it did", arguments: 0..<16 as Range<UInt64>)
  func hasFolded(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // Before the device as it is turned, or behind it.
    let isBehind = seed % 2 == 1
    let peer = Vector3(generator.normal(sigma: 0.5), 0.3, isBehind ? 9 : -9)
    let keyframes = (0..<20).map { index in
      let place = Vector3(0.1 * Double(index), 0, generator.normal(sigma: 0.3))
      var keyframe = keyframe(
        at: place, .identity, peer: peer, present: Self.range | Self.angles)
      if isBehind { keyframe.value.1 = (.pi - keyframe.value.1).wrappedAngle }
      return keyframe
    }
    var fits = KernelFit()
    let start = peer + generator.normalVector(sigma: 0.3)
    for lane in 0..<2 {
      var model = model(center: start, sigma: 3)
      model.is_mirrored = Int32(lane)
      fits.setStart(lane, FitModel(kernel: model), at: start)
    }
    fits.fit(2, to: keyframes.map(FitKeyframe.init(kernel:)), widest: 400)
    let hasFolded = [fits.hasFolded(0), fits.hasFolded(1)]
    #expect(hasFolded == [false, isBehind])
    // One that did not is the same to the last bit.
    #expect((fits.logEvidence[0] == fits.logEvidence[1]) == !isBehind)
    var states = [StateVector](repeating: StateVector(repeating: 0), count: 2)
    var covariance = StateCovariance(repeating: 0)
    for lane in 0..<2 { fits.copyState(lane, to: &states[lane], &covariance) }
    for state in 0..<StateIndex.restingCount where !isBehind {
      #expect(states[0][state] == states[1][state])
    }
  }

  // MARK: - Search

  /// What the search leaves of a shell of priors, by share.
  private func search(_ keyframes: [nearby_keyframe], radius: Double) -> [(Vector3, Double)] {
    let golden = Double.pi * (3 - 5.0.squareRoot())
    let priors = (0..<64).map { index in
      let height = (1 - (2 * Double(index / 2) + 1) / 64) * (index % 2 == 0 ? 1 : -1)
      let level = (1 - height * height).squareRoot()
      let turn = golden * Double(index / 2)
      return SearchPrior(
        center: radius * Vector3(level * cos(turn), height, level * sin(turn)),
        covariance: SymmetricMatrix3(xx: 6, xy: 0, xz: 0, yy: 6, yz: 0, zz: 6))
    }
    var search = ModeSearch(priors, .all)
    let configuration = FusionConfiguration()
    var constant = configuration.constantErrorVariances(NoiseLevels(configuration.ranging))
    (constant.azimuth, constant.elevation) = (0, 0)
    let found = search.seeds(
      keyframes.map(FitKeyframe.init(kernel:)), isSweep: true, antennaInWorld: .zero,
      FitAssumptions(
        constant: constant, wandering: PerKind(repeating: 1e-4), Settings(configuration)))
    let total = found.reduce(0) { $0 + $1.weight }
    return found.map { ($0.position, $0.weight / total) }
  }

  /// Pieces that may mirror azimuths and did not are not fitted twice.
  @Test("each piece has the fit that it has by itself", arguments: 0..<6 as Range<UInt64>)
  func searchShares(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    let keyframes = path(
      &generator, count: 12, peer: peer, present: Self.range | Self.angles)
    let priors = (0..<16).map { index in
      let turn = Double(index) * .pi / 8
      return SearchPrior(
        center: peer.length * Vector3(cos(turn), 0, sin(turn)),
        covariance: SymmetricMatrix3(xx: 2, xy: 0, xz: 0, yy: 2, yz: 0, zz: 2))
    }
    var search = ModeSearch(priors, .all)
    var without = ModeSearch(priors, .all.subtracting(.mirroredAzimuths))
    let configuration = FusionConfiguration()
    let assumptions = FitAssumptions(
      NoiseLevels(configuration.ranging), Settings(configuration))
    var mirrored = 0
    for count in [2, 3, 4, 6, 8, 12] {
      let window = keyframes.prefix(count).map(FitKeyframe.init(kernel:))
      let isSweep = count == 2 || count == 8
      let all = search.seeds(
        window, isSweep: isSweep, antennaInWorld: .zero, assumptions)
      let expected = without.seeds(
        window, isSweep: isSweep, antennaInWorld: .zero, assumptions)
      try #require(all.count >= expected.count && !expected.isEmpty)
      mirrored += all.count - expected.count
      for (found, own) in zip(all, expected) {
        #expect(found.weight == own.weight, "\(count) keyframes")
        for index in 0..<13 { #expect(found.mean[index] == own.mean[index]) }
        for index in 0..<91 { #expect(found.covariance[index] == own.covariance[index]) }
      }
    }
    #expect(mirrored > 0)
  }

  @Test("the search puts its weight on the true place", arguments: 0..<8 as Range<UInt64>)
  func searchFinds(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let peer = peer(&generator)
    let keyframes = path(&generator, count: 30, peer: peer, present: Self.range)
    let seeds = search(keyframes, radius: peer.length)
    let near = seeds.filter { ($0.0 - peer).length < 0.5 }.reduce(0) { $0 + $1.1 }
    #expect(near > 0.95, "seed \(seed): \(near)")
  }

  @Test("ranges from a level path leave both mirror images", arguments: 0..<8 as Range<UInt64>)
  func searchKeepsMirror(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var peer = peer(&generator)
    peer.y = 2
    let keyframes = (0..<30).map { index in
      keyframe(
        at: Vector3(3 * cos(0.2 * Double(index)) - 1, 0, 2 * sin(0.2 * Double(index))), .identity,
        peer: peer, present: Self.range)
    }
    let seeds = search(keyframes, radius: peer.length)
    let above = seeds.filter { ($0.0 - peer).length < 0.5 }.reduce(0) { $0 + $1.1 }
    let below = seeds.filter { ($0.0 - Vector3(peer.x, -2, peer.z)).length < 0.5 }
      .reduce(0) { $0 + $1.1 }
    #expect(above > 0.4 && below > 0.4, "seed \(seed): \(above) above, \(below) below")
    #expect(abs(above - below) < 1e-6)
  }
}
