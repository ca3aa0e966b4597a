// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry
import NearbySimulation

/// A bank in the kernels' own layout, open to tests.
struct KernelBank {
  /// One hypothesis: mean, full covariance, log weight.
  struct Hypothesis {
    var mean: [Double]
    /// The square of the number of states, row by row.
    var covariance: [Double]
    var logWeight = 0.0
    /// Whether the peer moves; without a velocity it cannot.
    var moves = false

    /// A random state with a full random covariance, its position as uncertain as `sigma`.
    init(
      _ generator: inout SeededGenerator, position: Vector3, sigma: Double,
      order: Int = KernelBank.restingOrder
    ) {
      // Position, scale, constant errors, wandering errors, offset of heights, velocity.
      let scales =
        [sigma, sigma, sigma, 0.03, 0.15, 0.04, 0.05, 0.1, 0.06, 0.09, 0.5, 0.9, 0.3, 0.9]
      let a = (0..<order * order).map { _ in generator.normal() }
      covariance = (0..<order * order).map { at in
        let (row, column) = (at / order, at % order)
        var sum = row == column ? 0.2 : 0.0
        for k in 0..<order { sum += a[row * order + k] * a[column * order + k] / Double(order) }
        return scales[row] * scales[column] * sum
      }
      mean =
        [position.x, position.y, position.z]
        + (3..<order).map { generator.normal() * scales[$0] }
    }
  }

  var fields: [Double]
  var count: Int
  let stride: Int
  /// The number of states: more with the offset of heights, and with a velocity.
  let order: Int

  static let restingOrder = Int(NEARBY_STATE_SIZE)
  static let heightOrder = Int(NEARBY_HEIGHT_STATE_SIZE)
  static let movingOrder = Int(NEARBY_MOVING_STATE_SIZE)
  private var hasVelocity: Bool { order > Self.heightOrder }

  init(_ hypotheses: [Hypothesis], stride: Int) {
    order = hypotheses.first?.mean.count ?? Self.restingOrder
    let fieldCount =
      order == Self.restingOrder
      ? NEARBY_FIELD_COUNT
      : order == Self.heightOrder ? NEARBY_HEIGHT_FIELD_COUNT : NEARBY_MOVING_FIELD_COUNT
    fields = [Double](repeating: 0, count: Int(fieldCount) * stride)
    count = hypotheses.count
    self.stride = stride
    for (index, hypothesis) in hypotheses.enumerated() {
      for row in 0..<order {
        self[Self.meanField(row), index] = hypothesis.mean[row]
        for column in row..<order {
          self[Self.covarianceField(row, column), index] =
            hypothesis.covariance[row * order + column]
        }
      }
      if hasVelocity { self[Int(NEARBY_FIELD_MOVES), index] = hypothesis.moves ? 1 : 0 }
      self[Int(NEARBY_FIELD_RANGE_RESIDUAL), index] = 1e9
      self[Int(NEARBY_FIELD_LOG_WEIGHT), index] = hypothesis.logWeight
    }
  }

  static func meanField(_ state: Int) -> Int {
    if state < restingOrder { return Int(NEARBY_FIELD_MEAN) + state }
    return state < heightOrder
      ? Int(NEARBY_FIELD_HEIGHT_OFFSET) : Int(NEARBY_FIELD_VELOCITY) + state - heightOrder
  }

  static func covarianceField(_ row: Int, _ column: Int) -> Int {
    let element = max(row, column) * (max(row, column) + 1) / 2 + min(row, column)
    let (resting, height) = (Int(NEARBY_COVARIANCE_SIZE), Int(NEARBY_HEIGHT_COVARIANCE_SIZE))
    if element < resting { return Int(NEARBY_FIELD_COVARIANCE) + element }
    return element < height
      ? Int(NEARBY_FIELD_HEIGHT_COVARIANCE) + element - resting
      : Int(NEARBY_FIELD_VELOCITY_COVARIANCE) + element - height
  }

  subscript(field: Int, index: Int) -> Double {
    get { fields[field * stride + index] }
    set { fields[field * stride + index] = newValue }
  }

  func mean(_ index: Int) -> [Double] { (0..<order).map { self[Self.meanField($0), index] } }

  func covariance(_ index: Int) -> [Double] {
    (0..<order * order).map { self[Self.covarianceField($0 / order, $0 % order), index] }
  }

  func weight(_ index: Int) -> Double { exp(self[Int(NEARBY_FIELD_LOG_WEIGHT), index]) }

  var weights: [Double] { (0..<count).map(weight) }

  /// Calls a kernel on a copy of the fields that stands where no vector is aligned: a bank promises no
  /// more than a double's alignment.
  private mutating func withBank<Result>(
    _ body: (UnsafePointer<nearby_bank>) -> Result
  ) -> Result {
    let (count, stride, states) = (Int32(count), Int32(stride), Int32(order))
    var room = [Double](repeating: 0, count: fields.count + 4)
    return unsafe room.withUnsafeMutableBufferPointer { room in
      let first = (40 - Int(bitPattern: room.baseAddress) % 32) % 32 / 8
      let bank = unsafe nearby_bank(
        fields: room.baseAddress.map { unsafe $0 + first }, count: count, stride: stride,
        states: states)
      for index in fields.indices { unsafe room[first + index] = fields[index] }
      let result = unsafe withUnsafePointer(to: bank) { unsafe body($0) }
      for index in fields.indices { fields[index] = unsafe room[first + index] }
      return result
    }
  }

  /// Predicts; the errors stay as they are unless they have a step of their own.
  mutating func propagate(_ motion: nearby_motion, _ errors: nearby_error_step? = nil) {
    unsafe withBank { bank in
      unsafe withUnsafePointer(to: motion) { motion in
        guard let errors else { return unsafe nearby_bank_propagate(bank, motion, nil) }
        unsafe withUnsafePointer(to: errors) { unsafe nearby_bank_propagate(bank, motion, $0) }
      }
    }
  }

  mutating func advance(
    _ motion: nearby_motion, _ travel: nearby_travel, to measurement: nearby_measurement
  ) -> nearby_correlations {
    unsafe withBank { bank in
      unsafe withUnsafePointer(to: motion) { motion in
        unsafe withUnsafePointer(to: travel) { travel in
          unsafe withUnsafePointer(to: measurement) {
            unsafe nearby_bank_advance(bank, motion, travel, $0)
          }
        }
      }
    }
  }

  mutating func update(
    _ measurement: nearby_measurement, faultCorrelation: Double = 0.9,
    in vectors: nearby_vectors = nearby_widest_vectors()
  ) {
    unsafe withBank { bank in
      unsafe withUnsafePointer(to: measurement) {
        unsafe nearby_bank_update_with(bank, $0, faultCorrelation, vectors)
      }
    }
  }

  mutating func mix(start: Double, stop: Double, speedVariances: (Double, Double)) {
    unsafe withBank { unsafe nearby_bank_mix($0, start, stop, speedVariances.0, speedVariances.1) }
  }

  mutating func normalize() { unsafe withBank { unsafe nearby_bank_normalize($0) } }

  mutating func reduce(most: Int, pruningWeight: Double, mergingLoss: Double) {
    count = Int(
      unsafe withBank { unsafe nearby_bank_reduce($0, Int32(most), pruningWeight, mergingLoss) })
  }

  /// Mean (3) and packed covariance (6) of the mixture's position.
  mutating func moments() -> (mean: [Double], covariance: [Double]) {
    var mean = [Double](repeating: .nan, count: 3)
    var covariance = [Double](repeating: .nan, count: 6)
    unsafe withBank { bank in
      unsafe mean.withUnsafeMutableBufferPointer { mean in
        unsafe covariance.withUnsafeMutableBufferPointer { covariance in
          unsafe nearby_bank_moments(bank, mean.baseAddress, covariance.baseAddress)
        }
      }
    }
    return (mean, covariance)
  }

  /// A hypothesis by its share.
  struct Share {
    var weight: Double
    var mean: [Double]
    var covariance: [Double]

    /// The determinant of the position's covariance.
    var determinant: Double {
      let n = mean.count
      func p(_ row: Int, _ column: Int) -> Double { covariance[row * n + column] }
      return p(0, 0) * (p(1, 1) * p(2, 2) - p(1, 2) * p(2, 1))
        - p(0, 1) * (p(1, 0) * p(2, 2) - p(1, 2) * p(2, 0))
        + p(0, 2) * (p(1, 0) * p(2, 1) - p(1, 1) * p(2, 0))
    }

    /// The trace of the position's covariance.
    var trace: Double { (0..<3).reduce(0) { $0 + covariance[$1 * (mean.count + 1)] } }

    /// The moment-matched union with another.
    func union(_ other: Share) -> Share {
      let total = weight + other.weight
      let (a, b, n) = (weight / total, other.weight / total, mean.count)
      return Share(
        weight: total, mean: zip(mean, other.mean).map { a * $0 + b * $1 },
        covariance: (0..<n * n).map { at in
          let (row, column) = (at / n, at % n)
          return a * covariance[at] + b * other.covariance[at]
            + a * b * (mean[row] - other.mean[row]) * (mean[column] - other.mean[column])
        })
    }
  }

  /// What merging leaves, from its definition: the heaviest takes in all with whom Runnalls' bound
  /// stays below a limit, the last one first, but none that is four joint sigmas away; then the
  /// next heaviest.
  func naivelyMerged(limit: Double) -> [Share] {
    var shares = (0..<count).map {
      Share(weight: weight($0), mean: mean($0), covariance: covariance($0))
    }
    var next = 0
    while next < shares.count {
      let top = (next..<shares.count).max { shares[$0].weight < shares[$1].weight } ?? next
      shares.swapAt(next, top)
      for other in (next + 1..<max(next + 1, shares.count)).reversed() {
        let (one, two) = (shares[next], shares[other])
        let both = one.union(two)
        let a = one.weight / both.weight
        let loss =
          0.5
          * (log(both.determinant) - a * log(one.determinant)
            - (1 - a) * log(two.determinant))
        let squared = (0..<3).reduce(0) { $0 + pow(one.mean[$1] - two.mean[$1], 2) }
        guard loss < limit, squared <= 16 * (one.trace + two.trace) else { continue }
        shares[next] = both
        shares[other] = shares[shares.count - 1]
        shares.removeLast()
      }
      next += 1
    }
    return shares
  }

  /// The same moments, from their definition.
  func naiveMoments() -> (mean: [Double], covariance: [Double]) {
    let total = weights.reduce(0, +)
    let mean = (0..<3).map { axis in
      (0..<count).reduce(0.0) { $0 + weight($1) * self[axis, $1] } / total
    }
    var covariance: [Double] = []
    for row in 0..<3 {
      for column in row..<3 {
        covariance.append(
          (0..<count).reduce(0.0) { sum, index in
            let spread = (self[row, index] - mean[row]) * (self[column, index] - mean[column])
            return sum + weight(index)
              * (self[Self.covarianceField(row, column), index] + spread) / total
          })
      }
    }
    return (mean, covariance)
  }
}

extension nearby_measurement {
  /// A place, an attitude and noise of ordinary size; nothing present, no faults.
  init(antenna: Vector3, worldFromDevice: Rotation) {
    self.init()
    antenna_in_world = (antenna.x, antenna.y, antenna.z)
    let (x, y, z) = (worldFromDevice.xAxis, worldFromDevice.yAxis, worldFromDevice.zAxis)
    device_from_world = (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z)
    variance = (0.01, 0.004, 0.008, 0.02)
    previous = (.nan, .nan, .nan, .nan)
    fault_onset = (0.03, 0.03, 0.03, 0.01)
    range_excess = 1.5
    lasting_range_variance = 0.05
    field_of_view = 2
  }
}
