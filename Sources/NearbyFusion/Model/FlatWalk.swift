// SPDX-License-Identifier: Apache-2.0

/// When a walk is flat, and what is assumed of a peer then: all thresholds of flat and level walks.
///
/// Ranges from a plane tell how far a peer is from it at second order only, and not on which side
/// (``WalkShape``). A level walk is the special case of a horizontal plane.
enum FlatWalk {
  /// Along a direction in which its places scatter by less than this, one sigma, metres, a walk is flat: with several
  /// peers, and with one.
  ///
  /// With 0.2 m for one, 3 to 9 % of its converged samples are wrong beside a reflector and with errors by attitude,
  /// with 0.25 m at most 0.7 %; with 0.3 m a fifth fewer samples converge where every fifth range is obstructed. With
  /// 0.25 m for eight peers in zones no sample is wrong instead of 0.15 %, but 39 % converge instead of 51 %.
  private static let sigmas = (several: 0.2, alone: 0.25)

  /// The largest variance of the places along a direction that a walk does not tell, m².
  static func variance(isAlone: Bool) -> Double {
    let sigma = isAlone ? sigmas.alone : sigmas.several
    return sigma * sigma
  }

  /// The square of a cosine above which a direction is open where a weak one is.
  static let hiddenShare = 0.1
  /// A walk so long, metres, has drift in it that matters, and an elevation would have come.
  ///
  /// After it a place that azimuths tell must be verified too, and the joint fit takes over from a filter
  /// alone.
  static let long = 10.0
  /// The shape of a walk is assessed anew after so much more of it, metres.
  static let assessed = 0.2
  /// Samples are averaged within so much of height, metres: on a level walk what a hand sways is all that
  /// tells above from below.
  static let tallestCell = 0.04
  /// The share of all keyframes of a window that drift puts off together, on a flat walk.
  static let keyframesTogether = 0.5
}
