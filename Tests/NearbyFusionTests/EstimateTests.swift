// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// Which way a device faces.
@Suite("Heading")
struct HeadingTests {
  /// Turned to the left by `yaw`, then pitched up.
  private func attitude(yaw: Double, pitch: Double) -> Rotation {
    Rotation(angleRadians: yaw, about: Vector3(0, 1, 0))
      * Rotation(angleRadians: pitch, about: Vector3(1, 0, 0))
  }

  private func ahead(yaw: Double) -> Vector3 { Vector3(-sin(yaw), 0, -cos(yaw)) }

  @Test(
    "the camera's way, or the top's when it looks down or up: the same whatever the pitch",
    arguments: [-90, -89, -75, -60, -45, 0, 45, 60, 75, 89, 90] as [Double],
    [-170, -90, 0, 35, 120] as [Double])
  func pitched(pitchDegrees: Double, yawDegrees: Double) {
    let yaw = yawDegrees.degreesAsRadians
    let heading = Heading(attitude(yaw: yaw, pitch: pitchDegrees.degreesAsRadians))
    #expect((heading.ahead - ahead(yaw: yaw)).length < 1e-9)
    #expect((heading.right - Vector3(cos(yaw), 0, -sin(yaw))).length < 1e-9)
  }

  @Test("rolled devices too turn without a leap", arguments: [0.0, 20, 45] as [Double])
  func continuity(rollDegrees: Double) {
    let roll = Rotation(angleRadians: rollDegrees.degreesAsRadians, about: Vector3(0, 0, 1))
    var last: Vector3?
    for step in -900...900 {
      let pitch = (Double(step) / 10).degreesAsRadians
      let now = Heading(attitude(yaw: 0.4, pitch: pitch) * roll).ahead
      #expect(abs(now.length - 1) < 1e-12 && now.y == 0)
      if let last { #expect((now - last).length < 0.05, "at \(Double(step) / 10) degrees") }
      last = now
    }
  }

  @Test("bearings are positive to the right")
  func bearings() {
    let heading = Heading(.identity)
    #expect(abs(heading.bearing(of: Vector3(1, 0, 0)) - .pi / 2) < 1e-12)
    #expect(abs(heading.bearing(of: Vector3(-1, 5, -1)) + .pi / 4) < 1e-12)
    #expect(abs(heading.bearing(of: Vector3(0, 0, -3))) < 1e-12)
  }
}

/// Words for heights.
@Suite("Vertical direction")
struct VerticalDirectionJudgeTests {
  private func judge(
    _ above: Double, _ below: Double, after previous: VerticalDirectionEstimate = .unknown
  ) -> VerticalDirectionEstimate {
    // Quarters and eighths, so that sums and differences are exact.
    var configuration = OutputConfiguration()
    configuration.verticalProbability = 0.75
    configuration.verticalHysteresis = 0.125
    return VerticalDirectionJudge(configuration: configuration, previous: previous)
      .judge(above: above, below: below)
  }

  @Test("a word holds from its probability on")
  func thresholds() {
    #expect(judge(0.75, 0.25) == .above)
    #expect(judge(0.75.nextDown, 0) == .unknown)
    #expect(judge(0.25, 0.75) == .below)
    #expect(judge(0, 0.75.nextDown) == .unknown)
    #expect(judge(0.125, 0.125) == .same)
    #expect(judge(0.125, 0.125 + 0x1p-50) == .unknown)
    #expect(judge(0.375, 0.375) == .aboveOrBelow)
    #expect(judge(0.375, 0.375 - 0x1p-50) == .unknown)
  }

  @Test("the word published before may fall short by the hysteresis")
  func hysteresis() {
    #expect(judge(0.625, 0, after: .above) == .above)
    #expect(judge(0.625.nextDown, 0, after: .above) == .unknown)
    #expect(judge(0.625, 0, after: .below) == .unknown)
    #expect(judge(0, 0.625, after: .below) == .below)
    #expect(judge(0.25, 0.125, after: .same) == .same)
    #expect(judge(0.25, 0.125 + 0x1p-50, after: .same) == .unknown)
    #expect(judge(0.375, 0.25, after: .aboveOrBelow) == .aboveOrBelow)
  }

  @Test("a side counts before the choice between sides")
  func precedence() {
    #expect(judge(0.875, 0.125, after: .aboveOrBelow) == .above)
    #expect(judge(0.125, 0.875) == .below)
  }
}

/// When the algorithm calls itself converged, and what it says otherwise.
@Suite("Convergence judge")
struct ConvergenceJudgeTests {
  private func progress(
    total: Double, along: Double = 0.1, across: Double = 0.1, up: Double = 0.1, weight: Double = 1,
    parallax: Double = 1
  ) -> ConvergenceProgress {
    ConvergenceProgress(
      requiredSigma: 0.5, totalSigma: total, lineOfSightSigma: along, horizontalSigma: across,
      verticalSigma: up, dominantModeProbability: weight, parallaxRadians: parallax)
  }

  private func judge(
    _ progress: ConvergenceProgress, before: Bool = false, dark: Bool = false,
    noSignal: Bool = false
  ) -> Convergence {
    ConvergenceJudge(
      configuration: ConvergenceConfiguration(), wasConverged: before,
      odometryLimits: dark ? .insufficientLighting : [],
      lacksSignal: noSignal
    ).judge(progress)
  }

  private func names(_ convergence: Convergence) -> [String]? {
    if case .notConverged(let reasons) = convergence { reasons.names } else { nil }
  }

  @Test("exactly at the limit it has converged; lost at one and a half times that")
  func limits() {
    #expect(judge(progress(total: 0.5)) == .converged)
    #expect(judge(progress(total: 0.5.nextUp)) != .converged)
    #expect(judge(progress(total: 0.75), before: true) == .converged)
    #expect(judge(progress(total: 0.75.nextUp), before: true) != .converged)
    #expect(judge(progress(total: .nan)) != .converged)
  }

  @Test("one mode must hold its share, a little less once it has")
  func modes() {
    #expect(judge(progress(total: 0.3, weight: 0.99)) == .converged)
    #expect(judge(progress(total: 0.3, weight: 0.989)) != .converged)
    #expect(judge(progress(total: 0.3, weight: 0.95 * 0.99), before: true) == .converged)
    #expect(judge(progress(total: 0.3, weight: 0.94), before: true) != .converged)
  }

  @Test("without signal nothing has converged; in the dark it may have")
  func signalAndLight() {
    #expect(
      names(judge(progress(total: 0.1), noSignal: true))?.first == "insufficientSignalStrength")
    #expect(judge(progress(total: 0.1), dark: true) == .converged)
  }

  /// The three widths as narrow or wide, whether the device moved, signal and light.
  struct Case: CustomTestStringConvertible {
    var isWideAlong, isWideAcross, isWideUp, moved, dark, noSignal: Bool
    var testDescription: String {
      "along \(isWideAlong), across \(isWideAcross), up \(isWideUp), moved \(moved), "
        + "dark \(dark), no signal \(noSignal)"
    }
    static let all = (0..<64).map { bits in
      func bit(_ index: Int) -> Bool { bits & 1 << index != 0 }
      return Case(
        isWideAlong: bit(0), isWideAcross: bit(1), isWideUp: bit(2), moved: bit(3), dark: bit(4),
        noSignal: bit(5))
    }.filter { $0.isWideAlong || $0.isWideAcross || $0.isWideUp }
  }

  @Test("each combination of reasons, in the order of use", arguments: Case.all)
  func reasons(_ test: Case) {
    let sigmas = [test.isWideAlong, test.isWideAcross, test.isWideUp].map { $0 ? 1.0 : 0.1 }
    let total = sigmas.reduce(0) { $0 + $1 * $1 }.squareRoot()
    let judged = judge(
      progress(
        total: total, along: sigmas[0], across: sigmas[1], up: sigmas[2],
        parallax: test.moved ? 0.15 : 0.149), dark: test.dark, noSignal: test.noSignal)
    var expected: [String] = []
    if test.noSignal { expected.append("insufficientSignalStrength") }
    if test.dark { expected.append("insufficientLighting") }
    let onlyAlong = test.isWideAlong && !test.isWideAcross && !test.isWideUp
    if onlyAlong || test.isWideAcross && test.isWideUp && !test.moved {
      expected.append("insufficientMovement")
    }
    if test.isWideAcross { expected.append("insufficientHorizontalSweep") }
    if test.isWideUp { expected.append("insufficientVerticalSweep") }
    #expect(names(judged) == expected)
  }

  @Test("narrow but of two minds: the widest direction tells the modes apart")
  func twoModes() {
    let judged = judge(progress(total: 0.3, along: 0.1, across: 0.1, up: 0.25, weight: 0.5))
    #expect(names(judged) == ["insufficientVerticalSweep"])
  }

  @Test("reasons iterate in their order, whatever the order they came in")
  func order() {
    let all: ConvergenceReasons = [
      .insufficientVerticalSweep, .insufficientHorizontalSweep, .insufficientMovement,
      .insufficientLighting, .insufficientSignalStrength, .limitedTracking,
    ]
    #expect(
      all.names == [
        "insufficientSignalStrength", "insufficientLighting", "limitedTracking",
        "insufficientMovement", "insufficientHorizontalSweep", "insufficientVerticalSweep",
      ])
    #expect(all.description == all.names.joined(separator: ";"))
    #expect(ConvergenceReasons().names.isEmpty)
  }
}

/// The running scatter against the one computed in two passes.
@Suite("Device spread")
struct DeviceSpreadTests {
  @Test("equals the two-pass result, also far from the origin", arguments: 0..<12 as Range<UInt64>)
  func naive(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let origin = generator.normalVector(sigma: seed % 2 == 0 ? 1 : 1000)
    let positions = (0..<(2 + 20 * Int(seed))).map { _ in origin + generator.normalVector() }
    var spread = DeviceSpread()
    for position in positions { spread.add(position) }
    let mean = positions.reduce(Vector3.zero, +) / Double(positions.count)
    for _ in 0..<5 {
      let direction = generator.normalVector().normalized
      let square = positions.reduce(0.0) { sum, position in
        let away = position - mean
        let across = away - away.dot(direction) * direction
        return sum + across.dot(across)
      }
      let expected = square / Double(positions.count)
      #expect(abs(spread.squaredTransverse(to: direction) - expected) < 1e-8)
    }
  }

  @Test("nothing and one place have no spread")
  func none() {
    var spread = DeviceSpread()
    #expect(spread.squaredTransverse(to: Vector3(1, 0, 0)) == 0)
    spread.add(Vector3(5, 5, 5))
    #expect(spread.squaredTransverse(to: Vector3(1, 0, 0)) == 0)
  }
}
