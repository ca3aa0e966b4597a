// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Checks that the noise of the ranges is the one that is stated.
enum NoiseChecks {
  /// A scatter of so many stated sigmas contradicts them.
  static let contradiction = 2.0

  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard let scatter = survey.scatter else { return [] }
    if scatter.perStatedSigma > contradiction {
      let sigma = ShortNumber.number(accuracy(of: scatter))
      return [
        RecordingFinding(
          .warning, .rangeNoise,
          "the ranges scatter by \(ShortNumber.number(scatter.metres)) m (one sigma), "
            + "\(ShortNumber.number(scatter.perStatedSigma)) times what is stated",
          remedy: "import with --range-sigma \(sigma), or write \"rangeSigma\": \(sigma) into "
            + "recording.json")
      ]
    }
    if scatter.perStatedSigma < 0.05 {
      return [
        RecordingFinding(
          .note, .filteredRanges,
          "neighbouring ranges scatter by \(ShortNumber.number(1000 * scatter.metres)) mm only: "
            + "something filtered them, so their errors are alike")
      ]
    }
    return []
  }

  /// The accuracy of ranges with a scatter: white noise is about nine tenths of it, as in
  /// `RangingConfiguration.rangeWhiteShare`, and it is rounded up to two digits.
  static func accuracy(of scatter: RecordingSurvey.Scatter) -> Double {
    (scatter.metres / 0.9).roundedUpToTwoDigits
  }
}
