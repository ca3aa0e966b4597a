// SPDX-License-Identifier: Apache-2.0

/// What may be claimed of a peer's place along the directions that the walk does not tell
/// (``WalkShape``): its height, when the walk is level.
///
/// Every transition is here, in ``after(_:)``, a pure function that `WeakDirectionClaimTests` tests as a
/// table.
enum WeakDirectionClaim: Hashable, Sendable, Codable {
  /// An elevation or a height difference tells the place. Final.
  case measured
  /// There is no such direction: the walk went through space, or the world is planar.
  case resolved
  /// Azimuths tell it, while the walk is short and the odometry has hardly drifted.
  case toldByAzimuths
  /// Nothing tells it at first order, and no examination has verified it: the place is not claimed.
  case open
  /// The same, and the joint fit has found another place that the data do not rule out. The walk's leaving
  /// its plane does not decide between the two: an examination must.
  case contested
  /// The joint fit has verified it (``DirectionExamination``).
  case verified

  /// What happens with a sample or a joint fit.
  enum Event: Hashable, Sendable {
    /// An elevation or a height difference was used.
    case measured
    /// The walk's shape was judged, and whether azimuths tell what a flat walk does not.
    case walked(isFlat: Bool, azimuthsTell: Bool)
    /// A joint fit has ended, after which the place is verified, or not, or has a rival.
    case examined(Verdict)
    /// Another track has taken over: nothing that was verified is about its place.
    case replaced
  }

  /// What the examinations of a place have found (``DirectionCheck``).
  enum Verdict: Hashable, Sendable {
    case verified
    case unverified
    /// The newest examination has found a rival, or the place to be one.
    case contested
  }

  /// The claim after an event.
  func after(_ event: Event) -> WeakDirectionClaim {
    switch (self, event) {
    case (.measured, _), (_, .measured): .measured
    case (_, .replaced): .resolved
    case (.contested, .walked(_, azimuthsTell: false)): .contested
    case (_, .walked(isFlat: false, _)): .resolved
    case (.verified, .walked): .verified
    case (_, .walked(_, azimuthsTell: true)): .toldByAzimuths
    case (_, .walked): .open
    case (.resolved, .examined): .resolved
    case (_, .examined(.verified)): .verified
    case (.toldByAzimuths, .examined): .toldByAzimuths
    case (_, .examined(.contested)): .contested
    case (.verified, .examined), (.contested, .examined): .open
    case (_, .examined): self
    }
  }

  /// Whether nothing but ranges and azimuths from a flat walk tells the place.
  @inline(__always)
  var isFromFlatWalk: Bool {
    switch self {
    case .measured, .resolved: false
    case .toldByAzimuths, .open, .contested, .verified: true
    }
  }

  /// Whether the place is not claimed, as the joint fit has yet to verify it.
  @inline(__always)
  var isOpen: Bool { self == .open || self == .contested }

  /// What the filter is told of it after a joint fit.
  var verdict: Verdict {
    switch self {
    case .verified: .verified
    case .contested: .contested
    case .measured, .resolved, .toldByAzimuths, .open: .unverified
    }
  }

  /// Whether the joint fit has not verified the place, be it claimed or not.
  var isUndecided: Bool { isFromFlatWalk && self != .verified }
}
