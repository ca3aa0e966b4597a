// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
package import NearbyRecordings

extension CalibrationSummary {
  /// The summary in sentences.
  package var lines: [String] {
    let significant = findings.filter(\.isSignificant)
    let contradictions = (misfits ?? []).map { misfit in
      "the ranges to \(misfit.peer) contradict every model by \(ShortNumber.number(misfit.metres)) m along "
        + "\(ShortNumber.number(misfit.along)) m of the walk"
    }
    let sentences = significant.compactMap(\.text)
    let verdict = significant.isEmpty ? [] : [verdict(on: significant)]
    let biases = rangeBiases.map { bias in
      "the ranges to \(bias.peer) are \(ShortNumber.number(abs(bias.metres))) m too "
        + "\(bias.metres > 0 ? "long" : "short") throughout, ± \(ShortNumber.number(bias.sigma)) m"
    }
    let largest = rangeBiases.map { abs($0.metres) }.max()
    let remedy = largest.map { metres in
      "that is more than the settings expect; a configuration with "
        + "{ \"ranging\": { \"rangeBiasSigma\": \(metres.roundedUpToTwoDigits) } } allows for it"
    }
    return sentences + verdict + contradictions + biases + [remedy].compactMap(\.self)
  }

  /// What the run has made of the findings.
  private func verdict(on findings: [Finding]) -> String {
    if findings.contains(where: \.isUsed) {
      return "the run went by that from its beginning, as a live engine could not; "
        + "--calibration off leaves all as stated"
    }
    return findings.allSatisfy(\.isAllowedFor)
      ? "the engine allows for that by itself"
      : "the run went by what is stated; --calibration use goes by that"
  }
}

extension CalibrationSummary.Finding {
  /// Whether the engine has the error among its unknowns.
  fileprivate var isAllowedFor: Bool {
    ["rangePlaceError", "rangeDirectionError", "rangeCommonDrift", "rangeScale"].contains(quantity)
  }

  /// What was found as a sentence.
  fileprivate var text: String? {
    let metres = ShortNumber.number(value)
    switch quantity {
    case "rangePlaceError":
      return "ranges err by \(metres) m with the device's place, as behind walls"
    case "rangeDirectionError":
      return "ranges err by \(metres) m with the peer's direction in the device, as beside a body"
    case "rangeCommonDrift":
      return "the errors of all ranges drift together, by \(metres) m in a minute"
    case TuningResult.Quantity.rangeScale.rawValue:
      let percent = (100 * abs(value)).significant(digits: 2)
      return
        "the ranges are \(percent) % \(value > 0 ? "longer" : "shorter") than the odometry says, "
        + "± \((100 * sigma).significant(digits: 2)): the ranges' scale or the odometry's is off"
    default: break
    }
    guard let quantity = TuningResult.Quantity(rawValue: quantity) else { return nil }
    if quantity == .clockOffset {
      return "the radio's clock is \(ShortNumber.seconds(abs(value))) s "
        + "\(value > 0 ? "ahead of" : "behind") that of the poses, "
        + "± \(ShortNumber.number(sigma)) s"
    }
    let factor = quantity.factor
    func number(_ value: Double) -> String { (factor * value).significant(digits: 3) }
    return "\(quantity.title): \(number(value))\(quantity.unit) ± \(number(sigma)), "
      + "stated \(number(stated))"
  }
}
