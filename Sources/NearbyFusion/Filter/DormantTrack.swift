// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The former incumbent, kept after a challenger has replaced it.
///
/// Only the innovation of each range at its place is computed, with the drift since as process noise. The
/// filter is updated again when the track is the incumbent again. It is deleted once the new incumbent has
/// explained as long a walk.
struct DormantTrack: Sendable {
  var track: Track
  private var monitor = ContradictionMonitor()

  /// The gate on a range's innovation, in its standard deviations.
  private static let gateSigmas = 3.0
  /// The time constant over which ranges must agree, seconds.
  private static let patience = 1.0
  /// The least number of compared ranges for ``isConsistent``.
  private static let fewest = 10
  private var count = 0

  init(_ track: Track) { self.track = track }

  /// Whether most of the newest ranges agree with it.
  var isConsistent: Bool { count >= Self.fewest && monitor.isConsistent }

  /// Whether another track has explained as long a walk.
  func isOutweighed(by other: Track) -> Bool { other.explainedWalk > track.explainedWalk }

  /// Compares a sample with the place; only ranges are compared.
  mutating func add(_ measurements: Measurements, at device: TrajectoryPoint) {
    guard measurements.has(.range) else { return }
    let range = measurements.values.range
    let place = track.bank.heaviestPosition
    let drift = OdometryDrift(from: track.device, to: device, isPlanar: false)
    let sight = place - device.worldFromDevice.translation
    let distance = max(sight.length, 1e-3)
    let variance =
      track.bank.positionCovariance(track.bank.heaviest).quadraticForm(sight / distance)
      + drift.covariance(for: place - track.device.worldFromDevice.translation)
      .quadraticForm(sight / distance) + 2 * range.sigma * range.sigma
    let innovation = range.value - distance
    let contradicts = innovation * innovation > Self.gateSigmas * Self.gateSigmas * variance
    count += 1
    monitor.add(contradicts: contradicts, at: device.timestamp, patience: Self.patience)
  }
}
