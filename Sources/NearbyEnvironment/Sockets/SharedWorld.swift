// SPDX-License-Identifier: Apache-2.0

extension SimulatedWorld {
  /// Why a world cannot be shared.
  public struct SharingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public var description: String
  }

  /// Makes a world that all processes on this machine share which name the same folder.
  ///
  /// Its clock is the machine's. The processes tell each other where their devices are, over datagram
  /// sockets in the folder, and work out for themselves what the radios measure. All must use the
  /// same settings.
  ///
  /// - Parameters:
  ///   - folder: The folder, made if it is missing; its path has at most 95 bytes.
  ///   - settings: What the world is made of.
  /// - Returns: The world.
  /// - Throws: When there is no such folder and none can be made, or it has no room.
  public static func shared(
    in folder: String, _ settings: SimulatedWorldSettings = SimulatedWorldSettings()
  ) throws(SharingError) -> SimulatedWorld {
    let world = SimulatedWorld(settings, clock: .machine)
    do throws(DatagramFolder.Failure) {
      let link = try DatagramFolder(folder) { [weak world] line in world?.receive(line) }
      world.connect(link, slot: link.slot)
    } catch {
      throw SharingError(description: error.description)
    }
    return world
  }
}
