// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// The modes of a peer that a person would tell apart.
enum LiveSpots {
  /// Less probable modes are not spoken of.
  private static let leastWeight = 0.03
  /// Nearer ones count as one place, metres.
  private static let leastDistance = 0.5

  /// Joins modes that are near each other.
  ///
  /// - Parameter modes: The modes, the most probable first.
  /// - Returns: The places, the most probable first.
  static func spots(_ modes: [PositionMode]) -> [PositionMode] {
    var spots: [PositionMode] = []
    for mode in modes where mode.probability >= leastWeight {
      let near = spots.firstIndex {
        ($0.positionInWorld - mode.positionInWorld).length < leastDistance
      }
      if let near { spots[near].probability += mode.probability } else { spots.append(mode) }
    }
    return spots.sorted { $0.probability > $1.probability }
  }
}
