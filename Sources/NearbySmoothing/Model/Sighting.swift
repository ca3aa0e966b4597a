// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyGeometry

/// A sample as it came, and what the engine thought of it.
package struct Sighting: Sendable {
  package var peer: Int
  package var timestamp: Timestamp
  /// Where the device was; `nil` when there is no tracked pose.
  package var device: TrajectoryPoint?
  /// What was measured that may be used.
  package var measurements: PerKind<MeasuredValue?>
  package var isObstructed: Bool
  /// Where the filter had the peer then; of peers that may move.
  var filterPosition: Vector3?
  /// How the device moved then; read only if the clock's offset is unknown.
  package var rate = ChainProblem.Rate()
  /// The variance that drift gives that velocity along each axis, (m/s)².
  package var velocityVariance = 0.0

  package init(
    peer: Int, timestamp: Timestamp, device: TrajectoryPoint?,
    measurements: PerKind<MeasuredValue?>, isObstructed: Bool
  ) {
    (self.peer, self.timestamp, self.device) = (peer, timestamp, device)
    (self.measurements, self.isObstructed) = (measurements, isObstructed)
  }

  var isUsable: Bool {
    device != nil && MeasurementKind.allCases.contains { measurements[$0] != nil }
  }
  /// Whether it holds anything but a height difference, which alone tells no place.
  var hasRadio: Bool {
    MeasurementKind.allCases.contains { $0.isOfRadio && measurements[$0] != nil }
  }
}
