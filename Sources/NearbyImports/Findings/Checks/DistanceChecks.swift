// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Checks that there are values, and that distances are metres.
enum DistanceChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let (count, faults) = (survey.samples.count, survey.info.faults)
    guard count > 0 else {
      // A device that only listens measures no ranges.
      if survey.info.differences != nil { return [] }
      return [
        RecordingFinding(
          .note, .nothingMeasured,
          "there is no ranging: 'nearby simulate --trajectory' puts radios over the motion")
      ]
    }
    if faults.empty == count {
      return [
        RecordingFinding(
          .error, .nothingMeasured, "none of the \(count) samples has a value",
          remedy: "check --map distance=..., and --missing, which says what number means nothing")
      ]
    }
    let unusable = faults.empty + faults.notPositiveDistance + faults.absurdDistance
    let angles = survey.info.peers.map { max($0.azimuthCount, $0.elevationCount) }.reduce(0, +)
    if unusable >= count, angles == 0 {
      let isFar = faults.absurdDistance > faults.notPositiveDistance
      return [
        RecordingFinding(
          .error, .nothingMeasured,
          "none of the \(count) samples has a usable distance: \(faults.notPositiveDistance) are zero "
            + "or negative, \(faults.absurdDistance) beyond 1000 m",
          remedy: isFar
            ? "check the unit, as --unit distance=mm"
            : "check what is logged; differences of distances (TDoA) are no distances")
      ]
    }
    return shares(survey, faults, count) + unit(survey) + repeated(survey)
  }

  private static func shares(
    _ survey: RecordingSurvey, _ faults: RecordingInfo.Faults, _ count: Int
  ) -> [RecordingFinding] {
    var findings: [RecordingFinding] = []
    if isShare(faults.empty, of: count, above: 0.2) {
      findings.append(
        RecordingFinding(
          .warning, .emptySamples,
          "\(ShortNumber.percent(faults.empty, of: count)) of the samples have no value",
          remedy: "check --map and --missing; without a fault there, the radio was out of reach"))
    }
    let negatives = faults.notPositiveDistance - survey.samples.zeroDistances
    if isShare(negatives, of: count, above: 0.2) {
      findings.append(
        RecordingFinding(
          .error, .notPositiveDistances,
          "\(ShortNumber.percent(negatives, of: count)) of the distances are negative, as differences of "
            + "distances (TDoA) are",
          remedy: "give distances; differences are imported by 'nearby import tdoa'"))
    } else if isShare(faults.notPositiveDistance, of: count, above: 0.01) {
      let zeros = survey.samples.zeroDistances
      findings.append(
        RecordingFinding(
          .warning, .notPositiveDistances,
          "\(ShortNumber.percent(faults.notPositiveDistance, of: count)) of the samples have a "
            + "distance that is zero or negative, and are left out",
          remedy: zeros * 2 > faults.notPositiveDistance
            ? "if 0 stands for no measurement, import with --missing distance=0"
            : "check what the radio writes when it measured nothing; see --missing"))
    }
    if isShare(faults.absurdDistance, of: count, above: 0.01) {
      findings.append(
        RecordingFinding(
          .warning, .farDistances,
          "\(ShortNumber.percent(faults.absurdDistance, of: count)) of the samples have a distance "
            + "beyond 1000 m, and are left out",
          remedy: "check the unit, as --unit distance=cm, and --missing distance=65535"))
    }
    return findings
  }

  /// A distance to a resting peer changes by at most what the device moves, and by about two thirds
  /// of it on average.
  private static func unit(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard let change = survey.changePerMetre, change > 0 else { return [] }
    let factor = ShortNumber.number(change > 1 ? change : 1 / change)
    switch change {
    case 20..<200: return [unit("change \(factor) times as fast as the device moves", "cm")]
    case 200..<5000: return [unit("change \(factor) times as fast as the device moves", "mm")]
    case ..<0.03:
      return [
        RecordingFinding(
          .warning, .unit, "the device moves \(factor) times as fast as the distances change",
          remedy: "if the positions are in "
            + "\(change > 0.003 ? "centimetres, divide them by 100" : "millimetres, divide them by 1000")"
            + ", or import them with --pose-unit tx=\(change > 0.003 ? "cm" : "mm") and so on")
      ]
    default: return []
    }
  }

  private static func unit(_ what: String, _ unit: String) -> RecordingFinding {
    RecordingFinding(
      .warning, .unit, "the distances \(what)",
      remedy: "if they are \(unit == "cm" ? "centimetres" : "millimetres"), import with --unit "
        + "distance=\(unit)")
  }

  private static func repeated(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let (repeated, compared) = (survey.samples.repeatedDistances, survey.samples.comparedDistances)
    guard compared >= 20, isShare(repeated, of: compared, above: 0.3) else { return [] }
    return [
      RecordingFinding(
        .warning, .repeatedDistances,
        "\(ShortNumber.percent(repeated, of: compared)) of the distances equal the one before, "
          + "though the device had moved",
        remedy: "log each measurement once; a repeated one counts as a new one")
    ]
  }

  static func isShare(_ count: Int, of whole: Int, above share: Double) -> Bool {
    Double(count) > share * Double(whole)
  }
}
