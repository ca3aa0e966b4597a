// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Datagram sockets in a folder, one for each process that takes part: `0.sock`, `1.sock`, and so on.
///
/// There is no server. A process binds the smallest free number, and sends to all other sockets
/// that it finds. The socket of a dead process is taken over. Datagrams of Unix sockets arrive
/// whole, and are lost if a queue is full, which beacons tolerate.
final class DatagramFolder: WorldLink, @unchecked Sendable {
  // Unchecked: the names that were found are read and written under `lock` only; all else is constant.

  typealias Failure = SimulatedWorld.SharingError

  /// The number of this process's socket.
  let slot: Int
  private let folder: PrivateFolder
  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private let lock = NSLock()
  private var others: [Int] = []
  private var sendsUntilLook = 0

  /// The largest number of processes that share a folder.
  private static let slots = 64
  /// The number of beacons after which the folder is searched for new processes: half a second.
  private static let sendsBetweenLooks = 5

  /// How long another process may take to find its socket, seconds.
  private static let lockSeconds = 5.0

  /// Binds the smallest free socket.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - lockSeconds: How long to wait while other processes find theirs.
  ///   - receive: Called with each datagram.
  /// - Throws: When no socket is available.
  init(
    _ folder: PrivateFolder, lockSeconds: Double = lockSeconds,
    receive: @escaping @Sendable ([UInt8]) -> Void
  ) throws(Failure) {
    let descriptor = try Self.makeSocket()
    do throws(Failure) {
      // The lock keeps two processes from taking over the same socket.
      slot = try folder.withLock(waitingFor: lockSeconds) { () throws(Failure) in
        try Self.bind(descriptor, in: folder.path)
      }
    } catch {
      close(descriptor)
      throw error
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    self.folder = folder
    self.descriptor = descriptor
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "nearby.sockets"))
    source.setEventHandler { Self.drain(descriptor, receive) }
    let path = Self.path(slot, in: folder.path)
    source.setCancelHandler {
      close(descriptor)
      unsafe unlink(path)
    }
    source.resume()
  }

  deinit { source.cancel() }

  func send(_ line: [UInt8]) {
    for other in recipients() {
      _ = unsafe Self.withAddress(Self.path(other, in: folder.path)) { address, length in
        unsafe line.withUnsafeBytes {
          unsafe sendto(
            descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT), address, length)
        }
      }
    }
  }

  /// The other sockets, searched from time to time.
  private func recipients() -> [Int] {
    lock.withLock {
      sendsUntilLook -= 1
      guard sendsUntilLook < 0 else { return others }
      sendsUntilLook = Self.sendsBetweenLooks
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      others = names.compactMap { name in
        name.hasSuffix(".sock") ? Int(name.dropLast(5)) : nil
      }.filter { (0..<Self.slots).contains($0) && $0 != slot }
      return others
    }
  }

  // MARK: The system's calls

  private static func path(_ slot: Int, in folder: String) -> String { "\(folder)/\(slot).sock" }

  private static func makeSocket() throws(Failure) -> Int32 {
    let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(AF_UNIX, Int32(kind), 0)
    guard descriptor >= 0 else {
      throw Failure(.unavailable, "no socket can be made: \(PrivateFolder.systemReason)")
    }
    return descriptor
  }

  /// Binds the smallest number that is free or whose process has ended.
  private static func bind(_ descriptor: Int32, in folder: String) throws(Failure) -> Int {
    for slot in 0..<slots {
      let path = path(slot, in: folder)
      if try isAlive(path) { continue }
      unsafe unlink(path)
      let result = unsafe withAddress(path) { address, length in
        unsafe Glibc.bind(descriptor, address, length)
      }
      if result == 0 { return slot }
      throw Failure(.unavailable, "\(path) cannot be a socket: \(PrivateFolder.systemReason)")
    }
    throw Failure(
      .full, "\(folder) has no room: \(slots) programs share it; end one, or name another folder")
  }

  /// Whether a process listens there.
  private static func isAlive(_ path: String) throws(Failure) -> Bool {
    let probe = try makeSocket()
    defer { close(probe) }
    let result = unsafe withAddress(path) { address, length in
      unsafe connect(probe, address, length)
    }
    guard let result else {
      throw Failure(
        .unavailable, "\(path) has too long a path for a socket; name another folder")
    }
    // Other errors do not tell whether the process is alive.
    return result == 0 || errno != ECONNREFUSED && errno != ENOENT
  }

  private static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func drain(_ descriptor: Int32, _ receive: ([UInt8]) -> Void) {
    var buffer = [UInt8](repeating: 0, count: WorldBeacon.largestLine)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
      }
      guard count >= 0 else { return }
      receive(Array(buffer[..<count]))
    }
  }
}
