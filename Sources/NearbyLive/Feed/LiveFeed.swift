// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// Hands states to any number of pages and never waits for one.
///
/// Each page has a buffer of four states; a page that does not keep up loses the oldest of them. A page that comes,
/// or comes back, first gets the setup and the states of the last minute. What is handed out are server-sent events.
package final class LiveFeed: Sendable {
  /// How much is kept for a page that comes, seconds.
  package static let keptSeconds = 60.0
  /// The largest number of pages; another one takes the place of the oldest.
  package static let mostPages = 8
  private static let bufferedStates = 4

  private struct Page {
    var number: Int
    var continuation: AsyncStream<Item>.Continuation
    /// What the page lost and must have.
    var owed: Set<Item.Debt> = []
  }

  private struct Contents {
    var setup: [UInt8] = []
    var kept: [(seconds: Double, state: [UInt8])] = []
    var pages: [Page] = []
    var pageCount = 0
  }

  /// What a page's buffer holds; what must not be lost is put together when the page takes it.
  enum Item: Sendable {
    enum Debt: Hashable { case setup, history }

    case debt(Debt)
    case event([UInt8])
  }

  private let contents = Locked(Contents())
  /// The numbers of pages that are gone but still in the contents.
  ///
  /// This lock is never held while a page is given something. A task that is cancelled locks itself and then tells
  /// that its page is gone; a page that is given something locks its task. With one lock for both, each may wait
  /// for the other.
  private let gone = Locked<Set<Int>>([])

  /// Makes a feed without states.
  package init() {}

  /// How many pages there are.
  package var pageCount: Int { withContents { $0.pages.count } }

  /// How many states are kept.
  package var keptCount: Int { contents.withLock { $0.kept.count } }

  /// Sets what changes seldom and tells all pages.
  ///
  /// - Parameter setup: JSON in one line.
  package func set(setup: [UInt8]) {
    withContents { contents in
      contents.setup = setup
      for index in contents.pages.indices { contents.pages[index].owed.insert(.setup) }
      Self.settle(&contents)
    }
  }

  /// Hands a state to all pages.
  ///
  /// - Parameters:
  ///   - state: JSON in one line.
  ///   - seconds: Its time.
  ///   - isKept: Whether it is kept for pages that come within a minute.
  package func publish(_ state: [UInt8], at seconds: Double, isKept: Bool) {
    let event = Self.event("state", state)
    withContents { contents in
      if isKept {
        contents.kept.append((seconds, state))
        let first = contents.kept.firstIndex { seconds - $0.seconds <= Self.keptSeconds }
        // Performance: many at a time, since the rest moves up.
        if let first, first > 60 { contents.kept.removeFirst(first) }
      }
      Self.settle(&contents)
      for index in contents.pages.indices { Self.give(.event(event), to: &contents.pages[index]) }
    }
  }

  /// Gives pages what they have lost.
  private static func settle(_ contents: inout Contents) {
    for index in contents.pages.indices where !contents.pages[index].owed.isEmpty {
      let owed = contents.pages[index].owed
      contents.pages[index].owed = []
      if owed.contains(.setup) { give(.debt(.setup), to: &contents.pages[index]) }
      if owed.contains(.history) { give(.debt(.history), to: &contents.pages[index]) }
    }
  }

  private static func give(_ item: Item, to page: inout Page) {
    if case .dropped(.debt(let debt)) = page.continuation.yield(item) { page.owed.insert(debt) }
  }

  /// Begins to hand states to a page, the last minute first.
  package func join() -> Subscription {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Item.self, bufferingPolicy: .bufferingNewest(Self.bufferedStates))
    let (number, evicted) = withContents { contents in
      contents.pageCount += 1
      let evicted =
        contents.pages.count >= Self.mostPages ? contents.pages.removeFirst().continuation : nil
      contents.pages.append(
        Page(number: contents.pageCount, continuation: continuation, owed: [.setup, .history]))
      Self.settle(&contents)
      return (contents.pageCount, evicted)
    }
    // Outside the lock: the end of a stream calls back.
    evicted?.finish()
    continuation.onTermination = { [weak self] _ in self?.leave(number) }
    return Subscription(feed: self, stream: stream)
  }

  /// Sends pages that wait a comment, so that those that are gone are noticed.
  package func keepAlive() {
    withContents { contents in
      for index in contents.pages.indices {
        Self.give(.event(Self.waiting), to: &contents.pages[index])
      }
    }
  }

  private func leave(_ number: Int) { gone.withLock { _ = $0.insert(number) } }

  /// Calls a function with the contents, without the pages that are gone.
  private func withContents<Result>(_ body: (inout Contents) -> Result) -> Result {
    contents.withLock { contents in
      let gone = gone.withLock { gone in
        defer { gone.removeAll() }
        return gone
      }
      if !gone.isEmpty { contents.pages.removeAll { gone.contains($0.number) } }
      return body(&contents)
    }
  }

  fileprivate func bytes(of item: Item) -> [UInt8] {
    switch item {
    case .event(let bytes): return bytes
    case .debt(.setup):
      let setup = contents.withLock { $0.setup }
      // All pages get the setup once there is one.
      return setup.isEmpty ? Self.waiting : Self.event("setup", setup)
    case .debt(.history): return Self.event("history", Self.list(contents.withLock { $0.kept }))
    }
  }

  /// A comment, which pages ignore.
  private static let waiting = Array(": waiting\n\n".utf8)

  private static func list(_ states: [(seconds: Double, state: [UInt8])]) -> [UInt8] {
    let newest = states.last?.seconds ?? 0
    var list = [UInt8(ascii: "[")]
    list.reserveCapacity(states.reduce(2) { $0 + $1.state.count + 1 })
    for (seconds, state) in states where newest - seconds <= keptSeconds {
      if list.count > 1 { list.append(UInt8(ascii: ",")) }
      list += state
    }
    list.append(UInt8(ascii: "]"))
    return list
  }

  private static func event(_ name: String, _ json: [UInt8]) -> [UInt8] {
    Array("event: \(name)\ndata: ".utf8) + json + Array("\n\n".utf8)
  }
}

extension LiveFeed {
  /// The events for one page; ends when another page takes its place.
  package struct Subscription: AsyncSequence, Sendable {
    fileprivate let feed: LiveFeed
    fileprivate let stream: AsyncStream<Item>

    /// The events' bytes, one by one.
    package struct Iterator: AsyncIteratorProtocol {
      fileprivate let feed: LiveFeed
      fileprivate var items: AsyncStream<Item>.Iterator

      /// The next event.
      package mutating func next() async -> [UInt8]? {
        await items.next().map(feed.bytes(of:))
      }
    }

    /// Begins to take events.
    package func makeAsyncIterator() -> Iterator {
      Iterator(feed: feed, items: stream.makeAsyncIterator())
    }
  }
}
