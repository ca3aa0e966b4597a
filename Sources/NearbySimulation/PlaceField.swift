// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

/// A random smooth function of the device's horizontal place, as a model of range errors that come
/// back when the device does, as reflections cause them.
///
/// An approximately Gaussian random field with the covariance `σ² exp(-d² / 2ℓ²)` over a distance
/// `d`: the sum of cosines whose wave vectors are drawn from the spectrum (random Fourier features).
struct PlaceField: Sendable {
  private static let waveCount = 24

  private let amplitude: Double
  private var waves: [(x: Double, z: Double, phase: Double)] = []

  /// Draws a field.
  ///
  /// - Parameters:
  ///   - sigma: The standard deviation, over places and draws.
  ///   - length: The correlation length `ℓ`, metres.
  ///   - generator: The random numbers; none are drawn without a sigma.
  init(sigma: Double, length: Double, _ generator: inout SeededGenerator) {
    amplitude = sigma * (2 / Double(Self.waveCount)).squareRoot()
    guard sigma > 0 else { return }
    for _ in 0..<Self.waveCount {
      let (x, z) = (generator.normal(sigma: 1 / length), generator.normal(sigma: 1 / length))
      waves.append((x, z, generator.uniform(in: -.pi...Double.pi)))
    }
  }

  /// The value at a place, of which the height does not count.
  func value(at place: Vector3) -> Double {
    var sum = 0.0
    for wave in waves { sum += cos(wave.x * place.x + wave.z * place.z + wave.phase) }
    return amplitude * sum
  }
}
