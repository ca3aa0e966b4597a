// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

extension EvidenceFilter {
  /// A Gaussian over everything that is unknown.
  struct State {
    let size: Int
    private(set) var mean: [Double]
    /// The covariance, row by row.
    private var matrix: [Double]
    private var column: [Double]

    init(size: Int) {
      self.size = size
      mean = Array(repeating: 0, count: size)
      matrix = Array(repeating: 0, count: size * size)
      column = Array(repeating: 0, count: size)
    }

    /// A row of derivatives, most of which are zero.
    struct Row {
      private(set) var count = 0
      private(set) var indices = InlineArray<12, Int>(repeating: 0)
      private(set) var values = InlineArray<12, Double>(repeating: 0)

      mutating func add(_ index: Int, _ value: Double) {
        guard value != 0 else { return }
        indices[count] = index
        values[count] = value
        count += 1
      }

      mutating func add(_ index: Int, _ vector: Vector3) {
        add(index, vector.x)
        add(index + 1, vector.y)
        add(index + 2, vector.z)
      }
    }

    func variance(_ index: Int) -> Double { matrix[index * size + index] }

    func vector(_ first: Int) -> Vector3 {
      Vector3(mean[first], mean[first + 1], mean[first + 2])
    }

    func covariance(_ first: Int) -> SymmetricMatrix3 {
      func at(_ row: Int, _ column: Int) -> Double { matrix[(first + row) * size + first + column] }
      return SymmetricMatrix3(
        xx: at(0, 0), xy: at(0, 1), xz: at(0, 2), yy: at(1, 1), yz: at(1, 2), zz: at(2, 2))
    }

    /// Sets an unknown that is independent of all others.
    mutating func set(_ index: Int, mean value: Double, variance: Double) {
      mean[index] = value
      for other in 0..<size {
        matrix[index * size + other] = 0
        matrix[other * size + index] = 0
      }
      matrix[index * size + index] = variance
    }

    /// Sets a place.
    mutating func set(
      _ first: Int, mean place: Vector3, _ covariance: SymmetricMatrix3, isPlanar: Bool
    ) {
      set(first, mean: place.x, variance: covariance.xx)
      set(first + 1, mean: place.y, variance: isPlanar ? 0 : covariance.yy)
      set(first + 2, mean: place.z, variance: covariance.zz)
      let pairs =
        [(0, 2, covariance.xz)] + (isPlanar ? [] : [(0, 1, covariance.xy), (1, 2, covariance.yz)])
      for (row, column, value) in pairs {
        matrix[(first + row) * size + first + column] = value
        matrix[(first + column) * size + first + row] = value
      }
    }

    /// Lets a Gauss-Markov process go on.
    mutating func forget(_ index: Int, factor: Double, variance: Double) {
      mean[index] *= factor
      for other in 0..<size {
        matrix[index * size + other] *= factor
        matrix[other * size + index] *= factor
      }
      matrix[index * size + index] += (1 - factor * factor) * variance
    }

    /// Lets the odometry's world drift: all places walk together and turn about the device.
    mutating func drift(
      metres: Double, radians: Double, about device: Vector3, seen: [TrajectoryPoint?], first: Int,
      width: Int, isPlanar: Bool
    ) {
      guard metres > 0 || radians > 0 else { return }
      for a in seen.indices where seen[a] != nil {
        let rowA = first + width * a
        let turnA = Vector3(mean[rowA + 2] - device.z, 0, device.x - mean[rowA])
        for b in seen.indices where seen[b] != nil {
          let rowB = first + width * b
          let turnB = Vector3(mean[rowB + 2] - device.z, 0, device.x - mean[rowB])
          matrix[rowA * size + rowB] += metres + radians * turnA.x * turnB.x
          matrix[rowA * size + rowB + 2] += radians * turnA.x * turnB.z
          matrix[(rowA + 2) * size + rowB] += radians * turnA.z * turnB.x
          matrix[(rowA + 2) * size + rowB + 2] += metres + radians * turnA.z * turnB.z
          if !isPlanar { matrix[(rowA + 1) * size + rowB + 1] += metres }
        }
      }
    }

    /// Takes a measurement that may be an outlier, weighted by the probability that it is none.
    ///
    /// - Parameters:
    ///   - row: Its derivatives.
    ///   - innovation: Measured minus predicted.
    ///   - variance: Of its own noise.
    ///   - outliers: The share of outliers.
    ///   - outlierDensity: The density of an outlier there.
    /// - Returns: The logarithm of its density.
    mutating func update(
      _ row: Row, innovation: Double, variance: Double, outliers: Double, outlierDensity: Double
    ) -> Double {
      let count = size
      let (density, gain) = unsafe column.withUnsafeMutableBufferPointer { column in
        unsafe matrix.withUnsafeMutableBufferPointer { matrix in
          for index in 0..<count { unsafe column[index] = 0 }
          for entry in 0..<row.count {
            let (start, value) = (row.indices[entry] * count, row.values[entry])
            for index in 0..<count { unsafe column[index] += value * matrix[start + index] }
          }
          var predicted = variance
          for entry in 0..<row.count {
            unsafe predicted += row.values[entry] * column[row.indices[entry]]
          }
          guard predicted > 0 else { return (1.0, 0.0) }
          let square = innovation * innovation
          let inlier =
            (1 - outliers) * exp(-0.5 * square / predicted) / (2 * .pi * predicted).squareRoot()
          let density = inlier + outliers * outlierDensity
          let weight = inlier / density
          let gain = weight * innovation / predicted
          let loss =
            weight / predicted - weight * (1 - weight) * square / (predicted * predicted)
          for first in 0..<count {
            let factor = unsafe loss * column[first]
            if factor == 0 { continue }
            let start = first * count
            for second in 0..<count {
              unsafe matrix[start + second] -= factor * column[second]
            }
          }
          return (density, gain)
        }
      }
      for index in 0..<count { mean[index] += gain * column[index] }
      return log(max(density, 1e-300))
    }
  }
}
