// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyFusion

extension TuningResult {
  /// One result for several recordings of the same radio and odometry.
  ///
  /// Each quantity is the mean over the recordings that tell it, weighted by their information; noise and drift
  /// by their logarithms. Its sigma is that of the weights, or that of the scatter of the recordings if it is larger. A
  /// setting that makes an engine predict the end of one recording worse stays as stated for all.
  ///
  /// - Parameters:
  ///   - results: What was found in each; one at least, all with the same stated settings.
  ///   - stated: The settings as they are stated.
  /// - Returns: The result.
  public static func combining(
    _ results: [TuningResult], stated: FusionConfiguration
  ) -> TuningResult {
    precondition(!results.isEmpty, "nothing to combine")
    guard results.count > 1 else { return results[0] }
    var combined = results[0]
    combined.logEvidence = (
      results.reduce(0) { $0 + $1.logEvidence.stated },
      results.reduce(0) { $0 + $1.logEvidence.found }
    )
    combined.isPlanar = results.allSatisfy(\.isPlanar)
    combined.estimates = Quantity.allCases.compactMap { quantity in
      Estimate(combining: results.compactMap { $0.estimate(of: quantity) })
    }
    let withheld = Set(results.flatMap(\.withheld))
    combined.withheld = Quantity.allCases.filter(withheld.contains)
    combined.confirmed = combined.confirmed.filter { quantity in
      results.allSatisfy { $0.confirmed.contains(quantity) }
    }
    combined.configuration = stated
    combined.configuration.odometry.isPlanar = combined.isPlanar
    for group in HeldOutTest.groups {
      for (quantity, setting) in zip(group.quantities, group.settings)
      where !withheld.contains(quantity) {
        let known = results.compactMap { result -> (value: Double, weight: Double)? in
          guard let estimate = result.estimate(of: quantity), estimate.isObservable else {
            return nil
          }
          return (result.configuration[keyPath: setting], estimate.weight)
        }
        let total = known.reduce(0) { $0 + $1.weight }
        guard total > 0, total.isFinite else { continue }
        combined.configuration[keyPath: setting] =
          known.reduce(0) { $0 + $1.weight * $1.value } / total
      }
    }
    combined.configuration.ranging.whiteSharesAreKnown =
      results.allSatisfy(\.configuration.ranging.whiteSharesAreKnown)
    return combined
  }

  /// What was found of a quantity.
  private func estimate(of quantity: Quantity) -> Estimate? {
    estimates.first { $0.quantity == quantity }
  }
}

extension TuningResult.Estimate {
  /// The information about it: of noise and drift, which are positive, about the logarithm.
  fileprivate var weight: Double {
    let sigma = quantity.isConstant ? self.sigma : self.sigma / max(abs(value), 1e-12)
    return 1 / max(sigma * sigma, 1e-18)
  }

  /// The information-weighted mean of estimates from several recordings; `nil` without estimates.
  fileprivate init?(combining all: [TuningResult.Estimate]) {
    guard let first = all.first else { return nil }
    self = first
    let known = all.filter(\.isObservable)
    isObservable = !known.isEmpty
    isAtBound = known.isEmpty && all.contains(where: \.isAtBound)
    guard known.count > 1 else {
      if let only = known.first { self = only }
      return
    }
    let isConstant = quantity.isConstant
    func number(_ value: Double) -> Double { isConstant ? value : log(max(value, 1e-12)) }
    let total = known.reduce(0) { $0 + $1.weight }
    let mean = known.reduce(0) { $0 + $1.weight * number($1.value) } / total
    let chi = known.reduce(0.0) { sum, estimate in
      let away = number(estimate.value) - mean
      return sum + estimate.weight * away * away
    }
    let deviation = (max(1, chi / Double(known.count - 1)) / total).squareRoot()
    value = isConstant ? mean : exp(mean)
    sigma = isConstant ? deviation : value * deviation
  }
}
