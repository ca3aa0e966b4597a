// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbySmoothing

/// The banded solver against plain elimination on a dense matrix.
@Suite("Bordered band")
struct BorderedBandTests {
  struct Shape: Sendable, CustomTestStringConvertible {
    var band: Int
    var halfBandwidth: Int
    var border: Int
    var testDescription: String { "\(band) in a band of \(halfBandwidth), \(border) beside it" }
  }

  static let shapes = [
    Shape(band: 12, halfBandwidth: 3, border: 4), Shape(band: 9, halfBandwidth: 7, border: 1),
    Shape(band: 5, halfBandwidth: 11, border: 3), Shape(band: 1, halfBandwidth: 1, border: 2),
    Shape(band: 8, halfBandwidth: 1, border: 0),
  ]

  /// A system of random rows, and the same matrix and right-hand side, dense.
  private static func random(
    _ shape: Shape, seed: UInt64
  ) -> (system: BorderedBandSystem, matrix: [[Double]], right: [Double]) {
    var generator = SeededGenerator(seed: seed)
    let size = shape.band + shape.border
    var system = BorderedBandSystem(
      bandCount: shape.band, halfBandwidth: shape.halfBandwidth, borderCount: shape.border)
    var matrix = [[Double]](repeating: [Double](repeating: 0, count: size), count: size)
    var right = [Double](repeating: 0, count: size)
    for first in 0..<shape.band {
      for _ in 0..<3 {
        var row = BorderedBandSystem.Row()
        var dense = [Double](repeating: 0, count: size)
        for index in first..<min(shape.band, first + shape.halfBandwidth + 1) {
          dense[index] = generator.normal()
          row.appendBand(index, dense[index])
        }
        for index in 0..<shape.border {
          dense[shape.band + index] = generator.normal()
          row.appendBorder(index, dense[shape.band + index])
        }
        let (innovation, weight) = (generator.normal(), generator.uniform(in: 0.5...2))
        system.add(row, innovation: innovation, weight: weight)
        for i in 0..<size {
          right[i] += weight * innovation * dense[i]
          for j in 0..<size { matrix[i][j] += weight * dense[i] * dense[j] }
        }
      }
    }
    return (system, matrix, right)
  }

  private static func inverse(_ matrix: [[Double]]) throws -> [[Double]] {
    let size = matrix.count
    let flat = try #require(positiveDefiniteInverse(of: matrix.flatMap(\.self), order: size))
    return (0..<size).map { row in (0..<size).map { flat[row * size + $0] } }
  }

  @Test("the solution and the determinant are the dense ones", arguments: shapes)
  func solution(shape: Shape) throws {
    let (system, matrix, right) = Self.random(shape, seed: 1)
    let factor = try #require(BorderedBandFactor(system))
    let inverse = try Self.inverse(matrix)
    for (row, ours) in factor.solution.enumerated() {
      let expected = zip(inverse[row], right).reduce(0) { $0 + $1.0 * $1.1 }
      #expect(abs(ours - expected) < 1e-9 * (1 + abs(expected)), "unknown \(row)")
    }
    // The determinant by elimination without pivots, which a positive definite matrix allows.
    var rest = matrix
    var logDeterminant = 0.0
    for pivot in rest.indices {
      logDeterminant += log(rest[pivot][pivot])
      for row in (pivot + 1)..<max(rest.count, pivot + 1) {
        let factor = rest[row][pivot] / rest[pivot][pivot]
        for column in pivot..<rest.count { rest[row][column] -= factor * rest[pivot][column] }
      }
    }
    #expect(abs(factor.logDeterminant - logDeterminant) < 1e-9 * (1 + abs(logDeterminant)))
  }

  @Test("every element of the selected inverse is the dense one's", arguments: shapes)
  func selectedInverse(shape: Shape) throws {
    let (system, matrix, _) = Self.random(shape, seed: 2)
    let selected = try #require(BorderedBandFactor(system)).selectedInverse()
    let inverse = try Self.inverse(matrix)
    let count = min(shape.band, shape.halfBandwidth + 1)
    for first in 0...(shape.band - count) {
      let block = selected.block(at: first, count: count)
      for row in 0..<count {
        for column in 0..<count {
          let expected = inverse[first + row][first + column]
          #expect(abs(block[row * count + column] - expected) < 1e-9 * (1 + abs(expected)))
        }
      }
    }
    for row in 0..<shape.border {
      for column in 0..<shape.border {
        let expected = inverse[shape.band + row][shape.band + column]
        #expect(abs(selected.border(row, column) - expected) < 1e-9 * (1 + abs(expected)))
      }
      for band in 0..<shape.band {
        let expected = inverse[band][shape.band + row]
        #expect(abs(selected.coupling(band, row) - expected) < 1e-9 * (1 + abs(expected)))
      }
    }
  }

  @Test("what is held does not move, and the rest moves as if it were not there")
  func holding() throws {
    let shape = Self.shapes[0]
    var (system, matrix, right) = Self.random(shape, seed: 3)
    let held = [2, 7, 13]
    for index in held {
      for other in matrix.indices {
        matrix[index][other] = 0
        matrix[other][index] = 0
      }
      matrix[index][index] = 1
      right[index] = 0
    }
    system.hold(
      band: (0..<12).map(held.contains), border: (12..<16).map(held.contains))
    let factor = try #require(BorderedBandFactor(system))
    let inverse = try Self.inverse(matrix)
    for (row, ours) in factor.solution.enumerated() {
      let expected = zip(inverse[row], right).reduce(0) { $0 + $1.0 * $1.1 }
      #expect(abs(ours - expected) < 1e-9 * (1 + abs(expected)))
    }
    #expect(held.allSatisfy { factor.solution[$0] == 0 })
  }

  @Test("a matrix that is not positive definite has no factor")
  func indefinite() {
    var system = BorderedBandSystem(bandCount: 3, halfBandwidth: 1, borderCount: 1)
    #expect(BorderedBandFactor(system) == nil)
    var row = BorderedBandSystem.Row()
    row.appendBand(0, 1)
    system.add(row, innovation: 1, weight: -1)
    #expect(BorderedBandFactor(system) == nil)
  }
}
