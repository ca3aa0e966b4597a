// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation

/// Numbers at the ends of intervals and of the range of doubles.
private let hostileNumbers: [Double] = [
  Double.nan, Double.infinity, -Double.infinity, 0, -0.0, Double.leastNonzeroMagnitude,
  Double.leastNormalMagnitude, Double.greatestFiniteMagnitude, -Double.greatestFiniteMagnitude,
  Double.pi, -Double.pi, Double.pi.nextUp, Double.pi / 2, -Double.pi / 2, 1e-9, -1, 1, 999.999,
  1000, 1e6, 1e18, 9.3e18,
]

extension SeededGenerator {
  /// True with the given probability.
  mutating func happens(_ probability: Double) -> Bool { uniform() < probability }

  /// A whole number drawn uniformly from a range.
  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

  /// One of some values, at least one.
  mutating func one<Value>(of values: [Value]) -> Value { values[number(0..<values.count)] }

  /// A hostile number: not finite, huge, tiny, or at the end of an interval.
  mutating func hostileNumber() -> Double {
    if happens(0.2) {
      let size = pow(10, uniform(in: -320...308))
      return happens(0.5) ? size : -size
    }
    return one(of: hostileNumbers)
  }

  /// A hostile timestamp.
  mutating func hostileTime(near time: Timestamp) -> Timestamp {
    switch number(0..<5) {
    case 0: Timestamp(nanoseconds: one(of: [.min, .max, 0, -1, 1, .min + 1, .max - 1]))
    case 1: time.advanced(bySeconds: hostileNumber())
    case 2: Timestamp(nanoseconds: time.nanoseconds &+ Int64(number(-3..<4)))
    case 3: time.advanced(bySeconds: uniform(in: -3...3))
    default: Timestamp(nanoseconds: Int64(truncatingIfNeeded: next()))
    }
  }

  /// A pose with a fault.
  mutating func hostilePose(_ pose: DevicePose) -> DevicePose {
    var pose = pose
    switch number(0..<4) {
    case 0: pose.timestamp = hostileTime(near: pose.timestamp)
    case 1:
      pose.worldFromDevice.translation = Vector3(
        hostileNumber(), happens(0.5) ? 0 : hostileNumber(), happens(0.5) ? 0 : hostileNumber())
    case 2:
      // A rotation far off in one step: the largest that is still one.
      pose.worldFromDevice.rotation = rotation()
    default: pose.worldFromDevice.translation += normalVector(sigma: 1000)
    }
    return pose
  }

  /// A sample with a fault.
  mutating func hostileSample(_ sample: RangingSample) -> RangingSample {
    var sample = sample
    for _ in 0...number(0..<3) {
      let value = hostileNumber()
      switch number(0..<9) {
      case 0: sample.timestamp = hostileTime(near: sample.timestamp)
      case 1: sample.distance = value
      case 2: sample.azimuthRadians = value
      case 3: sample.elevationRadians = value
      case 4: sample.distanceSigma = value
      case 5: sample.azimuthSigmaRadians = value
      case 6: sample.elevationSigmaRadians = value
      case 7: sample.isNonLineOfSight = happens(0.5)
      default: (sample.distance, sample.azimuthRadians, sample.elevationRadians) = (nil, nil, nil)
      }
    }
    return sample
  }

  /// A random report of the odometry.
  mutating func tracking(at time: Timestamp) -> TrackingSample {
    let quality: TrackingSample.Quality =
      switch number(0..<3) {
      case 0: .normal
      case 1: .limited(one(of: TrackingSample.LimitationReason.allCases))
      default: .notAvailable
      }
    return TrackingSample(
      timestamp: happens(0.1) ? hostileTime(near: time) : time, quality: quality,
      ambientIntensityLumens: happens(0.5)
        ? nil : happens(0.3) ? hostileNumber() : uniform(in: 0...2000))
  }
}
