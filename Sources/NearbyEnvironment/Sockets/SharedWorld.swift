// SPDX-License-Identifier: Apache-2.0

extension SimulatedWorld {
  /// Why a world cannot be shared.
  public struct SharingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of reasons.
    public enum Reason: String, Hashable, Sendable {
      /// The folder belongs to another user, is open to others, or is none.
      case notPrivate
      /// Another program holds the folder's lock and does not release it.
      case locked
      /// The largest number of programs shares the folder already.
      case full
      /// The folder or the socket cannot be made.
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

  /// Makes a world that is shared by all processes on this machine which name the same folder.
  ///
  /// Its clock is the machine's. The processes send each other the poses of their devices, over
  /// datagram sockets in the folder, and each computes the radios' measurements. All must use the
  /// same settings.
  ///
  /// - Parameters:
  ///   - folder: The folder, made if it is missing; its path has at most 95 bytes. It must belong
  ///     to this user and be closed to all others (mode 700).
  ///   - settings: The settings of the world.
  /// - Returns: The world.
  /// - Throws: When the folder cannot be made or is not private to the user, its lock is not
  ///   available within 5 s, or it is full.
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
