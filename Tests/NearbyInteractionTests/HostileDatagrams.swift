// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation

@testable import NearbyEnvironment

/// Datagrams that no program of this package would send, drawn from a seed.
struct HostileDatagrams {
  private var generator: SeededGenerator

  /// Texts instead of a number: limits of integers, invalid numbers, and too large ones.
  private static let numbers = [
    "-9223372036854775808", "9223372036854775807", "-9223372036854775809", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "-1", "0", "-0.0", "0.5", "1e30", "-1e30",
    "1e308", "1e400", "4.9e-324", "NaN", "Infinity", "null", "true", "\"1\"", "[]", "{}", "",
  ]
  private static let integers: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
  private static let coordinates = [
    Double.nan, .infinity, -.infinity, 0, .leastNonzeroMagnitude, 1, -1e7, 9_999_999, 1e154, -1e308,
  ]

  init(seed: UInt64) { generator = SeededGenerator(seed: seed, stream: 0x6675_7A7A) }

  /// A datagram.
  ///
  /// - Parameter good: One that a program did send.
  /// - Returns: That datagram with faults, or something different.
  mutating func next(after good: [UInt8]) -> [UInt8] {
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: flipped(good)
    case 1: Array(good.prefix(index(in: good)))
    case 2: cut(good, isDoubled: false)
    case 3: cut(good, isDoubled: true)
    case 4, 5: withHostileNumber(good)
    case 6: (0..<Int.random(in: 0..<300, using: &generator)).map { _ in byte() }
    case 7: oversized(good)
    default: withHostileFields()
    }
  }

  private mutating func byte() -> UInt8 { UInt8.random(in: 0...255, using: &generator) }

  private mutating func index(in bytes: [UInt8]) -> Int {
    Int.random(in: 0...bytes.count, using: &generator)
  }

  private mutating func flipped(_ good: [UInt8]) -> [UInt8] {
    var bytes = good
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
        1 << UInt8.random(in: 0..<8, using: &generator)
    }
    return bytes
  }

  /// Without a part of it, or with the part twice.
  private mutating func cut(_ good: [UInt8], isDoubled: Bool) -> [UInt8] {
    let (a, b) = (index(in: good), index(in: good))
    let (head, tail) = isDoubled ? (max(a, b), min(a, b)) : (min(a, b), max(a, b))
    return Array(good[..<head]) + Array(good[tail...])
  }

  private mutating func withHostileNumber(_ good: [UInt8]) -> [UInt8] {
    let digits = Set("0123456789.-+e".utf8)
    let starts = good.indices.filter {
      digits.contains(good[$0]) && ($0 == 0 || [58, 44, 91].contains(good[$0 - 1]))
    }
    guard let start = starts.randomElement(using: &generator) else { return good }
    let end = good[start...].firstIndex { !digits.contains($0) } ?? good.count
    let number = Self.numbers.randomElement(using: &generator) ?? ""
    return Array(good[..<start]) + Array(number.utf8) + Array(good[end...])
  }

  /// Nested very deeply, or longer than a beacon may be, or nothing.
  private mutating func oversized(_ good: [UInt8]) -> [UInt8] {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: [UInt8](repeating: 91, count: 20_000)
    case 1: Array(String(repeating: #"{"pose":"#, count: 5000).utf8)
    case 2: Array(good.dropLast(2)) + [UInt8](repeating: 32, count: 70_000) + good.suffix(2)
    default: []
    }
  }

  /// A beacon in good form whose numbers are not.
  private mutating func withHostileFields() -> [UInt8] {
    var beacon = WorldBeacon(
      device: UInt64(bitPattern: Self.integers.randomElement(using: &generator) ?? 0),
      exchange: Self.integers.randomElement(using: &generator) ?? 0, pose: .identity,
      sessions: [], ended: [])
    beacon.pose = (0..<Int.random(in: 6...8, using: &generator)).map { _ in
      Self.coordinates.randomElement(using: &generator) ?? 0
    }
    // JSON written by hand may contain values that an encoder would refuse.
    let pose = beacon.pose.map { "\($0)" }.joined(separator: ",")
    return Array(
      """
      {"device":\(beacon.device),"ended":[],"exchange":\(beacon.exchange),"pose":[\(pose)],\
      "sessions":[],"version":1}
      """.utf8)
  }
}
