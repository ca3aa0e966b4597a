// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport

/// Invariants of all outputs, for any input.
extension FuzzCampaign.Case {
  /// A covariance is finite and no direction has a negative variance, up to rounding.
  mutating func check(_ p: SymmetricMatrix3, _ what: String) {
    let entries = [p.xx, p.xy, p.xz, p.yy, p.yz, p.zz]
    expect(entries.allSatisfy(\.isFinite), "\(what) \(p) is not finite")
    guard entries.allSatisfy(\.isFinite) else { return }
    expect(min(p.xx, p.yy, p.zz) >= 0, "\(what) \(p) has a negative variance")
    // As correlations, so that neither metres nor their squares overflow.
    func correlation(_ value: Double, _ a: Double, _ b: Double) -> Double {
      let scale = a.squareRoot() * b.squareRoot()
      return scale > 0 ? value / scale : value == 0 ? 0 : .infinity
    }
    let a = correlation(p.xy, p.xx, p.yy)
    let b = correlation(p.xz, p.xx, p.zz)
    let c = correlation(p.yz, p.yy, p.zz)
    let tolerance = 1e-6
    expect(
      max(abs(a), abs(b), abs(c)) <= 1 + tolerance
        && 1 + 2 * a * b * c - a * a - b * b - c * c >= -tolerance,
      "\(what) \(p) is not positive semidefinite")
  }

  /// A quantity has a value with a finite sigma, or none and a reason.
  mutating func check<Value>(
    _ estimated: Estimated<Value>, _ what: String, _ isSound: (Value) -> Bool
  ) {
    expect(estimated.sigma >= 0, "\(what): sigma \(estimated.sigma)")
    guard let value = estimated.value else {
      expect(estimated.unavailability != nil, "\(what) is absent without a reason")
      return
    }
    expect(estimated.unavailability == nil, "\(what) is there and absent")
    expect(estimated.sigma.isFinite, "\(what) has no finite sigma")
    expect(isSound(value), "\(what) \(value)")
  }

  /// Checks all outputs of an engine for a peer.
  mutating func check(_ estimate: PeerEstimate) {
    check(estimate.distance, "distance") { $0.isFinite && $0 >= 0 }
    check(estimate.direction, "direction") { $0.isFinite && abs($0.length - 1) < 1e-9 }
    check(estimate.horizontalAngleRadians, "angle") { abs($0) <= Double.pi.nextUp }
    check(estimate.heightDifference, "height") { $0.isFinite }
    check(estimate.worldTransform, "transform") { $0.translation.isFinite }
    if let mean = estimate.positionInWorld {
      expect(mean.isFinite, "mean \(mean)")
      check(estimate.covarianceInWorld, "covariance")
      expect(estimate.hypothesisCount >= 1, "a mean of no hypothesis")
    }
  }

  /// Checks the hypotheses of a peer.
  mutating func check(modesOf peer: PeerID, in engine: FusionEngine) {
    guard let (_, modes) = engine.hypotheses(of: peer) else { return }
    let sum = modes.reduce(0) { $0 + $1.probability }
    expect(abs(sum - 1) < 1e-6, "\(modes.count) weights sum to \(sum)")
    for mode in modes {
      expect(mode.positionInWorld.isFinite, "hypothesis at \(mode.positionInWorld)")
      check(mode.covarianceInWorld, "covariance of a hypothesis")
    }
    let grouped = engine.modes(of: peer, at: engine.estimate(of: peer).timestamp)
    expect(
      !grouped.isEmpty && grouped.count <= modes.count, "\(grouped.count) modes of \(modes.count)")
    let share = grouped.reduce(0) { $0 + $1.probability }
    expect(abs(share - 1) < 1e-6, "weights of modes sum to \(share)")
    for mode in grouped {
      expect(mode.positionInWorld.isFinite, "mode at \(mode.positionInWorld)")
      check(mode.covarianceInWorld, "covariance of a mode")
    }
  }

  /// Checks the report of a sample.
  mutating func check(_ report: SampleReport, of sample: RangingSample) {
    let parts = [
      ("range", report.range, sample.distance), ("azimuth", report.azimuth, sample.azimuthRadians),
      ("elevation", report.elevation, sample.elevationRadians),
    ]
    for (name, part, measured) in parts {
      switch part.outcome {
      case .absent: expect(measured == nil, "\(name) \(measured ?? 0) counts as absent")
      case .rejected: expect(measured != nil, "\(name) is rejected and was not measured")
      case .fused(let weight), .rejectedAsOutlier(let weight):
        expect(measured?.isFinite == true, "\(name) \(measured ?? 0) is used")
        expect((0...1).contains(weight), "\(name): weight \(weight)")
        expect(part.innovation.isFinite, "\(name): innovation \(part.innovation)")
        expect(part.innovationVariance > 0, "\(name): variance \(part.innovationVariance)")
        expect(part.variance > 0 && part.variance.isFinite, "\(name): noise \(part.variance)")
      }
    }
    if let square = report.normalizedInnovationSquared {
      expect(square.isFinite && square >= 0, "normalised innovation squared \(square)")
    }
  }
}
