// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The life of a track: from a search among places to one place, and for a peer that moves perhaps to
/// its loss.
///
/// Every transition is here, in ``after(_:)``, a pure function that `TrackPhaseTests` tests as a table.
enum TrackPhase: Hashable, Sendable, Codable {
  /// Several places may be right: the hypotheses are fitted to all that has been seen, again and again.
  case searching(SearchState)
  /// One narrow mode is left, but its shell still bends: it is fitted to all that has been seen until
  /// the shell is flat. Only for a peer at rest.
  case refining(since: Timestamp)
  /// One narrow mode is left, or one of each motion: the filter goes on alone.
  case settled(since: Timestamp)
  /// Has settled and become too wide for its linearisation since: no more than a guess, however narrow
  /// it may become again. Only for a peer that may move.
  case lost(since: Timestamp)

  /// How far a search has come.
  struct SearchState: Hashable, Sendable, Codable {
    /// Whether the last search of the whole prior found the peer in one place.
    var wasOnePlace = false
    /// Whether the last two of them did.
    var isConfirmed = false
    /// Whether the next search must be of the whole prior: it may be the last one, or the one that
    /// confirms.
    var needsSweep = false
  }

  /// What happens to a track with a sample.
  enum Event: Hashable, Sendable {
    /// The hypotheses were reduced during a search.
    case reduced(Reduction)
    /// The shell of the one place that is left bends no more than matters.
    case flattened
    /// The spread of a peer that may move has become too wide for its linearisation.
    case widened
    /// The joint fit has found where the peer is.
    case located(Timestamp)
  }

  /// The hypotheses after a reduction.
  struct Reduction: Hashable, Sendable {
    var time: Timestamp
    /// Whether one hypothesis is left, or one of each motion, narrow enough for its linearisation.
    var isNarrow: Bool
    /// Whether the hypotheses together are as narrow as convergence asks for.
    var isOnePlace: Bool
    /// Whether the newest search was of the whole prior.
    var wasSweep: Bool
    /// Whether the best place takes most of the ranges for inliers.
    var explainsRanges: Bool
    /// Whether one place that is left must be fitted further, as its shell still bends.
    var needsRefinement: Bool
  }

  /// Before the first search.
  static let initial = TrackPhase.searching(SearchState())

  /// The phase after an event; events that a phase does not know leave it as it is.
  func after(_ event: Event) -> TrackPhase {
    switch (self, event) {
    case (.searching(let state), .reduced(let reduction)): Self.after(reduction, in: state)
    case (.refining(let since), .flattened): .settled(since: since)
    case (.settled(let since), .widened): .lost(since: since)
    case (.searching, .located(let time)): .settled(since: time)
    case (.refining(let since), .located): .settled(since: since)
    case (.searching, _), (.refining, _), (.settled, _), (.lost, _): self
    }
  }

  private static func after(_ reduction: Reduction, in state: SearchState) -> TrackPhase {
    // Only a search of the whole prior may be the last one: others may have lost the right place.
    if reduction.isNarrow, reduction.wasSweep, reduction.explainsRanges {
      return reduction.needsRefinement
        ? .refining(since: reduction.time) : .settled(since: reduction.time)
    }
    var next = state
    if reduction.wasSweep {
      next.isConfirmed = reduction.isOnePlace && state.wasOnePlace
      next.wasOnePlace = reduction.isOnePlace
    }
    next.needsSweep = reduction.isNarrow || reduction.isOnePlace && !next.isConfirmed
    return .searching(next)
  }

  // MARK: Properties

  /// Whether hypotheses are still fitted to all that has been seen.
  @inline(__always)
  var isSearching: Bool {
    switch self {
    case .searching, .refining: true
    case .settled, .lost: false
    }
  }

  @inline(__always)
  var isRefining: Bool { if case .refining = self { true } else { false } }

  @inline(__always)
  var isLost: Bool { if case .lost = self { true } else { false } }

  /// When one place was left; `nil` during a search.
  @inline(__always)
  var settledAt: Timestamp? {
    switch self {
    case .searching: nil
    case .refining(let since), .settled(let since), .lost(let since): since
    }
  }

  @inline(__always)
  var isSettled: Bool { settledAt != nil }

  @inline(__always)
  var needsSweep: Bool { if case .searching(let state) = self { state.needsSweep } else { false } }

  /// Whether a place may be believed: one that is left, or that two searches of the whole prior in a row
  /// have found.
  @inline(__always)
  var isConfirmed: Bool {
    switch self {
    case .searching(let state): state.isConfirmed
    case .refining, .settled: true
    case .lost: false
    }
  }
}
