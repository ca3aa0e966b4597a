// SPDX-License-Identifier: Apache-2.0

import NearbyFusion
import NearbyGeometry

/// What tells the measurements of one recording from those of another: the smallest hashes of its samples.
///
/// A sample's hash is of its time, its peer and its values, so that neither a new name nor another order of columns
/// changes it. Of two recordings that share samples the sketches share about the same part: a recording of which a
/// line was cut off has nearly the same sketch.
///
/// Source: Broder, On the resemblance and containment of documents, 1997 (min-wise hashing, bottom k).
public struct MeasurementSketch: Hashable, Sendable {
  /// How many samples there are.
  public private(set) var samples = 0
  /// The hashes, ascending: 64 at most.
  public private(set) var hashes: [UInt64] = []

  private static let mostHashes = 64
  /// Recordings overlap from this share of the compared hashes on.
  ///
  /// Two that begin at the same dock share a few samples
  /// by chance, where times and ranges are coarse.
  private static let leastShare = 0.125

  /// Makes the sketch of no samples.
  public init() {}

  /// Makes a sketch that was kept.
  ///
  /// - Parameters:
  ///   - hashes: Its hashes, in any order.
  ///   - samples: How many samples there are.
  public init(_ hashes: [UInt64], of samples: Int) {
    self.hashes = Array(hashes.sorted().prefix(Self.mostHashes))
    self.samples = samples
  }

  /// Adds a sample.
  ///
  /// - Parameter row: The sample.
  public mutating func add(_ row: RangingRow) {
    samples += 1
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ word: UInt64) {
      // The finaliser of SplitMix64, word by word.
      var mixed = (hash ^ word) &+ 0x9e37_79b9_7f4a_7c15
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      hash = mixed ^ (mixed >> 31)
    }
    mix(UInt64(bitPattern: Int64(row.timestamp.nanoseconds)))
    for byte in row.peer.utf8 { mix(UInt64(byte)) }
    for kind in MeasurementKind.allCases { mix(row[kind].value?.bitPattern ?? 0) }
    guard hashes.count < Self.mostHashes || hash < hashes[Self.mostHashes - 1] else { return }
    let place = hashes.firstIndex { $0 >= hash } ?? hashes.count
    if place < hashes.count, hashes[place] == hash { return }
    hashes.insert(hash, at: place)
    if hashes.count > Self.mostHashes { hashes.removeLast() }
  }

  /// Whether two recordings share more samples than by chance.
  ///
  /// Only hashes up to the largest that both sketches reach are compared, so that a short recording is found in a long
  /// one.
  ///
  /// - Parameter other: The sketch of the other recording.
  /// - Returns: Whether they do; no recording overlaps one without samples.
  public func overlaps(_ other: MeasurementSketch) -> Bool {
    let reach = min(self.reach, other.reach)
    let own = Set(hashes.prefix { $0 <= reach })
    let others = Set(other.hashes.prefix { $0 <= reach })
    let shared = own.intersection(others).count
    return shared > 0 && Double(shared) >= Self.leastShare * Double(min(own.count, others.count))
  }

  /// Up to which hash the sketch holds all of the recording's.
  private var reach: UInt64 {
    hashes.count < Self.mostHashes ? .max : hashes[Self.mostHashes - 1]
  }
}
