// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry
import Testing

@testable import NearbyInteraction

/// Every event in every state, including those without a meaning.
struct SessionStateMachineTests {
  typealias Machine = SessionStateMachine
  typealias Effect = SessionStateMachine.Effect

  private static func at(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  private static func request(
    at seconds: Double = 0, _ change: (inout RunRequest) -> Void = { _ in }
  ) -> RunRequest {
    var request = RunRequest(
      time: at(seconds), capabilities: [.phoneWithAntennaArray, .extendedDistance],
      peerCapabilities: [.phoneWithAntennaArray, .extendedDistance])
    change(&request)
    return request
  }

  /// A machine in each of the states.
  enum Start: String, CaseIterable, Sendable {
    case idle, awaiting, running, paused, suspended, removed, invalidated

    var machine: Machine {
      var machine = Machine(SessionLimits())
      switch self {
      case .idle: break
      case .awaiting:
        _ = machine.handle(
          .run(SessionStateMachineTests.request { $0.authorization = .undetermined }))
      case .running: _ = machine.handle(.run(SessionStateMachineTests.request()))
      case .paused:
        _ = machine.handle(.run(SessionStateMachineTests.request()))
        _ = machine.handle(.pause)
      case .suspended:
        _ = machine.handle(.run(SessionStateMachineTests.request()))
        _ = machine.handle(.lifecycle(.suspended))
      case .removed:
        _ = machine.handle(.run(SessionStateMachineTests.request()))
        _ = machine.handle(.peerEnded)
      case .invalidated: _ = machine.handle(.invalidate)
      }
      return machine
    }
  }

  /// What happens, by a name that a failing test prints.
  enum Event: String, CaseIterable, Sendable {
    case run, runAgainstTheUsersWill, pause, invalidate, measurement, emptyMeasurement, soon
    case muchLater, peerEnded, suspended, suspensionEnded, background, foreground, allowed, denied
    case trajectoryFault, failure

    var event: Machine.Event {
      switch self {
      case .run: .run(SessionStateMachineTests.request(at: 1))
      case .runAgainstTheUsersWill:
        .run(SessionStateMachineTests.request(at: 1) { $0.authorization = .denied })
      case .pause: .pause
      case .invalidate: .invalidate
      case .measurement: .measurement(at: SessionStateMachineTests.at(1), isEmpty: false)
      case .emptyMeasurement: .measurement(at: SessionStateMachineTests.at(1), isEmpty: true)
      case .soon: .time(SessionStateMachineTests.at(1))
      case .muchLater: .time(SessionStateMachineTests.at(1e5))
      case .peerEnded: .peerEnded
      case .suspended: .lifecycle(.suspended)
      case .suspensionEnded: .lifecycle(.suspensionEnded)
      case .background: .lifecycle(.enteredBackground)
      case .foreground: .lifecycle(.enteredForeground)
      case .allowed: .authorization(isAllowed: true)
      case .denied: .authorization(isAllowed: false)
      case .trajectoryFault: .trajectoryFault
      case .failure: .failure
      }
    }
  }

  private static let go: [Effect] = [.startRanging, .didStartRunning]
  private static func end(_ code: NIError.Code) -> [Effect] { [.leave, .didInvalidate(code)] }

  /// The table: what each event does in each state, in the order of ``Start``.
  private static let table: [Event: [[Effect]]] = [
    .run: [go, go, go, go, [], go, []],
    .runAgainstTheUsersWill: Array(repeating: end(.userDidNotAllow), count: 6) + [[]],
    .pause: [[], [], [.stopRanging], [], [], [], []],
    .invalidate: Array(repeating: [.leave], count: 6) + [[]],
    .measurement: [[], [], [.fuse], [], [], [], []],
    .emptyMeasurement: [[], [], [.fuse], [], [], [], []],
    .soon: [[], [], [], [], [], [], []],
    .muchLater: [[], [], end(.resourceUsageTimeout), [], end(.sessionFailed), [], []],
    .peerEnded: [
      [], [], [.stopRanging, .didRemove(.peerEnded)], [.didRemove(.peerEnded)], [], [], [],
    ],
    .suspended: [[], [], [.stopRanging, .wasSuspended], [], [], [], []],
    .suspensionEnded: [[], [], [], [], [.suspensionEnded], [], []],
    .background: [[], [], [.stopRanging, .wasSuspended], [], [], [], []],
    .foreground: [[], [], [], [], [], [], []],
    .allowed: [[], go, [], [], [], [], []],
    .denied: [[]] + Array(repeating: end(.userDidNotAllow), count: 5) + [[]],
    .trajectoryFault: [[], [], [], [], [], [], []],
    .failure: Array(repeating: end(.sessionFailed), count: 6) + [[]],
  ]

  @Test(arguments: Start.allCases, Event.allCases)
  func everyPairDoesWhatTheTableSays(_ start: Start, _ event: Event) throws {
    var machine = start.machine
    var expected = try #require(Self.table[event])[
      try #require(Start.allCases.firstIndex(of: start))]
    // A device that is still suspended delays a session, which is the second outcome of run.
    if start == .suspended, event == .run { expected = [.wasSuspended] }
    #expect(machine.handle(event.event) == expected)
    if machine.isInvalidated {
      for other in Event.allCases { #expect(machine.handle(other.event) == []) }
    }
  }

  @Test func everyStateIsReached() {
    #expect(Set(Start.allCases.map { $0.machine.state }).count == Start.allCases.count)
  }

  // MARK: Refusals

  struct Refusal: Sendable, CustomTestStringConvertible {
    var code: NIError.Code
    var change: @Sendable (inout RunRequest) -> Void
    var testDescription: String { "\(code)" }
  }

  @Test(arguments: [
    Refusal(code: .unsupportedPlatform) { $0.capabilities = [] },
    Refusal(code: .invalidConfiguration) { $0.namesItself = true },
    Refusal(code: .userDidNotAllow) { $0.authorization = .denied },
    Refusal(code: .invalidARConfiguration) {
      $0.usesCamera = true
      $0.capabilities = .watch
    },
    Refusal(code: .invalidARConfiguration) {
      $0.usesCamera = true
      $0.trajectory = .faulty
    },
    Refusal(code: .invalidARConfiguration) { $0.trajectory = .shared },
    Refusal(code: .unsupportedPlatform) {
      $0.measuresExtendedDistance = true
      $0.capabilities = .watch
    },
    Refusal(code: .incompatiblePeerDevice) {
      $0.measuresExtendedDistance = true
      $0.peerCapabilities = .watch
    },
    Refusal(code: .activeExtendedDistanceSessionsLimitExceeded) {
      $0.measuresExtendedDistance = true
      $0.activeExtendedSessions = 1
    },
    Refusal(code: .activeSessionsLimitExceeded) { $0.activeSessions = 16 },
  ])
  func aRunThatCannotBeEndsAtOnce(_ refusal: Refusal) {
    var machine = Machine(SessionLimits())
    #expect(
      machine.handle(.run(Self.request(at: 0, refusal.change))) == Self.end(refusal.code))
    #expect(machine.state == .invalidated(refusal.code))
    #expect(machine.handle(.run(Self.request())) == [])
  }

  @Test func aRequestWithinTheLimitsIsAccepted() {
    var machine = Machine(SessionLimits())
    let request = Self.request {
      $0.usesCamera = true
      $0.trajectory = .shared
      $0.measuresExtendedDistance = true
      $0.activeSessions = 15
    }
    #expect(machine.handle(.run(request)) == Self.go)
    #expect(machine.handle(.trajectoryFault) == Self.end(.invalidARConfiguration))
  }

  // MARK: Time

  @Test func silenceRemovesThePeerOnInputTimeAndNotBefore() {
    var machine = Start.running.machine
    #expect(machine.handle(.time(Self.at(59.9))) == [])
    #expect(machine.handle(.measurement(at: Self.at(60), isEmpty: false)) == [.fuse])
    // Failed exchanges do not count as activity, nor does time that runs backwards.
    #expect(machine.handle(.measurement(at: Self.at(69), isEmpty: true)) == [.fuse])
    #expect(machine.handle(.time(Self.at(5))) == [])
    #expect(machine.handle(.time(Self.at(69.9))) == [])
    #expect(machine.handle(.time(Self.at(70.1))) == [.stopRanging, .didRemove(.timeout)])
    #expect(machine.state == .removed)
    // The retry pattern: run again with the same configuration.
    #expect(machine.handle(.run(Self.request(at: 71))) == Self.go)
    #expect(machine.handle(.time(Self.at(82))) == [])
  }

  @Test func aPeerThatIsNeverHeardIsRemoved() {
    var machine = Start.running.machine
    #expect(machine.handle(.time(Self.at(60.1))) == [.stopRanging, .didRemove(.timeout)])
  }

  @Test func anAccessoryMustBeginInTime() {
    var machine = Machine(SessionLimits())
    #expect(
      machine.handle(.run(Self.request { $0.isAccessory = true }))
        == Self.go + [.shareConfiguration])
    #expect(machine.handle(.time(Self.at(29.9))) == [])
    #expect(machine.handle(.time(Self.at(30.1))) == [.stopRanging, .didRemove(.timeout)])
  }

  @Test func aSuspensionMustEndInTime() {
    var machine = Start.suspended.machine
    #expect(machine.handle(.time(Self.at(299.9))) == [])
    #expect(machine.handle(.time(Self.at(300.1))) == Self.end(.sessionFailed))
  }

  // MARK: The app's life

  @Test func aSuspensionNeverResumesByItself() {
    var machine = Start.suspended.machine
    #expect(machine.handle(.lifecycle(.suspensionEnded)) == [.suspensionEnded])
    #expect(machine.state == .paused)
    #expect(machine.handle(.measurement(at: Self.at(2), isEmpty: false)) == [])
    #expect(machine.handle(.run(Self.request(at: 3))) == Self.go)
  }

  @Test func aDeviceThatIsNotReadySuspendsAtOnce() {
    var machine = Machine(SessionLimits())
    #expect(machine.handle(.lifecycle(.suspended)) == [])
    #expect(machine.handle(.run(Self.request())) == [.wasSuspended])
    #expect(machine.handle(.lifecycle(.suspensionEnded)) == [.suspensionEnded])
    #expect(machine.handle(.run(Self.request())) == Self.go)
  }

  @Test func aBackgroundSessionMeasuresOnWithoutTellingTheApp() {
    var machine = Machine(SessionLimits())
    let request = Self.request {
      $0.isAccessory = true
      $0.runsInBackground = true
    }
    _ = machine.handle(.run(request))
    #expect(machine.handle(.lifecycle(.enteredBackground)) == [])
    #expect(machine.handle(.measurement(at: Self.at(1), isEmpty: false)) == [.withhold])
    #expect(machine.handle(.time(Self.at(10))) == [])
    #expect(machine.handle(.lifecycle(.enteredForeground)) == [])
    #expect(machine.handle(.measurement(at: Self.at(11), isEmpty: false)) == [.fuse])
    #expect(machine.handle(.lifecycle(.suspended)) == [.stopRanging, .wasSuspended])
  }

  @Test func twoReasonsToBeSuspendedBothHaveToEnd() {
    var machine = Start.suspended.machine
    #expect(machine.handle(.lifecycle(.enteredBackground)) == [])
    #expect(machine.handle(.lifecycle(.suspensionEnded)) == [])
    #expect(machine.handle(.lifecycle(.enteredForeground)) == [.suspensionEnded])
  }

  @Test func pausingWhileTheUserIsAskedTakesTheRunBack() {
    var machine = Start.awaiting.machine
    #expect(machine.handle(.pause) == [])
    #expect(machine.handle(.authorization(isAllowed: true)) == [])
    #expect(machine.state == .paused)
  }
}
