// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The errors of the barometers of the device and one peer in one run.
struct BarometerDraw {
  /// A measured height difference.
  struct Measurement {
    /// Metres that the peer is above the device.
    var value: Double
    /// Whether it is a fault.
    var isFaulty: Bool
  }

  /// Times that differ by less are the same, seconds: sums of sample periods are rounded.
  private static let timeTolerance = 1e-6

  private let barometers: ScenarioBarometers
  private var generator: SeededGenerator
  /// The offset at the time of the last measurement, metres.
  private var offset: Double
  private var last: Double?
  private var isFaulty = false

  /// Draws the errors of a pair; the generator is its own, so that nothing else of a run depends on
  /// whether there are barometers.
  init(_ barometers: ScenarioBarometers, seed: UInt64, peer: UInt64) {
    self.barometers = barometers
    generator = SeededGenerator(seed: seed, stream: 2_000_000 + peer)
    offset = generator.normal(sigma: barometers.offsetSigma)
  }

  /// Measures a height difference.
  ///
  /// - Parameters:
  ///   - height: The true one, metres.
  ///   - seconds: The time, not before that of the last call.
  /// - Returns: `nil` when there are no barometers, or when the last one is too recent.
  mutating func measurement(of height: Double, at seconds: Double) -> Measurement? {
    guard barometers.arePresent else { return nil }
    let elapsed = last.map { seconds - $0 }
    if let elapsed, elapsed < barometers.interval - Self.timeTolerance { return nil }
    last = seconds
    drift(for: elapsed ?? 0)
    let white = generator.normal(sigma: barometers.noise)
    isFaulty = barometers.faults.isFaulty(after: isFaulty, &generator)
    let error = generator.normal(sigma: barometers.faultSigma)
    return Measurement(
      value: height + offset + white + (isFaulty ? error : 0), isFaulty: isFaulty)
  }

  /// Lets the offset drift; exact for any time.
  private mutating func drift(for seconds: Double) {
    let kept = exp(-seconds / barometers.offsetSeconds)
    offset =
      kept * offset
      + generator.normal(sigma: barometers.offsetSigma * max(0, 1 - kept * kept).squareRoot())
  }
}
