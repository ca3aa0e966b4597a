// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Datagram sockets in a folder, one for each process that takes part: `0.sock`, `1.sock`, and so on.
///
/// There is no server. A process binds the smallest number that is free, and sends to all others that it
/// finds; a socket whose process has died is taken over. Datagrams of Unix sockets are whole, and what
/// a full queue does not take is lost, which beacons can bear.
final class DatagramFolder: WorldLink, @unchecked Sendable {
  // Unchecked: the names that were found are read and written under `lock` only; all else is constant.

  /// What went wrong.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The number of this process's socket.
  let slot: Int
  private let folder: String
  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private let lock = NSLock()
  private var others: [Int] = []
  private var sendsUntilLook = 0

  /// So many processes may share a folder.
  private static let slots = 64
  /// After so many beacons the folder is looked through for newcomers: half a second's.
  private static let sendsBetweenLooks = 5

  init(_ folder: String, receive: @escaping @Sendable ([UInt8]) -> Void) throws(Failure) {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(description: "\(folder) cannot be made a folder: \(error.localizedDescription)")
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket can be made") }
    guard let slot = try Self.bind(descriptor, in: folder) else {
      close(descriptor)
      throw Failure(description: "\(folder) has no room for a socket: its name may be too long")
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    self.folder = folder
    self.slot = slot
    self.descriptor = descriptor
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "nearby.sockets"))
    source.setEventHandler { Self.drain(descriptor, receive) }
    let path = Self.path(slot, in: folder)
    source.setCancelHandler {
      close(descriptor)
      unsafe unlink(path)
    }
    source.resume()
  }

  deinit { source.cancel() }

  func send(_ line: [UInt8]) {
    for other in recipients() {
      _ = unsafe Self.withAddress(Self.path(other, in: folder)) { address, length in
        unsafe line.withUnsafeBytes {
          unsafe sendto(
            descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT), address, length)
        }
      }
    }
  }

  /// The other sockets, looked for now and then.
  private func recipients() -> [Int] {
    lock.withLock {
      sendsUntilLook -= 1
      guard sendsUntilLook < 0 else { return others }
      sendsUntilLook = Self.sendsBetweenLooks
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      others = names.compactMap { name in
        name.hasSuffix(".sock") ? Int(name.dropLast(5)) : nil
      }.filter { (0..<Self.slots).contains($0) && $0 != slot }
      return others
    }
  }

  // MARK: The system's calls

  private static func path(_ slot: Int, in folder: String) -> String { "\(folder)/\(slot).sock" }

  /// Binds the smallest number that is free or whose process is gone.
  private static func bind(_ descriptor: Int32, in folder: String) throws(Failure) -> Int? {
    // One process at a time, or two may take over the same socket.
    let guardFile = unsafe open("\(folder)/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard guardFile >= 0, flock(guardFile, LOCK_EX) == 0 else {
      throw Failure(description: "\(folder) cannot be written to")
    }
    defer { close(guardFile) }
    for slot in 0..<slots {
      let path = path(slot, in: folder)
      if isAlive(path) { continue }
      unsafe unlink(path)
      let result = unsafe withAddress(path) { address, length in
        unsafe Glibc.bind(descriptor, address, length)
      }
      if result == 0 { return slot }
      return nil
    }
    return nil
  }

  /// Whether a process listens there.
  private static func isAlive(_ path: String) -> Bool {
    let probe = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(probe) }
    return unsafe withAddress(path) { address, length in
      unsafe connect(probe, address, length)
    } == 0
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
