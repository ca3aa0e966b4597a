// SPDX-License-Identifier: Apache-2.0
import NearbyLive
import Testing

@Suite("What the page's server takes from strangers")
struct RequestLimitsTests {
  private static func isAdmitted(head: Int, body: Int, pieces: Int) -> Bool {
    var meter = RequestMeter()
    for (length, isHead) in [(head, true), (body, false)] {
      var sent = 0
      while sent < length {
        let piece = min(pieces, length - sent)
        guard meter.admit(piece) == piece else { return false }
        sent += piece
      }
      if isHead { meter.endHead() }
    }
    return true
  }

  @Test(arguments: [1, 3, 4096, 100_000])
  func aHeadIsAdmittedUpToItsLimit(pieces: Int) {
    #expect(Self.isAdmitted(head: RequestLimits.headBytes, body: 0, pieces: pieces))
    #expect(!Self.isAdmitted(head: RequestLimits.headBytes + 1, body: 0, pieces: pieces))
    #expect(!Self.isAdmitted(head: 3_000_000, body: 0, pieces: pieces))
  }

  @Test(arguments: [1, 3, 4096, 100_000])
  func aBodyIsAdmittedAfterAnyHead(pieces: Int) {
    let body = RequestLimits.bodyBytes
    for head in [1, 300, RequestLimits.headBytes] {
      #expect(Self.isAdmitted(head: head, body: body, pieces: pieces))
    }
    #expect(!Self.isAdmitted(head: RequestLimits.headBytes, body: body + 1, pieces: pieces))
    #expect(!Self.isAdmitted(head: 300, body: 3_000_000, pieces: pieces))
  }

  @Test func ofAPieceThatIsTooLongTheBeginningIsAdmitted() {
    var meter = RequestMeter()
    #expect(meter.isAtStart)
    #expect(meter.admit(3_000_000) == RequestLimits.headBytes)
    #expect(!meter.isAtStart)
    #expect(meter.admit(1) == 0)
    #expect(meter.part == .head)
  }

  @Test func eachRequestIsCountedByItself() {
    var meter = RequestMeter()
    for _ in 0..<100 {
      #expect(meter.admit(8000) == 8000)
      meter.endHead()
      #expect(meter.part == .body)
      meter.endRequest()
      #expect(meter.isAtStart)
      #expect(meter.part == .head)
    }
  }
}
