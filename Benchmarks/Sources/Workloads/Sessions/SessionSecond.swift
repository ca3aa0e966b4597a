// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyInteraction

/// One second of sessions in pairs, with camera assistance: the simulated world of their devices, poses
/// at 60 Hz, ten measurements and updates of each session, delivered on a queue.
///
/// The cost of an operation, in seconds, is the fraction of a core that is used. It includes the
/// simulated world, which replaces the sensors of a phone.
final class SessionSecond: Workload {
  private static let warmUpSeconds = 20

  let operations = 1

  private let world = SimulatedWorld()
  private let queue = DispatchQueue(label: "sessions")
  private let listener = Listener()
  private let sessions: [NISession]
  private var heard = 0

  init(sessions count: Int) throws {
    let world = world
    sessions = (0..<count).map { _ in NISession(on: world.makeDevice()) }
    for (session, index) in zip(sessions, 0...) {
      session.delegate = listener
      session.delegateQueue = queue
      guard let token = sessions[index ^ 1].discoveryToken else {
        throw WrongState("a session without a token")
      }
      let configuration = NINearbyPeerConfiguration(peerToken: token)
      configuration.isCameraAssistanceEnabled = true
      session.run(configuration)
    }
    world.advance(bySeconds: Double(Self.warmUpSeconds))
    queue.sync {}
    prepare()
    run()
    try check()
  }

  deinit { for session in sessions { session.invalidate() } }

  func prepare() { heard = listener.updates }

  func run() {
    world.advance(bySeconds: 1)
    queue.sync {}
  }

  func check() throws {
    let updates = listener.updates - heard
    guard updates == 10 * sessions.count else {
      throw WrongState("\(updates) updates of \(sessions.count) sessions in a second")
    }
  }

  /// Counts updates; read only when the queue is empty.
  private final class Listener: NSObject, NISessionDelegate, @unchecked Sendable {
    private(set) var updates = 0

    func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) { updates += 1 }
  }
}
