// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// What an engine would accept of a sample, as accurate as the settings state for the radio and not as the sample says of
/// itself.
struct StatedSample: Sendable {
  var peer: Int
  var timestamp: Timestamp
  /// Of each kind but height differences.
  var values: PerKind<MeasuredValue?>
  var isObstructed: Bool

  /// Takes what is accepted; `nil` where nothing is.
  init?(_ sample: RangingSample, _ ranging: RangingConfiguration) {
    var plain = RangingSample(peer: sample.peer, timestamp: sample.timestamp)
    values = PerKind(repeating: nil)
    var hasAny = false
    for kind in MeasurementKind.allCases where kind != .heightDifference {
      guard let value = MeasuredValue(kind, of: sample, ranging), value.rejection == nil else {
        continue
      }
      plain[kind] = (value.value, nil)
      values[kind] = MeasuredValue(kind, of: plain, ranging)
      hasAny = true
    }
    guard hasAny else { return nil }
    (peer, timestamp) = (sample.peer.index, sample.timestamp)
    isObstructed = sample.isNonLineOfSight ?? false
  }

  /// The same for an engine in which the peer has another handle.
  func ranging(of peer: PeerID) -> RangingSample {
    var sample = RangingSample(peer: peer, timestamp: timestamp)
    for kind in MeasurementKind.allCases { sample[kind] = (values[kind]?.value, nil) }
    if isObstructed { sample.isNonLineOfSight = true }
    return sample
  }
}
