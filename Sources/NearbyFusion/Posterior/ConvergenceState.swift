// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The verdict on a peer at its newest sample, and the inputs that it depends on.
struct ConvergenceState: Sendable, Codable {
  var verdict = Convergence.unknown
  var vertical = VerticalDirectionEstimate.unknown
  /// Since when no component of any sample has been usable.
  var unusableSince: Timestamp?
  /// Whether the odometry has stopped telling where the device is.
  var outage = PoseOutage.none
  /// Whether the odometry has slipped lately, or seems to.
  var isSlipping = false
  /// The end of the outage after which a sample was last used.
  var resumedAt: Timestamp?
  /// What it depends on in the tracks.
  var tracks = Tracks()

  /// What a verdict depends on in the incumbent track and, while there is one, its challenger.
  struct Tracks: Hashable, Codable {
    /// How many hypotheses the incumbent has; zero before the first sample.
    var hypothesisCount = 0
    /// Whether they are still fitted anew to all that has been seen.
    var isSearching = false
    /// Whether the incumbent contradicts what is measured, or never explained it.
    var isDoubtful = false
    /// Whether samples contradict the incumbent, or have begun to.
    var isContradicted = false
    /// Whether the incumbent's place may not be published: samples contradict it, or do not bear it out.
    var isDisbelieved: Bool { isContradicted || isDoubtful }
    /// Whether it may be believed, however narrow it is.
    var isProven = false
    /// Whether its height has yet to be verified, as the walk does not tell it.
    var hasOpenHeight = false
    /// Whether its bearing has yet to be verified: the walk is a line, around which nothing tells the place.
    var hasOpenBearing = false

    /// None yet.
    init() {}

    /// Performance: a track is read in place, as it is large.
    @inline(__always)
    init(
      _ tracks: borrowing Span<Track>, _ claim: WeakDirectionClaim, isAlongGravity: Bool,
      isFromLine: Bool
    ) {
      hypothesisCount = tracks[0].bank.count
      isSearching = !tracks[0].phase.isSettled
      isDoubtful =
        tracks.count > 1
        && (tracks[0].motion == .stationary || tracks[0].consistency.rangesContradict)
        || !tracks[0].explainsRanges || !tracks[0].explainsShortRanges
      isContradicted = tracks[0].consistency.contradictedSince != nil
      isProven = tracks[0].isProven && !claim.isOpen
      hasOpenHeight = claim.isOpen && isAlongGravity
      hasOpenBearing = claim.isOpen && isFromLine
    }
  }

  /// Judges whether the peer has converged, and if so the vertical direction anew.
  ///
  /// Most samples need no more than this: only the reasons why not need the progress, and where the
  /// device has been.
  ///
  /// - Returns: Whether it has; if not, nothing has changed.
  @inline(__always)
  mutating func confirm(
    _ view: some PosteriorView, _ width: PosteriorWidth, _ settings: Settings,
    odometryLimits: ConvergenceReasons,
    at time: Timestamp
  ) -> Bool {
    guard convergenceJudge(settings, odometryLimits: odometryLimits, at: time).holds(width) else {
      return false
    }
    verdict = .converged
    vertical = verticalDirection(view, settings)
    return true
  }

  /// Judges why it has not, and the vertical direction anew.
  mutating func explain(
    _ view: some PosteriorView, _ width: PosteriorWidth, spread: DeviceSpread,
    _ settings: Settings, odometryLimits: ConvergenceReasons, at time: Timestamp
  ) {
    let progress = view.progress(
      view.best, spread: spread, dominantModeWeight: width.dominantModeWeight,
      settings.configuration)
    verdict = convergenceJudge(settings, odometryLimits: odometryLimits, at: time).judge(progress)
    vertical = verticalDirection(view, settings)
  }

  /// Judges by the settings, at a time.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - odometryLimits: What limits the odometry.
  ///   - lacksPoses: Whether poses have been missing since the newest sample.
  ///   - time: The time.
  /// - Returns: The judge.
  @inline(__always)
  func convergenceJudge(
    _ settings: Settings, odometryLimits: ConvergenceReasons, lacksPoses: Bool = false,
    at time: Timestamp
  ) -> ConvergenceJudge {
    let unusable = unusableSince.map { time.seconds(since: $0) } ?? 0
    return ConvergenceJudge(
      configuration: settings.configuration.convergence, wasConverged: verdict == .converged,
      odometryLimits: odometryLimits,
      lacksSignal: unusable >= settings.configuration.faults.doubtAfter || tracks.isDoubtful,
      lacksPoses: lacksPoses || isSlipping || !outage.isNone,
      isProven: tracks.isProven)
  }

  /// The vertical direction, once movement and the horizontal sweep are done.
  ///
  /// Without them it would follow from the prior. A planar world has no heights.
  @inline(__always)
  func verticalDirection(
    _ view: some PosteriorView, _ settings: Settings
  ) -> VerticalDirectionEstimate {
    if settings.configuration.odometry.isPlanar { return .unknown }
    if case .notConverged(let reasons) = verdict,
      !reasons.isDisjoint(with: [.insufficientMovement, .insufficientHorizontalSweep])
    {
      return .unknown
    }
    let probability = view.verticalProbabilities(
      sameLevelWithin: settings.configuration.outputs.sameLevelWithin)
    let direction = VerticalDirectionJudge(
      configuration: settings.configuration.outputs, previous: vertical
    )
    .judge(above: probability.above, below: probability.below)
    guard tracks.hasOpenHeight else { return direction }
    return [.above, .below, .aboveOrBelow].contains(direction) ? .aboveOrBelow : .unknown
  }
}
