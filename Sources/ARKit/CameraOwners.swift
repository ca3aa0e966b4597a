// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyEnvironment

/// The AR session that has the camera of each device: the one that was run last.
///
/// A phone runs one AR session at a time. Running another interrupts it.
enum CameraOwners {
  private static let owners = Owners()

  /// Gives the camera of a session's device to that session.
  ///
  /// - Parameter session: The session.
  /// - Returns: The session that had it, if another one did.
  static func give(to session: ARSession) -> ARSession? { owners.give(to: session) }

  /// Frees the camera, if a session has it.
  ///
  /// - Parameter session: The session.
  static func free(_ session: ARSession) { owners.free(session) }

  private final class Owners: @unchecked Sendable {
    // Unchecked: the dictionary is read and written under `lock` only.
    private let lock = NSLock()
    private var sessions: [ObjectIdentifier: Owner] = [:]

    private struct Owner {
      weak var session: ARSession?
    }

    func give(to session: ARSession) -> ARSession? {
      lock.withLock {
        let key = ObjectIdentifier(session.device)
        let before = sessions[key]?.session
        // A device that is gone may have left its address to another one.
        if sessions.count > Self.mostUnchecked {
          sessions = sessions.filter { $0.value.session != nil }
        }
        sessions[key] = Owner(session: session)
        return before === session || before?.device !== session.device ? nil : before
      }
    }

    func free(_ session: ARSession) {
      lock.withLock {
        let key = ObjectIdentifier(session.device)
        if sessions[key]?.session === session { sessions[key] = nil }
      }
    }

    private static let mostUnchecked = 64
  }
}
