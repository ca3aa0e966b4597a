// SPDX-License-Identifier: Apache-2.0

/// Turns the probabilities of above and below into a vertical direction, with hysteresis.
struct VerticalDirectionJudge {
  var configuration: OutputConfiguration
  /// The word published before.
  var previous: VerticalDirectionEstimate

  /// A word needs its probability; the one published before may fall short by the hysteresis.
  @inline(__always)
  func judge(above: Double, below: Double) -> VerticalDirectionEstimate {
    let same = 1 - above - below
    if holds(.same, same) { return .same }
    if holds(.above, above) { return .above }
    if holds(.below, below) { return .below }
    if holds(.aboveOrBelow, above + below) { return .aboveOrBelow }
    return .unknown
  }

  @inline(__always)
  private func holds(_ word: VerticalDirectionEstimate, _ probability: Double) -> Bool {
    let slack = word == previous ? configuration.verticalHysteresis : 0
    return probability >= configuration.verticalProbability - slack
  }
}
