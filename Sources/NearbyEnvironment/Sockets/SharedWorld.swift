// SPDX-License-Identifier: Apache-2.0

extension SimulatedWorld {
  /// Why a world cannot be shared.
  public struct SharingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of reasons.
    public enum Reason: String, Hashable, Sendable {
      /// The folder belongs to another user, is open to others, or is none.
      case notPrivate
      /// Another program holds the folder's lock and does not let it go.
      case locked
      /// So many programs share the folder already that there is no room.
      case full
      /// No folder or no socket can be made there.
      case unavailable
    }

    /// The kind of reason.
    public var reason: Reason
    /// What is wrong, and what to do.
    public var description: String

    init(_ reason: Reason, _ description: String) {
      self.reason = reason
      self.description = description
    }
  }

  /// Makes a world that all processes on this machine share which name the same folder.
  ///
  /// Its clock is the machine's. The processes tell each other where their devices are, over datagram
  /// sockets in the folder, and work out for themselves what the radios measure. All must use the
  /// same settings.
  ///
  /// - Parameters:
  ///   - folder: The folder, made if it is missing; its path has at most 95 bytes. It must belong to
  ///     this user and be open to nobody else (mode 700).
  ///   - settings: What the world is made of.
  /// - Returns: The world.
  /// - Throws: When there is no such folder and none can be made, it is not this user's alone, its lock
  ///   cannot be had within 5 s, or it has no room.
  public static func shared(
    in folder: String, _ settings: SimulatedWorldSettings = SimulatedWorldSettings()
  ) throws(SharingError) -> SimulatedWorld {
    let world = SimulatedWorld(settings, clock: .machine)
    let link = try DatagramFolder(PrivateFolder(folder)) { [weak world] line in
      world?.receive(line)
    }
    world.connect(link, slot: link.slot)
    return world
  }
}
