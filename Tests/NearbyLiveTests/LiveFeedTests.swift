// SPDX-License-Identifier: Apache-2.0
import NearbyLive
import NearbyRecordings
import Testing

@Suite("What pages are sent")
struct LiveFeedTests {
  private static func text(_ event: [UInt8]?) -> String? {
    event.map { String(decoding: $0, as: UTF8.self) }
  }

  private static func state(_ number: Int) -> [UInt8] { Array("{\"n\":\(number)}".utf8) }

  @Test func aPageFirstGetsTheSetupAndTheLastMinute() async {
    let feed = LiveFeed()
    feed.set(setup: Array("{\"title\":\"a\"}".utf8))
    // Two minutes, one state a second.
    for second in 0..<120 { feed.publish(Self.state(second), at: Double(second), isKept: true) }
    var events = feed.join().makeAsyncIterator()
    #expect(Self.text(await events.next()) == "event: setup\ndata: {\"title\":\"a\"}\n\n")
    let history = Self.text(await events.next()) ?? ""
    #expect(history.hasPrefix("event: history\ndata: [{\"n\":59},{\"n\":60},"))
    #expect(history.hasSuffix(",{\"n\":119}]\n\n"))
    feed.publish(Self.state(120), at: 120, isKept: false)
    #expect(Self.text(await events.next()) == "event: state\ndata: {\"n\":120}\n\n")
  }

  @Test func aPageThatDoesNotReadLosesStatesButNotWhatItMustHave() async {
    let feed = LiveFeed()
    var events = feed.join().makeAsyncIterator()
    _ = await events.next()
    _ = await events.next()
    for number in 0..<1000 {
      feed.publish(Self.state(number), at: Double(number) / 30, isKept: false)
    }
    feed.set(setup: Array("{\"version\":2}".utf8))
    for number in 1000..<2000 {
      feed.publish(Self.state(number), at: Double(number) / 30, isKept: false)
    }
    var received: [String] = []
    // The end of the buffer, then what was owed.
    for _ in 0..<4 { received.append(Self.text(await events.next()) ?? "") }
    feed.publish(Self.state(2000), at: 70, isKept: false)
    for _ in 0..<2 { received.append(Self.text(await events.next()) ?? "") }
    #expect(received.contains("event: setup\ndata: {\"version\":2}\n\n"))
    #expect(received.contains("event: state\ndata: {\"n\":2000}\n\n"))
    #expect(received.count { $0.hasPrefix("event: state") } <= 5)
  }

  @Test func aPageThatComesBeforeTheSetupGetsItOnceThereIsOne() async {
    let feed = LiveFeed()
    var events = feed.join().makeAsyncIterator()
    #expect(Self.text(await events.next())?.hasPrefix(":") == true)
    #expect(Self.text(await events.next()) == "event: history\ndata: []\n\n")
    feed.set(setup: Array("{}".utf8))
    #expect(Self.text(await events.next()) == "event: setup\ndata: {}\n\n")
  }

  @Test func pagesThatAreGoneAreForgotten() async throws {
    let feed = LiveFeed()
    let task = Task {
      for await _ in feed.join() {}
    }
    while feed.pageCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await task.value
    #expect(feed.pageCount == 0)
  }

  /// The end of a page and the handing out of a state once waited for each other for ever.
  @Test(.timeLimit(.minutes(15)))
  func pagesComeAndGoWhileStatesAreHandedOut() async throws {
    let feed = LiveFeed()
    let hasEnded = Locked(false)
    // A thread of its own, as the engine has.
    BackgroundThread.start {
      var number = 0
      while !hasEnded.withLock({ $0 }) {
        feed.publish(Self.state(number), at: Double(number) / 30, isKept: false)
        number += 1
      }
    }
    // Few, as each waits for other tests to leave a thread.
    for _ in 0..<100 {
      let page = Task {
        for await _ in feed.join() {}
      }
      await Task.yield()
      page.cancel()
      await page.value
    }
    hasEnded.withLock { $0 = true }
    #expect(feed.pageCount == 0)
  }

  @Test func theOldestOfManyPagesGivesWay() async {
    let feed = LiveFeed()
    var first = feed.join().makeAsyncIterator()
    let others = (0..<LiveFeed.mostPages).map { _ in feed.join() }
    #expect(feed.pageCount == LiveFeed.mostPages)
    _ = await first.next()
    _ = await first.next()
    #expect(await first.next() == nil)
    withExtendedLifetime(others) {}
  }

  @Test func whatIsKeptIsBounded() {
    let feed = LiveFeed()
    for number in 0..<100_000 {
      feed.publish(Self.state(number), at: Double(number) / 10, isKept: true)
    }
    #expect(feed.keptCount < 700)
  }
}
