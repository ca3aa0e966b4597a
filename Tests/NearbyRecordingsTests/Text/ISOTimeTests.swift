// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyRecordings

@Suite("Times of foreign tables")
struct ISOTimeTests {
  private func nanoseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    return ISOTime.nanoseconds(bytes.span, bytes.indices)
  }

  @Test(
    "ISO 8601, as `date -u -d ... +%s%N` reads it",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-01-31T12:00:00Z", 1_769_860_800_000_000_000),
      ("2026-01-31 12:00:00", 1_769_860_800_000_000_000),
      ("2026-01-31T12:00:00.25+01:00", 1_769_857_200_250_000_000),
      ("2026-01-31T12:00:00,000000001-0130", 1_769_866_200_000_000_001),
      ("2026-01-31T12:00:00.1234567899+00", 1_769_860_800_123_456_789),
      ("2024-02-29T23:59:59Z", 1_709_251_199_000_000_000),
      ("2000-03-01T00:00:00Z", 951_868_800_000_000_000),
      ("1969-12-31T23:59:59Z", -1_000_000_000),
    ] as [(String, Int64)])
  func moments(text: String, expected: Int64) { #expect(nanoseconds(text) == expected) }

  @Test(
    "Anything else is none",
    arguments: [
      "", "1700000000.123456789012", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
      "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z", "2026-01-31T12:00:00.Z",
      "2026-01-31T12:00:00+1", "2026-01-31T12:00:00Zx", "2026-01-31X12:00:00Z",
      "1200-01-31T12:00:00Z", "2026-01-31T12:00",
    ])
  func nonsense(text: String) { #expect(nanoseconds(text) == nil) }
}
