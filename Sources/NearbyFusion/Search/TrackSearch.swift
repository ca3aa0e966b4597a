// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The search of a track: all that has been seen since it began, and the modes of its posterior.
///
/// While a posterior is bent, hypotheses at rest are not only filtered but fitted anew to the whole window
/// (``ModeSearch``), whenever there is something new in it. Those that move are only filtered: where a peer
/// was seconds ago says little about where it is.
struct TrackSearch: Sendable, Codable {
  private(set) var window: ObservationWindow
  /// The search for a peer at rest; `nil` when it cannot be.
  private var modes: ModeSearch?
  /// The share of the window's ranges that the best place takes for inliers.
  private(set) var rangeInlierShare = 1.0
  /// Whether the newest search was of the whole prior.
  private(set) var wasSweep = false
  /// Where the refinement has last found the only place.
  private var refinedPosition: Vector3?
  private var searchCount = 0
  private var newKeyframes = 0
  private let features: EngineFeatures

  /// Neither motion is ever ruled out while the search lasts.
  private static let leastShare = 0.005
  /// One search in so many is of the whole prior; the others refine the modes there are.
  private static let searchesPerSweep = 6
  private static let keyframesPerSearch = 12

  /// Begins with the first sample.
  ///
  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - device: Where the device was.
  ///   - initial: The hypotheses that it allows.
  ///   - motion: How the peer may move.
  ///   - noise: How noisy each kind is.
  ///   - features: What is switched on.
  init(
    _ measurements: Measurements, at device: TrajectoryPoint, _ initial: InitialHypotheses,
    _ motion: PeerMotion, _ noise: NoiseLevels, _ features: EngineFeatures
  ) {
    self.init(ObservationWindow(), initial, motion, features)
    _ = window.add(measurements, at: device, noise: noise, expecting: nil)
  }

  /// Begins anew with what has been measured before.
  ///
  /// - Parameters:
  ///   - window: What has been measured.
  ///   - initial: The hypotheses that the newest sample allows.
  ///   - motion: How the peer may move.
  ///   - features: What is switched on.
  init(
    _ window: ObservationWindow, _ initial: InitialHypotheses, _ motion: PeerMotion,
    _ features: EngineFeatures
  ) {
    self.features = features
    self.window = window
    modes = motion == .moving ? nil : ModeSearch(initial, features)
  }

  /// Whether a restored search fits its track.
  ///
  /// - Parameter mayBePacked: Whether it is unpacked before anything is asked of it.
  /// - Returns: Whether it is so.
  func isConsistent(mayBePacked: Bool) -> Bool {
    window.isConsistent && searchCount >= 0
      && modes?.isConsistent(mayBePacked: mayBePacked) ?? true
  }

  /// Takes less memory until it is unpacked; nothing may be asked of it meanwhile.
  mutating func pack() {
    modes?.pack()
  }

  /// Undoes ``pack()``.
  mutating func unpack() {
    modes?.unpack()
  }

  /// Leaves only the best place, which is refined from now on.
  mutating func keepBestPlace() { modes?.keepBest() }

  /// Takes a sample in, without a search.
  ///
  /// - Returns: Whether a search is due: there is something new, the more of it the more has been seen,
  ///   since then one keyframe more can change less.
  mutating func add(
    _ measurements: Measurements, at device: TrajectoryPoint, _ noise: NoiseLevels,
    expecting expectation: ObservationWindow.Expectation?
  ) -> Bool {
    wasSweep = false
    let isNew = window.add(measurements, at: device, noise: noise, expecting: expectation)
    if isNew { newKeyframes += 1 }
    return isNew && newKeyframes > window.count / Self.keyframesPerSearch
  }

  // MARK: Searching

  /// Fits the hypotheses anew to all that has been seen.
  ///
  /// - Parameters:
  ///   - bank: The hypotheses; those found take their place.
  ///   - measurements: The newest sample.
  ///   - sampleDevice: Where the device was then.
  ///   - device: Where it is at the time of the bank, which a late sample does not change.
  ///   - needsSweep: Whether the whole prior must be searched.
  ///   - noise: How noisy each kind is.
  ///   - settings: The settings.
  mutating func search(
    _ bank: inout HypothesisBank, _ measurements: Measurements,
    sampledAt sampleDevice: TrajectoryPoint, now device: TrajectoryPoint, needsSweep: Bool,
    _ noise: NoiseLevels, _ settings: Settings
  ) {
    newKeyframes = 0
    wasSweep = searchCount % Self.searchesPerSweep == 0 || needsSweep
    searchCount += 1
    let seeds = seeds(at: device, mayMove: bank.mayMove, noise, settings)
    rangeInlierShare = modes?.rangeInlierShare ?? 1
    guard bank.mayMove else {
      if !seeds.isEmpty { bank.replace(with: seeds) }
      return
    }
    if !bank.hasMoving, measurements.has(.range) {
      let initial = InitialHypotheses(measurements, at: sampleDevice, noise: noise, settings)
      bank.add(
        initial.seeds().map { $0.moving(at: settings.motion.speedVariances) },
        share: Self.leastShare)
    }
    guard !seeds.isEmpty else { return }
    // The shares of both motions follow from the samples, one by one as each was predicted.
    let movingShare = min(max(bank.movingShare, Self.leastShare), 1 - Self.leastShare)
    bank.replaceResting(with: seeds, share: 1 - movingShare)
  }

  /// Fits the place that is left anew.
  ///
  /// While its shell still bends by more than the ranges' noise, a filter that linearises sample by
  /// sample, each time somewhere else, would gain information that is not there (Huang, Mourikis and
  /// Roumeliotis 2010); a fit linearises all samples at one place.
  mutating func refine(
    _ bank: inout HypothesisBank, at device: TrajectoryPoint, _ noise: NoiseLevels,
    _ settings: Settings
  ) {
    newKeyframes = 0
    let seeds = seeds(at: device, mayMove: bank.mayMove, noise, settings)
    rangeInlierShare = modes?.rangeInlierShare ?? 1
    if let seed = seeds.first { bank.refine(to: seed) }
    refinedPosition = bank.position(0)
  }

  /// How far a position is from the one last found, metres; `nil` before the first refinement, which
  /// keeps the pace of the search.
  func swing(of position: Vector3, from device: Vector3) -> (across: Double, distance: Double)? {
    refinedPosition.map { ((position - $0).length, ($0 - device).length) }
  }

  /// The hypotheses at rest that a search finds in the window, of a peer that may move or not.
  private mutating func seeds(
    at device: TrajectoryPoint, mayMove: Bool, _ noise: NoiseLevels, _ settings: Settings
  ) -> [HypothesisBank.Seed] {
    // Performance: taken out, so that the pieces are not copied as long as another holds them.
    guard var modes = modes.take() else { return [] }
    defer { self.modes = modes }
    return modes.seeds(
      window.fitKeyframes(now: device, mayMove: mayMove, settings), isSweep: wasSweep,
      antennaInWorld: device.worldFromDevice.act(settings.configuration.ranging.antennaInDevice),
      FitAssumptions(noise, settings))
  }
}

extension [HypothesisBank.Seed] {
  /// Gives the weights another sum.
  mutating func scaleWeights(to sum: Double) {
    let total = reduce(0) { $0 + $1.weight }
    for index in indices { self[index].weight *= sum / total }
  }
}
