// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import Testing

@testable import NearbyInteraction

/// What a person is told, and how often.
@Suite("Coaching")
struct ConvergenceCoachTests {
  typealias Status = NIAlgorithmConvergenceStatus
  private static let all: [Status.Reason] = [
    .insufficientMovement, .insufficientHorizontalSweep, .insufficientVerticalSweep,
  ]

  private static func at(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  /// What is told at ten samples a second, with the seconds.
  private func told(
    seconds: Double, place: (Double) -> Vector3 = { _ in .zero }, _ verdict: (Double) -> Status
  ) -> [(seconds: Double, status: Status)] {
    var coach = ConvergenceCoach()
    var told: [(Double, Status)] = []
    for step in 0...Int(seconds * 10) {
      let time = Double(step) / 10
      coach.add(place(time))
      if let status = coach.advise(verdict(time), at: Self.at(time)) { told.append((time, status)) }
    }
    return told
  }

  @Test("reasons that alternate with every sample change at most every two seconds")
  func pace() {
    let told = told(seconds: 30) {
      .notConverged(
        Int(($0 * 10).rounded()) % 2 == 0
          ? [.insufficientMovement] : [.insufficientVerticalSweep])
    }
    #expect(told.count <= 15)
    for (a, b) in zip(told, told.dropFirst()) {
      #expect(b.seconds - a.seconds >= ConvergenceCoach.leastInterval - 1e-9)
    }
  }

  @Test("convergence that is won or lost is told at once")
  func winsAndLosses() {
    let told = told(seconds: 6) {
      3.05...3.35 ~= $0 ? .converged : .notConverged([.insufficientVerticalSweep])
    }
    #expect(
      told.map(\.status) == [
        .notConverged([.insufficientVerticalSweep]), .converged,
        .notConverged([.insufficientVerticalSweep]),
      ])
    #expect(abs(told[1].seconds - 3.1) < 1e-9 && abs(told[2].seconds - 3.4) < 1e-9)
  }

  @Test("a request is withdrawn when the device was moved so, whatever the covariance is")
  func sweepsAreSeen() throws {
    // From 2 s on from side to side within an arm's reach, from 6 s on up and down.
    let told = told(
      seconds: 12,
      place: { time in
        time < 2
          ? .zero
          : time < 6
            ? Vector3(0.25 * sin(2 * (time - 2)), 0, 0) : Vector3(0, 0.25 * sin(2 * (time - 6)), 0)
      }, { _ in .notConverged([.insufficientHorizontalSweep, .insufficientVerticalSweep]) })
    #expect(
      told.first?.status
        == .notConverged([.insufficientHorizontalSweep, .insufficientVerticalSweep]))
    #expect(told[1].status == .notConverged([.insufficientVerticalSweep]))
    #expect((2...6).contains(told[1].seconds))
    // Both were made and the engine still lacks both: a walk is asked for.
    #expect(told[2].status == .notConverged([.insufficientMovement]))
    #expect((6...10).contains(told[2].seconds))
  }

  @Test("a person who stands still is asked once")
  func stillness() {
    #expect(
      told(seconds: 60) { _ in .notConverged(Self.all) }.map(\.status)
        == [.notConverged(Self.all)])
  }

  @Test("a reason of a moment is not told")
  func moments() {
    let told = told(seconds: 20) {
      .notConverged(
        (10...10.5).contains($0)
          ? [.insufficientSignalStrength, .insufficientVerticalSweep]
          : [.insufficientVerticalSweep])
    }
    #expect(told.map(\.status) == [.notConverged([.insufficientVerticalSweep])])
  }

  @Test("nothing is asked for by the first samples")
  func firstSecond() throws {
    let told = told(seconds: 3) { _ in .notConverged(Self.all) }
    #expect(try #require(told.first).seconds >= ConvergenceCoach.persistence)
  }

  @Test("extents are those of the positions, in any horizontal direction")
  func extents() {
    for angle in stride(from: 0, to: Double.pi, by: 0.1) {
      var tracker = SweepTracker()
      for step in 0...10 {
        let along = 0.06 * Double(step) - 0.3
        tracker.add(Vector3(5 + along * cos(angle), 1 + 0.02 * Double(step), along * sin(angle)))
      }
      #expect(tracker.horizontalExtent > 0.6 * cos(.pi / 16) && tracker.horizontalExtent < 0.601)
      #expect(abs(tracker.verticalExtent - 0.2) < 1e-12)
      tracker.restart()
      #expect(tracker.horizontalExtent == 0 && tracker.verticalExtent == 0)
    }
  }
}
