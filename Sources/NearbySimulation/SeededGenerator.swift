// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

/// A seeded random number generator: xoshiro256++ (Blackman and Vigna, 2019), seeded by SplitMix64.
///
/// The bits are the same on every machine; normals and exponentials differ at most by what the C
/// library's `log` differs in its last place.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var s0: UInt64
  private var s1: UInt64
  private var s2: UInt64
  private var s3: UInt64
  private var spareNormal: Double?

  /// Makes a generator from its four words of state, not all zero.
  public init(state s0: UInt64, _ s1: UInt64, _ s2: UInt64, _ s3: UInt64) {
    precondition(s0 | s1 | s2 | s3 != 0, "the all-zero state generates zeros for ever")
    self.s0 = s0
    self.s1 = s1
    self.s2 = s2
    self.s3 = s3
  }

  /// Makes one of a seed's independent streams.
  ///
  /// - Parameters:
  ///   - seed: The seed, which a failing test prints.
  ///   - stream: The stream. Each source of randomness has its own, so that switching one on or off
  ///     does not change the others.
  public init(seed: UInt64, stream: UInt64 = 0) {
    var streams = SplitMix64(state: stream)
    var mix = SplitMix64(state: seed ^ streams.next())
    self.init(state: mix.next(), mix.next(), mix.next(), mix.next())
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    let sum = s0 &+ s3
    let result = (sum << 23 | sum >> 41) &+ s0
    let t = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = s3 << 45 | s3 >> 19
    return result
  }

  /// A number drawn uniformly from [0, 1), with 53 random bits.
  public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number drawn uniformly from an interval.
  public mutating func uniform(in interval: ClosedRange<Double>) -> Double {
    interval.lowerBound + (interval.upperBound - interval.lowerBound) * uniform()
  }

  /// A number drawn from the normal distribution about zero, by Marsaglia's polar method.
  ///
  /// - Parameter sigma: The standard deviation.
  /// - Returns: The number.
  public mutating func normal(sigma: Double = 1) -> Double {
    if let spare = spareNormal {
      spareNormal = nil
      return sigma * spare
    }
    while true {
      let u = 2 * uniform() - 1
      let v = 2 * uniform() - 1
      let square = u * u + v * v
      guard square < 1, square > 0 else { continue }
      let scale = (-2 * log(square) / square).squareRoot()
      spareNormal = v * scale
      return sigma * u * scale
    }
  }

  /// A number drawn from the exponential distribution with the given mean.
  public mutating func exponential(mean: Double) -> Double { -mean * log(1 - uniform()) }

  /// A vector with independent normal components.
  ///
  /// - Parameter sigma: The standard deviation of each component.
  /// - Returns: The vector.
  public mutating func normalVector(sigma: Double = 1) -> Vector3 {
    Vector3(normal(sigma: sigma), normal(sigma: sigma), normal(sigma: sigma))
  }

  /// A rotation drawn uniformly from all rotations.
  public mutating func rotation() -> Rotation {
    while true {
      // Four normals point uniformly over the sphere of unit quaternions.
      if let rotation = Rotation(normalizing: normal(), normal(), normal(), normal()) {
        return rotation
      }
    }
  }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): spreads a seed's bits over a larger state.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator from its state, which is the seed.
  public init(state: UInt64) { self.state = state }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
