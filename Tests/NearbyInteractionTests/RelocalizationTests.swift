// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import Testing

@testable import NearbyInteraction

/// Where and when an AR session's delegate is asked whether it relocalizes.
struct RelocalizationTests {
  /// A delegate as Swift 6 apps write it: Swift itself ends the program when it is called elsewhere.
  @MainActor
  private final class MainDelegate: NSObject, @preconcurrency ARSessionDelegate {
    let answer: Bool
    private(set) var questions = 0

    init(answer: Bool) { self.answer = answer }

    func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool {
      questions += 1
      return answer
    }
  }

  /// A delegate on a queue of its own.
  private final class QueueDelegate: NSObject, ARSessionDelegate, @unchecked Sendable {
    // Unchecked: written on the queue, read after it has been drained.
    let queue = DispatchQueue(label: "frames")
    private let answer: Bool
    private(set) var questions = 0

    init(answer: Bool) { self.answer = answer }

    func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool {
      dispatchPrecondition(condition: .onQueue(queue))
      questions += 1
      return answer
    }
  }

  private let pair = SessionPair()
  private let arSession: ARSession
  private let configuration: NINearbyPeerConfiguration

  init() throws {
    arSession = ARSession(on: pair.devices[0])
    configuration = NINearbyPeerConfiguration(
      peerToken: try #require(pair.sessions[1].discoveryToken))
    configuration.isCameraAssistanceEnabled = true
    arSession.run(ARWorldTrackingConfiguration())
    pair.sessions[0].setARSession(arSession)
  }

  /// Waits for what other threads do.
  @MainActor private func waitForACall() async throws {
    let end = Date().addingTimeInterval(60)
    while calls.isEmpty, Date() < end { try await Task.sleep(for: .milliseconds(2)) }
  }

  /// The callbacks of a session that was run, by the delegate's answer.
  private func outcome(_ answer: Bool) -> [String] { [answer ? "invalidated" : "started"] }

  private func attach(_ delegate: QueueDelegate) {
    arSession.delegate = delegate
    arSession.delegateQueue = delegate.queue
  }

  private var calls: [String] {
    pair.recorders[0].drain()
    return pair.recorders[0].calls
  }

  // MARK: The main queue

  @MainActor @Test(arguments: [false, true])
  func aDelegateOfTheMainActorIsAskedThereByOthers(_ answer: Bool) async throws {
    let delegate = MainDelegate(answer: answer)
    arSession.delegate = delegate
    let (session, configuration) = (pair.sessions[0], UncheckedBox(configuration))
    await Task.detached { session.run(configuration.value) }.value
    try await waitForACall()
    #expect(calls == outcome(answer))
    #expect(delegate.questions == 1)
  }

  @MainActor @Test(arguments: [false, true])
  func aDelegateOfTheMainActorIsAskedAtOnceByTheMainActor(_ answer: Bool) {
    let delegate = MainDelegate(answer: answer)
    arSession.delegate = delegate
    pair.sessions[0].run(configuration)
    #expect(delegate.questions == 1)
    #expect(calls == outcome(answer))
  }

  @MainActor @Test func theMainQueueMayWaitForWhoRuns() async throws {
    let delegate = MainDelegate(answer: true)
    arSession.delegate = delegate
    let (session, configuration) = (pair.sessions[0], UncheckedBox(configuration))
    // The block runs on another thread, and this one waits for it.
    let group = DispatchGroup()
    DispatchQueue(label: "worker").async(group: group) { session.run(configuration.value) }
    #expect(group.wait(timeout: .now() + 60) == .success)
    #expect(session.configuration == configuration.value)
    try await waitForACall()
    #expect(calls == outcome(true))
  }

  // MARK: A queue of the app's

  @Test(arguments: [false, true])
  func aDelegateWithAQueueIsAskedThere(_ answer: Bool) {
    let delegate = QueueDelegate(answer: answer)
    attach(delegate)
    pair.sessions[0].run(configuration)
    delegate.queue.sync {}
    #expect(delegate.questions == 1)
    #expect(calls == outcome(answer))
  }

  @Test func whoRunsOnTheQueueIsAnsweredAtOnce() {
    let delegate = QueueDelegate(answer: false)
    attach(delegate)
    delegate.queue.sync {
      pair.sessions[0].run(configuration)
      #expect(delegate.questions == 1)
    }
    // A queue that targets it works as well.
    DispatchQueue(label: "inner", target: delegate.queue).sync {
      pair.sessions[0].run(configuration)
      #expect(delegate.questions == 2)
    }
    #expect(calls == ["started", "started"])
  }

  // MARK: Meanwhile

  enum Meanwhile: CaseIterable {
    case pause, invalidate, runAgain
  }

  @Test(arguments: Meanwhile.allCases)
  func whatTheAppDoesBeforeTheAnswerCounts(_ act: Meanwhile) {
    let delegate = QueueDelegate(answer: false)
    attach(delegate)
    let session = pair.sessions[0]
    delegate.queue.suspend()
    session.run(configuration)
    #expect(session.configuration == configuration)
    switch act {
    case .pause: session.pause()
    case .invalidate: session.invalidate()
    case .runAgain: session.run(configuration)
    }
    delegate.queue.resume()
    delegate.queue.sync {}
    #expect(calls == (act == .runAgain ? ["started"] : []))
    #expect((session.discoveryToken == nil) == (act == .invalidate))
    guard act == .pause else { return }
    #expect(session.configuration == configuration)
    session.run(configuration)
    delegate.queue.sync {}
    #expect(calls == ["started"])
  }

  @Test(arguments: [false, true])
  func aSessionThatRunsAsksAgainWhenTheARSessionRunsAnew(_ answer: Bool) {
    pair.sessions[0].run(configuration)
    let delegate = QueueDelegate(answer: answer)
    attach(delegate)
    arSession.run(ARWorldTrackingConfiguration())
    delegate.queue.sync {}
    #expect(delegate.questions == 1)
    #expect(calls == ["started"] + (answer ? ["invalidated"] : []))
  }
}

/// Takes a value to another thread.
private struct UncheckedBox<Value>: @unchecked Sendable {
  // Unchecked: the value is only read while it is shared.
  let value: Value

  init(_ value: Value) { self.value = value }
}
