// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyRecordings

/// Checks that the peers behave as is said of them.
enum PeerChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    fewSamples(survey) + gaps(survey) + moving(survey)
  }

  /// A fifth of the time without samples, in gaps, is a radio that loses packets or is out of reach.
  private static func gaps(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let samples = survey.samples
    guard samples.count > 20, samples.secondsInGaps > 0.2 * samples.duration else { return [] }
    return [
      RecordingFinding(
        .note, .sampleGaps,
        "for \(ShortNumber.number(samples.secondsInGaps)) of \(ShortNumber.number(samples.duration)) s "
          + "there are no samples, in gaps of up to \(ShortNumber.number(samples.longestGap)) s")
    ]
  }

  private static func fewSamples(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard survey.samples.count > 0 else { return [] }
    let few = survey.info.peers.filter { $0.sampleCount < 5 }.map(\.peer.id)
    guard !few.isEmpty else { return [] }
    return [
      RecordingFinding(
        .note, .fewSamples,
        "\(names(few)) \(few.count == 1 ? "has" : "have") fewer than 5 samples")
    ]
  }

  /// A distance to a resting peer changes by no more than the device moves.
  private static func moving(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let moving = zip(survey.info.peers, survey.peers).filter { info, peer in
      guard info.peer.motion == .stationary, peer.pairs >= 8, let excess = peer.excess,
        // What looks like another unit is reported as that.
        (peer.changePerMetre ?? 0) < 20
      else { return false }
      let noise = max(survey.scatter?.metres ?? 0, survey.manifest.ranging.rangeSigma)
      return excess > 4 * noise + 0.3
    }.map(\.0.peer.id)
    guard !moving.isEmpty else { return [] }
    return [
      RecordingFinding(
        .warning, .movingPeer,
        "the distance to \(names(moving)) often changes more than the device moves",
        remedy: "import with --moving NAME if it moves, or write \"motion\": \"moving\" into "
          + "recording.json; if it rests, its ranges are often wrong")
    ]
  }

  private static func names(_ names: [String]) -> String {
    let shown = names.prefix(3).joined(separator: ", ")
    return names.count > 3 ? "\(shown) and \(names.count - 3) more" : shown
  }
}
