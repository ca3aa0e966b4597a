// SPDX-License-Identifier: Apache-2.0

/// A time on the monotonic clock that poses and ranging share.
///
/// It is an integer of nanoseconds, so that a year-long log keeps its resolution and equal
/// timestamps compare equal. The recording or the host chooses the origin.
@frozen
public struct Timestamp: Hashable, Sendable, Comparable, Codable {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  /// Makes a moment from nanoseconds.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Makes a moment from seconds, rounded to the nearest nanosecond.
  ///
  /// `nil` when the number is not finite or beyond ±4.6e9 s (146 years).
  ///
  /// - Parameter seconds: Seconds since the clock's origin.
  @inlinable
  public init?(seconds: Double) {
    guard seconds.isFinite, abs(seconds) < 4.6e9 else { return nil }
    // Whole seconds and the fraction are converted separately: one product would round to 1e-7 s at
    // 1e9 s.
    let whole = seconds.rounded(.down)
    nanoseconds = Int64(whole) * 1_000_000_000 + Int64(((seconds - whole) * 1e9).rounded())
  }

  /// Seconds since the clock's origin, to the nearest double.
  @inlinable
  public var seconds: Double {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Double(whole) + Double(rest) * 1e-9
  }

  /// The seconds that passed since another moment; negative when that one is later.
  @inlinable
  public func seconds(since other: Timestamp) -> Double {
    let (difference, overflows) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    // The difference overflows only for timestamps 292 years apart, where the rounding of doubles
    // does not matter.
    if overflows { return (Double(nanoseconds) - Double(other.nanoseconds)) * 1e-9 }
    return Double(difference) * 1e-9
  }

  /// A moment some seconds later, or earlier when negative.
  ///
  /// The result is clamped to the ends of the clock, 292 years from its origin. NaN seconds give
  /// this time unchanged.
  ///
  /// - Parameter seconds: How much later.
  /// - Returns: The moment, to the nearest nanosecond.
  @inlinable
  public func advanced(bySeconds seconds: Double) -> Timestamp {
    let step = (seconds * 1e9).rounded()
    guard !step.isNaN else { return self }
    let end = step < 0 ? Int64.min : Int64.max
    guard let step = Int64(exactly: step) else { return Timestamp(nanoseconds: end) }
    let (sum, overflows) = nanoseconds.addingReportingOverflow(step)
    return Timestamp(nanoseconds: overflows ? end : sum)
  }

  /// Whether one moment is before another.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
}
