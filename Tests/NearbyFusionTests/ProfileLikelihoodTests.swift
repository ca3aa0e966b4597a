// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyFusion

/// The moments of a profile likelihood against those of the density that it is probed from.
@Suite("Profile likelihoods")
struct ProfileLikelihoodTests {
  /// One that is probed at the offsets of an examination, in sigmas of the curvature.
  private func profile(sigma: Double, _ rise: (Double) -> Double) -> ProfileLikelihood {
    var profile = ProfileLikelihood()
    for sigmas in [-2.0, 2, -3, 3, -5, 5] {
      profile.add(rise: rise(sigmas * sigma), at: sigmas * sigma)
    }
    return profile
  }

  /// The mean and variance of exp(-rise), by fine steps.
  private func exactMoments(_ rise: (Double) -> Double) -> (mean: Double, variance: Double) {
    var (sum, first, second) = (0.0, 0.0, 0.0)
    for offset in stride(from: -20.0, through: 20, by: 0.001) {
      let density = exp(-rise(offset))
      sum += density
      first += density * offset
      second += density * offset * offset
    }
    return (first / sum, second / sum - first * first / (sum * sum))
  }

  @Test("that of a Gaussian has its variance", arguments: [0.05, 0.4, 3])
  func gaussian(sigma: Double) {
    let profile = profile(sigma: sigma) { 0.5 * $0 * $0 / (sigma * sigma) }
    #expect(abs(profile.moments.mean) < 1e-9 * sigma)
    #expect(abs(profile.moments.variance / (sigma * sigma) - 1) < 0.01)
    #expect(abs(profile.outermostRise - 12.5) < 1e-9)
  }

  /// A place so high over a level walk is measured by its square: Δ = ((h + t)² - h²)² / 8 h² s².
  @Test(
    "that of a height over a level walk is as wide as the exact one", arguments: [6.0, 8, 12])
  func bent(height: Double) {
    // Up to the level of the walk: beyond it is the mirror image.
    let rise: (Double) -> Double = { offset in
      let square = (height + offset) * (height + offset) - height * height
      return offset < -height ? 1e3 : square * square / (8 * height * height)
    }
    let (moments, exact) = (profile(sigma: 1, rise).moments, exactMoments(rise))
    let widened = moments.variance + moments.mean * moments.mean
    #expect(abs(widened / (exact.variance + exact.mean * exact.mean) - 1) < 0.1, "\(widened)")
  }

  @Test("a shoulder on one side makes it wider, and lies where it was probed")
  func shoulder() {
    var profile = profile(sigma: 1) { 0.5 * $0 * $0 }
    profile.add(rise: 1, at: -4)
    #expect(profile.moments.mean < -0.1 && profile.moments.variance > 1.5)
    #expect(abs(profile.outermostRise - 12.5) < 1e-9)
    profile.add(rise: 2, at: 7)
    #expect(abs(profile.outermostRise - 2) < 1e-9)
  }
}
