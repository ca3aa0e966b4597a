// SPDX-License-Identifier: Apache-2.0
public import NearbyEnvironment

extension NIDiscoveryToken {
  /// Makes the token of a peer of a recording, which a session is run with to get its measurements.
  ///
  /// - Parameters:
  ///   - id: The peer's name in the recording.
  ///   - environment: The replay of the recording.
  public convenience init(peer id: String, of environment: ReplayEnvironment) {
    self.init(environment.peerToken(id))
  }
}
