// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion

/// Whether an accessory moves, according to the app.
public enum NIMotionActivityState: Int, Hashable, Sendable {
  /// It rests.
  case stationary = 0
  /// It moves.
  case moving = 1
  /// It is not known.
  case unknown = 2

  /// The corresponding type of the engine.
  var peerMotion: PeerMotion {
    switch self {
    case .stationary: .stationary
    case .moving: .moving
    case .unknown: .unknown
    }
  }
}
