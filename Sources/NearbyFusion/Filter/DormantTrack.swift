// SPDX-License-Identifier: Apache-2.0

/// The former incumbent, kept after another track has replaced it.
///
/// Its place is weighed with the present one (``ModeChain``), with the drift since as process noise. Its filter
/// is updated again when the track is the incumbent again. It is deleted once the new incumbent has explained as
/// long a walk.
struct DormantTrack: Sendable, Codable {
  var track: Track
  /// Whether the peer was reported to have left the place.
  var wasLeft = false
}
