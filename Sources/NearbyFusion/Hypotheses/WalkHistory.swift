// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// What has been measured of a peer at rest since its first search, condensed: by it places are weighed, and all
/// of them searched anew.
///
/// A filter keeps only what follows from the samples for the place that it has. Where the ranges of a part of the
/// walk are those of a reflection, another place explains that part, and only the rest of the walk tells which of
/// the two is the peer's.
struct WalkHistory: Sendable, Codable {
  private(set) var window: ObservationWindow
  /// When the peer came to its place; `nil` of one that was there all along.
  var placeSince: Timestamp?
  /// The path and the time at which the next sample is taken in.
  private var nextPath: Double
  private var nextTime: Timestamp

  /// Samples are taken in this often, metres of the path and seconds.
  private static let metres = 0.5
  private static let seconds = 1.0
  /// A range below the prediction by more than this is too short, metres; the largest share of such ranges
  /// that a place may have.
  private static let shortMetres = 0.8
  private static let shortShare = 0.08

  /// Begins with the window of the search that found the first place.
  init(_ window: ObservationWindow, at device: TrajectoryPoint) {
    self.window = window
    self.window.reserve()
    nextPath = device.path + Self.metres
    nextTime = device.timestamp.advanced(bySeconds: Self.seconds)
  }

  /// Whether a restored history is within its capacity.
  var isConsistent: Bool { window.isConsistent }

  /// Takes a sample in, if that is due.
  @inline(__always)
  mutating func add(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    place: Vector3
  ) -> Bool {
    guard device.path >= nextPath || device.timestamp >= nextTime else { return false }
    record(measurements, at: device, noise, place: place)
    return true
  }

  /// Whether hardly any range was too short for a place.
  func explainsShortRanges(_ place: Vector3, now: TrajectoryPoint) -> Bool {
    let share = window.shareOfShortRanges(
      for: place, by: Self.shortMetres, since: placeSince, now: now)
    return share <= Self.shortShare
  }

  @inline(never)
  private mutating func record(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    place: Vector3
  ) {
    nextPath = device.path + Self.metres
    nextTime = device.timestamp.advanced(bySeconds: Self.seconds)
    _ = window.add(
      measurements, at: device, noise: noise,
      expecting: ObservationWindow.Expectation(position: place, spread: 0.1))
  }

  /// What was measured since the peer came to its place.
  var windowOfPlace: ObservationWindow {
    var window = window
    if let placeSince { window.removeAll(before: placeSince) }
    return window
  }

  /// The probabilities of places by all that was measured.
  func chain(of modes: [Mode], now: TrajectoryPoint, _ settings: Settings) -> ModeChain {
    ModeChain(of: modes, window.cells(settings), now: now, settings)
  }
}
