// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// For how long a peer of unknown motion has rested, and how soon it starts.
@Suite("Rest age")
struct RestAgeTests {
  private static let motion = Settings(FusionConfiguration()).motion

  private func age(_ seconds: Double, movingShare: Double) -> RestAge {
    var age = RestAge(Self.motion)
    for _ in 0..<Int((10 * seconds).rounded()) {
      age.advance(by: 0.1, movingShare: movingShare, Self.motion)
    }
    return age
  }

  @Test("a peer of which nothing is known starts as seldom as is configured")
  func unknown() {
    let motion = FusionConfiguration().motion
    let age = RestAge(Self.motion)
    #expect(abs(age.seconds - motion.restingSeconds) < 1e-9)
    let (known, configured) = (
      Self.motion.transitions(seconds: 0.1, after: age), Self.motion.transitions(seconds: 0.1)
    )
    #expect(abs(known.starts - configured.starts) < 1e-12)
  }

  @Test("what rests for sure grows older by the time, what moves for sure has just stopped")
  func extremes() {
    #expect(abs(age(5, movingShare: 0).seconds - RestAge(Self.motion).seconds - 5) < 1e-9)
    #expect(age(1, movingShare: 1).seconds < 1e-9)
  }

  @Test("with a constant share the age tends to the odds of rest over the rate of stopping")
  func equilibrium() {
    let stops = Self.motion.transitions(seconds: 0.1).stops
    for share in [0.1, 0.5, 0.9] {
      // A step of 0.1 s adds as much as the share that has just stopped takes away.
      let odds = (1 - share) / (share * stops)
      #expect(abs(age(1000, movingShare: share).seconds - 0.1 * odds) < 1e-6 * odds)
    }
  }

  @Test("who has just stopped starts as soon again, and sooner than who has rested for long")
  func rates() {
    var age = age(1, movingShare: 1)
    var before = Double.infinity
    for _ in 0..<100 {
      age.advance(by: 1, movingShare: 0, Self.motion)
      let starts = Self.motion.transitions(seconds: 1e-3, after: age).starts
      #expect(starts < before)
      #expect(abs(starts / 1e-3 * age.seconds - 1) < 0.01)
      before = starts
    }
  }
}
