// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The former incumbent, kept after a challenger has replaced it.
///
/// Only the innovations of ranges and angles at its place are computed, with the drift since as process
/// noise. The filter is updated again when the track is the incumbent again. It is deleted once the new
/// incumbent has explained as long a walk.
struct DormantTrack: Sendable, Codable {
  var track: Track
  /// Whether the peer was reported to have left the place.
  private(set) var wasLeft = false
  /// Whether the whole walk refutes the place, so that it is not that of the incumbent again.
  private let isRefuted: Bool
  /// Since when samples have contradicted the place.
  private let contradictedSince: Timestamp
  private var ranges = ContradictionMonitor()
  /// The contradictions that no obstacle explains.
  private var unobstructed = ContradictionMonitor()
  /// What was measured until then.
  private let history: WalkHistory?
  /// The path from which on the evidence of a move is computed again, metres.
  private var nextTest = -Double.infinity

  /// The gate on an innovation, in its standard deviations.
  private static let gateSigmas = 3.0
  /// The time constant over which samples must agree or contradict, seconds.
  private static let patience = 1.0
  /// The least number of compared ranges for ``isConsistent``.
  private static let fewest = 10
  /// The evidence of a move is computed again after so much of the walk, metres.
  private static let testedEvery = 0.5
  /// Ranges that were measured from places as near as this, metres, are compared.
  private static let samePlace = 1.0
  private var count = 0

  init(_ track: Track) {
    self.track = track
    isRefuted = track.isRefuted
    let since = track.consistency.contradictedSince ?? track.device.timestamp
    contradictedSince = since
    history = track.history.first?.until(since)
  }

  /// Whether a restored track fits the settings of a configuration.
  func isConsistent(with configuration: FusionConfiguration, mayBePacked: Bool) -> Bool {
    track.isConsistent(with: configuration, mayBePacked: mayBePacked)
      && history?.isConsistent ?? true
  }

  /// Whether most of the newest ranges agree with it, and the walk does not refute it.
  var isConsistent: Bool { !isRefuted && count >= Self.fewest && ranges.isConsistent }

  /// Whether another track has explained as long a walk.
  func isOutweighed(by other: Track) -> Bool { other.explainedWalk > track.explainedWalk }

  /// Compares a sample with the place.
  mutating func add(
    _ measurements: Measurements, at device: TrajectoryPoint, _ settings: Settings
  ) {
    for kind in MeasurementKind.allCases where kind.isOfRadio {
      guard let measured = measurements[kind] else { continue }
      let innovation = innovation(of: kind, measured, at: device, settings)
      let contradicts = innovation.isBeyond(Self.gateSigmas)
      if kind == .range {
        count += 1
        ranges.add(contradicts: contradicts, at: device.timestamp, patience: Self.patience)
      }
      let isLong = kind == .range && contradicts && innovation.value > 0
      if isLong, !hasAgreed(near: device, settings) {
        unobstructed.skip(to: device.timestamp)
      } else {
        unobstructed.add(contradicts: contradicts, at: device.timestamp, patience: Self.patience)
      }
    }
  }

  /// Whether a range agreed with the place where the device is now, while the peer was there.
  ///
  /// What an obstacle or a mirror does to a range, it does again when the device comes back. A peer that was
  /// moved is measured at other distances from the same place.
  private func hasAgreed(near device: TrajectoryPoint, _ settings: Settings) -> Bool {
    guard
      let (range, then) = history?.window.nearestRange(
        to: device.worldFromDevice.translation, within: Self.samePlace)
    else { return false }
    return !innovation(of: .range, range, at: then, settings).isBeyond(Self.gateSigmas)
  }

  /// The innovation of a value at the place.
  private func innovation(
    of kind: MeasurementKind, _ measured: MeasuredValue, at device: TrajectoryPoint,
    _ settings: Settings
  ) -> Innovation {
    let heaviest = track.bank.heaviest
    let place = track.bank.position(heaviest)
    let predicted = PredictedMeasurement(
      kind,
      from: AntennaPose(
        device.worldFromDevice, antennaInDevice: settings.configuration.ranging.antennaInDevice),
      peer: place, rangeBias: track.bank[.mean(StateIndex.rangeBias), heaviest],
      rangeScale: track.bank[.mean(StateIndex.rangeScale), heaviest])
    let drift = OdometryDrift(from: track.device, to: device, isPlanar: false)
      .covariance(for: place - track.device.worldFromDevice.translation)
    let covariance = track.bank.positionCovariance(heaviest) + drift
    return Innovation(
      value: kind.wrapped(measured.value - predicted.value),
      variance: covariance.quadraticForm(predicted.gradient) + 2 * measured.sigma * measured.sigma)
  }

  // MARK: Evidence of a move

  /// Whether the samples show that the peer was here and has been moved to the place of another track.
  ///
  /// A place that is wrong now was either left or never right. That the peer was here follows from what was
  /// measured until samples contradicted the place: it must be in favour of this place, with a wide prior, over
  /// the other one, as it is known now, by ``Challenge/decisiveNats``. That it is not here any more follows
  /// from contradictions that no obstacle explains, as it makes ranges longer, and always where it stands:
  /// ranges that are too short, wrong angles, and long ranges from where they agreed with the place before.
  ///
  /// - Parameters:
  ///   - other: The track that has replaced this one.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  /// - Returns: Since when samples have contradicted the place, once: with the sample that shows it.
  mutating func departure(
    to other: Track, _ noise: NoiseLevels, _ settings: Settings
  ) -> Timestamp? {
    guard !wasLeft, unobstructed.isContradicted, other.phase.isSettled, !other.isDoubted,
      other.hasAngles || other.explainedWalk >= Challenge.movedWalk,
      other.device.path >= nextTest, let history
    else { return nil }
    nextTest = other.device.path + Self.testedEvery
    let (place, covariance) = other.bank.positionMoments()
    let ratio = history.logEvidenceRatio(
      of: track.bank.heaviestPosition, over: place, covariance, now: other.device, noise, settings)
    wasLeft = ratio > Challenge.decisiveNats
    return wasLeft ? contradictedSince : nil
  }
}
