// SPDX-License-Identifier: Apache-2.0

extension FusionEngine.Contents {
  /// Why no engine can hold this; `nil` when one can.
  ///
  /// These are the relations between counts and indices on which the engine relies. Each is checked by the
  /// type that relies on it.
  var inconsistency: String? {
    var configuration = configuration
    configuration.features = features
    do {
      try configuration.validate()
    } catch {
      return "the setting \(error)"
    }
    let named = names.compactMap(\.self)
    guard names.count == peers.count, Set(named).count == named.count else {
      return "the names of peers"
    }
    guard trajectory.isConsistent(with: configuration) else { return "the trajectory" }
    if let peer = peers.firstIndex(where: { !$0.isConsistent(with: configuration) }) {
      return "the filter of peer \(peer)"
    }
    guard joint.isConsistent(with: configuration.odometry, peerCount: peers.count) else {
      return "the joint fit"
    }
    guard localizer?.isConsistent(peerCount: peers.count) ?? true else { return "the map" }
    guard (0...peers.count).contains(heardCount) else { return "the number of peers heard" }
    return nil
  }
}
