// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Errors, delegates and queues") struct ErrorTests {
    private let pair = Pair()

    // MARK: Errors

    @Test("errors have Apple's domain and numbers")
    func numbers() {
      let numbers: [(NIError.Code, Int)] = [
        (.unsupportedPlatform, -5889), (.invalidConfiguration, -5888), (.sessionFailed, -5887),
        (.resourceUsageTimeout, -5886), (.activeSessionsLimitExceeded, -5885),
        (.userDidNotAllow, -5884), (.invalidARConfiguration, -5883),
        (.accessoryPeerDeviceUnavailable, -5882), (.incompatiblePeerDevice, -5881),
        (.activeExtendedDistanceSessionsLimitExceeded, -5880),
      ]
      for (code, number) in numbers {
        let error = NIError(code) as NSError
        #expect(error.domain == NIErrorDomain && error.code == number)
        #expect(NIError.Code(rawValue: number) == code)
      }
    }

    @Test("an app matches an error by its pattern")
    func pattern() {
      func text(_ error: any Error) -> String {
        switch error {
        case NIError.userDidNotAllow: "settings"
        case NIError.invalidConfiguration, NIError.sessionFailed: "again"
        default: "other"
        }
      }
      #expect(text(NIError(.userDidNotAllow)) == "settings")
      #expect(text(NIError(.sessionFailed)) == "again")
      #expect(text(CocoaError(.fileNoSuchFile)) == "other")
    }

    @Test("an error from another layer, as NSError, matches, too")
    func bridged() {
      let error = NSError(domain: NIErrorDomain, code: -5884)
      if case NIError.userDidNotAllow = error {} else { Issue.record("it does not match") }
    }

    @Test("each error has a text and an advice of its own")
    func texts() {
      let errors = NIError.Code.allCases.map { NIError($0) }
      #expect(Set(errors.map(\.localizedDescription)).count == errors.count)
      #expect(errors.allSatisfy { $0.recoverySuggestion?.isEmpty == false })
    }

    @Test("a delegate's error is an NIError with its code")
    func cast() async throws {
      final class App: NSObject, NISessionDelegate {
        var code: NIError.Code?
        func session(_ session: NISession, didInvalidateWith error: any Error) {
          code = (error as? NIError)?.code
        }
      }
      let app = App()
      pair.session.delegate = app
      pair.phone.authorization = .denied
      try pair.run()
      await pair.pass(0.1)
      #expect(app.code == .userDidNotAllow)
    }

    // MARK: Delegates and queues

    @Test("without a queue callbacks come on the main queue")
    func mainQueue() async throws {
      var isMain: [Bool] = []
      pair.log.onCall = { _, _ in
        dispatchPrecondition(condition: .onQueue(.main))
        isMain.append(true)
      }
      #expect(pair.session.delegateQueue == nil)
      try pair.run()
      await pair.pass(0.5)
      #expect(isMain.count == 6)
    }

    /// Counts callbacks on a queue of its own.
    private final class Counter: NSObject, NISessionDelegate, @unchecked Sendable {
      // Unchecked: everything is on the queue.
      let queue = DispatchQueue(label: "app.ranging")
      private var count = 0
      var updates: Int { queue.sync { count } }
      func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
        dispatchPrecondition(condition: .onQueue(queue))
        count += nearbyObjects.count
      }
    }

    @Test("callbacks come on the app's own queue")
    func ownQueue() async throws {
      let counter = Counter()
      pair.session.delegate = counter
      pair.session.delegateQueue = counter.queue
      try pair.run()
      await pair.pass(1)
      #expect(counter.updates == 10)
    }

    @Test("a session does not keep its delegate")
    func weakDelegate() async throws {
      var log: Log? = Log()
      weak let kept = log
      pair.session.delegate = log
      log = nil
      try pair.run()
      await pair.pass(0.5)
      #expect(kept == nil && pair.session.delegate == nil)
      #expect(pair.friendLog.calls.contains("update"))
    }

    @Test("an app implements the methods that it needs")
    func optionalMethods() async throws {
      final class Quiet: NSObject, NISessionDelegate {}
      let quiet = Quiet()
      pair.session.delegate = quiet
      try pair.run(usesCamera: true)
      await pair.pass(3)
      pair.session.invalidate()
      await pair.pass(1)
      #expect(pair.friendLog.reasons == [.peerEnded])
    }

    @Test("a new delegate gets the next callbacks")
    func newDelegate() async throws {
      try pair.run()
      await pair.pass(1)
      let next = Log()
      pair.session.delegate = next
      await pair.pass(1)
      #expect(pair.log.objects.count == 10 && next.objects.count == 10)
    }

    @Test("one delegate tells its sessions apart")
    func twoSessions() async throws {
      pair.friend.delegate = pair.log
      var counts: [ObjectIdentifier: Int] = [:]
      pair.log.onCall = { session, call in
        if call == "update" { counts[ObjectIdentifier(session), default: 0] += 1 }
      }
      try pair.run()
      await pair.pass(1)
      #expect(counts == [ObjectIdentifier(pair.session): 10, ObjectIdentifier(pair.friend): 10])
    }

    @Test("a session may be invalidated from inside its callback")
    func invalidatesInside() async throws {
      pair.log.onCall = { session, call in if call == "update" { session.invalidate() } }
      try pair.run()
      await pair.pass(2)
      #expect(pair.log.calls == ["start", "update"] && pair.friendLog.reasons == [.peerEnded])
    }

    @Test("a session ends with its last reference")
    func lastReference() async throws {
      weak var kept: NISession?
      do {
        let session = NISession(on: pair.phone)
        session.run(try pair.configuration())
        kept = session
      }
      await pair.pass(0.2)
      #expect(kept == nil)
    }

    @Test("sessions are keys of a dictionary")
    func keys() {
      let names = [pair.session: "a", pair.friend: "b"]
      #expect(names[pair.friend] == "b" && pair.session != pair.friend)
    }

    // MARK: Other devices

    @Test("an app's own radio delivers its measurements")
    func liveDevice() async throws {
      let device = LiveDevice()
      let live = NISession(on: device)
      live.delegate = pair.log
      live.run(try pair.configuration())
      device.add(RadioMeasurement(timestamp: Timestamp(nanoseconds: 5_000_000_000), distance: 2.5))
      await pair.pass(0.1)
      #expect(pair.log.last?.distance == 2.5)
      #expect(pair.log.last?.discoveryToken == pair.friend.discoveryToken)
    }

    @Test("a silent radio is a timeout on its own clock")
    func liveTimeout() async throws {
      let device = LiveDevice()
      let live = NISession(on: device)
      live.delegate = pair.log
      live.run(try pair.configuration())
      device.add(RadioMeasurement(timestamp: Timestamp(nanoseconds: 5_000_000_000), distance: 2.5))
      device.advance(to: Timestamp(nanoseconds: 15_500_000_000))
      await pair.pass(0.1)
      #expect(pair.log.reasons == [.timeout])
    }
  }
}
