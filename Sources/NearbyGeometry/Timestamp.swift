// SPDX-License-Identifier: Apache-2.0

/// A moment on the one monotonic clock that poses and ranging share.
///
/// Nanoseconds in an integer, so that a year-long log keeps its resolution and so that equal stamps
/// compare equal. The origin is whatever the recording or the host chose.
@frozen
public struct Timestamp: Hashable, Sendable, Comparable {
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
    // Whole seconds apart from the fraction: one product would round at 1e9 s to 1e-7 s.
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
    // Wraps rather than traps for stamps 292 years apart.
    Double(nanoseconds &- other.nanoseconds) * 1e-9
  }

  /// A moment some seconds later, or earlier when negative.
  @inlinable
  public func advanced(bySeconds seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: nanoseconds + Int64((seconds * 1e9).rounded()))
  }

  /// Whether one moment is before another.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
}
