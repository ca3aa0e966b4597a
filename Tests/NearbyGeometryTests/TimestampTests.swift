// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Timestamp")
struct TimestampTests {
  @Test("nanoseconds are exact at 1e9 s")
  func exactness() {
    let time = Timestamp(nanoseconds: 1_000_000_000_123_456_789)
    #expect(time.advanced(bySeconds: 1e-9).nanoseconds == 1_000_000_000_123_456_790)
    #expect(time.advanced(bySeconds: 1e-9).seconds(since: time) == 1e-9)
    #expect(time.advanced(bySeconds: -0.25).nanoseconds == 999_999_999_873_456_789)
  }

  @Test("seconds become the nearest nanosecond")
  func rounding() {
    #expect(Timestamp(seconds: 0.1)?.nanoseconds == 100_000_000)
    #expect(Timestamp(seconds: -0.1)?.nanoseconds == -100_000_000)
    #expect(Timestamp(seconds: 1e9)?.nanoseconds == 1_000_000_000_000_000_000)
    // The double nearest to 1e9 + 0.1 is 1e9 + 0.10000002384185791015625.
    #expect(Timestamp(seconds: 1e9 + 0.1)?.nanoseconds == 1_000_000_000_100_000_024)
    #expect(Timestamp(seconds: 0.999_999_999_9)?.nanoseconds == 1_000_000_000)
  }

  @Test("seconds there and back", arguments: 0..<200 as Range<UInt64>)
  func roundTrip(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // A double below 2^21 s resolves better than half a nanosecond.
    let nanoseconds = Int64(generator.uniform(in: -2e15...2e15))
    #expect(
      Timestamp(seconds: Timestamp(nanoseconds: nanoseconds).seconds)?.nanoseconds == nanoseconds)
  }

  @Test("seconds out of range are refused")
  func refused() {
    #expect(Timestamp(seconds: .nan) == nil)
    #expect(Timestamp(seconds: .infinity) == nil)
    #expect(Timestamp(seconds: -.infinity) == nil)
    #expect(Timestamp(seconds: 4.6e9) == nil)
    #expect(Timestamp(seconds: -4.6e9) == nil)
    #expect(Timestamp(seconds: 4.599e9) != nil)
    #expect(Timestamp(seconds: -4.599e9) != nil)
  }

  @Test("centuries apart, the time between is right and the clock ends where it ends")
  func centuriesApart() {
    let first = Timestamp(nanoseconds: .min)
    let last = Timestamp(nanoseconds: .max)
    #expect(last.seconds(since: first) == 0x1p64 * 1e-9)
    #expect(first.seconds(since: last) == -0x1p64 * 1e-9)
    #expect(last.advanced(bySeconds: 1) == last && first.advanced(bySeconds: -1) == first)
    #expect(Timestamp(nanoseconds: 0).advanced(bySeconds: .infinity) == last)
    #expect(Timestamp(nanoseconds: 0).advanced(bySeconds: -1e300) == first)
    #expect(Timestamp(nanoseconds: 7).advanced(bySeconds: .nan) == Timestamp(nanoseconds: 7))
  }

  @Test("moments are ordered")
  func order() {
    let early = Timestamp(nanoseconds: -1)
    let late = Timestamp(nanoseconds: 0)
    #expect(early < late)
    #expect(!(late < early))
    #expect(!(late < late))
    #expect(late.seconds(since: early) == 1e-9)
    #expect(early.seconds(since: late) == -1e-9)
    #expect(early.seconds == -1e-9)
  }
}
