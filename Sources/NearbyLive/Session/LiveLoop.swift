// SPDX-License-Identifier: Apache-2.0
package import NearbyRecordings

/// Carries lines or a simulated world through a session to the feed.
///
/// One thread runs it; feed and requests may be used from others.
package struct LiveLoop: ~Copyable {
  /// States for the page come this often, Hz, at most.
  package static let stateRate = 30
  private static let keptSpacing = 0.1

  private var session: LiveSession
  private var world: LiveWorld?
  private let feed: LiveFeed
  private let inbox: LiveInbox
  private let requests: LiveLogRequests
  private var steps = 0
  private var nextKept = 0.0
  private var sentVersion = 0
  private var shownVersion = -1
  private var isChanged = false

  /// Makes the loop of lines that come from elsewhere.
  package init(
    _ options: LiveSession.Options, feed: LiveFeed, inbox: LiveInbox, requests: LiveLogRequests
  ) {
    session = LiveSession(options)
    self.feed = feed
    self.inbox = inbox
    self.requests = requests
    tellSetup()
  }

  /// Makes the loop of a simulated world.
  package init(
    _ scene: LiveScene, _ options: LiveSession.Options, feed: LiveFeed, inbox: LiveInbox,
    requests: LiveLogRequests
  ) {
    session = LiveSession(manifest: scene.manifest, options)
    world = LiveWorld(scene)
    self.feed = feed
    self.inbox = inbox
    self.requests = requests
    session.setting.title = scene.title
    session.setting.steps = scene.steps
    session.setting.isWorld = true
    showWorld()
    tellSetup()
  }

  /// Advances the world by one step: a sixtieth of a second.
  ///
  /// - Throws: ``RecordingError`` or ``FusionConfigurationError`` of the settings.
  package mutating func stepWorld() throws {
    for input in inbox.takeAll() { world?.apply(input) }
    for line in world?.advance() ?? [] { try session.add(line) }
    showWorld()
    let every = Int(LiveWorld.rate) / Self.stateRate
    let isKept = steps % (3 * every) == 0
    if isKept || steps % every == 0 && feed.pageCount > 0 { publish(isKept: isKept) }
    steps += 1
    answerRequests()
  }

  /// Adds a line that came from elsewhere.
  ///
  /// - Throws: ``RecordingError`` of the line; ``FusionConfigurationError`` of the settings.
  package mutating func add(_ line: RecordingLine, at number: Int) throws {
    try session.add(line, at: number)
    isChanged = true
    if case .pose = line, let seconds = session.seconds, seconds >= nextKept {
      nextKept = seconds + Self.keptSpacing
      publish(isKept: true)
    }
  }

  /// Shows what has come in since the last call, if somebody looks; called at most at the states' rate.
  package mutating func show() {
    if isChanged, feed.pageCount > 0 { publish(isKept: false) }
    isChanged = false
    // Lines from standard input cannot be steered.
    _ = inbox.takeAll()
    answerRequests()
  }

  /// Says that no more lines come.
  package mutating func end() {
    publish(isKept: true)
    session.setting.hasEnded = true
    tellSetup()
  }

  private mutating func showWorld() {
    guard let world, world.version != shownVersion else { return }
    shownVersion = world.version
    session.setting.walls = world.walls
    session.setting.people = world.people
  }

  private mutating func publish(isKept: Bool) {
    tellSetup()
    guard let state = session.state(), let seconds = session.seconds else { return }
    feed.publish(state, at: seconds, isKept: isKept)
  }

  private mutating func tellSetup() {
    guard session.version != sentVersion else { return }
    sentVersion = session.version
    feed.set(setup: session.setup())
  }

  private func answerRequests() { requests.answer(session.log) }
}

/// Requests for a copy of what came in, which the loop's thread answers.
package final class LiveLogRequests: Sendable {
  private let waiting = Locked<[CheckedContinuation<LiveLog, Never>]>([])

  /// Makes an empty list.
  package init() {}

  /// A copy of the log, once the loop's thread gives it.
  package func log() async -> LiveLog {
    await withCheckedContinuation { continuation in
      waiting.withLock { $0.append(continuation) }
    }
  }

  /// Answers all requests.
  package func answer(_ log: @autoclosure () -> LiveLog) {
    let all = waiting.withLock { waiting in
      let all = waiting
      waiting.removeAll()
      return all
    }
    guard !all.isEmpty else { return }
    let log = log()
    for continuation in all { continuation.resume(returning: log) }
  }
}
