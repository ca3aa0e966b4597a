// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Synchronization
import Testing

@testable import NearbyEnvironment
@testable import NearbyInteraction

/// The folder through which programs share a world: its owner, its lock, and its messages.
final class SharedFolderTests {
  private typealias Failure = SimulatedWorld.SharingError

  private let base = "/tmp/n-\(UUID().uuidString.prefix(8))"
  private var folder: String { base + "/w" }

  init() throws {
    try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: base) }

  private func makeFolder(mode: Int = 0o700) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
  }

  private func refusal(of path: String) -> Failure? {
    do throws(Failure) {
      _ = try SimulatedWorld.shared(in: path)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Whose it is

  @Test func aFolderThatIsMissingIsMadeForThisUserAlone() throws {
    let path = folder + "/deeper/still"
    #expect(refusal(of: path) == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    // A second program uses the existing folder.
    #expect(refusal(of: path) == nil)
  }

  @Test func aFolderOfAnotherUserIsRefused() throws {
    try makeFolder()
    let error = #expect(throws: Failure.self) {
      try PrivateFolder(self.folder, user: geteuid() + 1)
    }
    #expect(error?.reason == .notPrivate)
    #expect(error?.description.contains("\(folder) belongs to the user \(geteuid())") == true)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func aProgramWithoutAPrivateFolderReportsIt() throws {
    try makeFolder()
    #expect(unsafe chown(folder, 12_345, 12_345) == 0)
    #expect(refusal(of: folder)?.reason == .notPrivate)
    let environment = EnvironmentSelection([:]).environment(commonFolder: folder)
    let session = NISession(on: environment.defaultDevice())
    let recorder = SessionRecorder()
    recorder.attach(to: session)
    session.run(NINearbyPeerConfiguration(peerToken: NIDiscoveryToken(.random(on: .watch))))
    recorder.drain()
    let error = try #require(recorder.errors.first as? NIError)
    #expect(error.code == .unsupportedPlatform)
    #expect(error.localizedDescription.contains("\(folder) belongs to the user 12345"))
    withExtendedLifetime(session) {}
  }

  @Test(arguments: [0o755, 0o770, 0o701, 0o702, 0o500, 0o777])
  func aFolderThatIsOpenToOthersIsRefused(mode: Int) throws {
    try makeFolder(mode: mode)
    let refusal = refusal(of: folder)
    #expect(refusal?.reason == .notPrivate)
    #expect(refusal?.description.contains("mode \(String(mode, radix: 8))") == true)
    #expect(refusal?.description.contains("chmod 700") == true)
    let environment = EnvironmentSelection([:]).environment(commonFolder: folder)
    #expect((environment as? AbsentEnvironment)?.failure == refusal?.description)
    try makeFolder()
    #expect(self.refusal(of: folder) == nil)
  }

  @Test(arguments: ["link", "link/", "nowhere", "file"])
  func pathsThatAreNoFolderAreRefused(_ name: String) throws {
    try makeFolder()
    try FileManager.default.createSymbolicLink(
      atPath: base + "/link", withDestinationPath: folder)
    try FileManager.default.createSymbolicLink(
      atPath: base + "/nowhere", withDestinationPath: base + "/missing")
    try Data().write(to: URL(filePath: base + "/file"))
    #expect(refusal(of: "\(base)/\(name)")?.reason == .notPrivate)
    #expect(!FileManager.default.fileExists(atPath: base + "/missing"))
  }

  @Test func whereNoSocketCanBeTheProgramIsAlone() throws {
    let long = base + "/" + String(repeating: "x", count: 120)
    #expect(refusal(of: long)?.reason == .unavailable)
    #expect(EnvironmentSelection([:]).environment(commonFolder: long) is SimulatedWorld)
    try Data().write(to: URL(filePath: base + "/file"))
    #expect(refusal(of: base + "/file/w")?.reason == .unavailable)
  }

  // MARK: Who waits for it

  @Test func waitingForTheLockHasAnEnd() throws {
    let folder = try PrivateFolder(folder)
    let lock = unsafe open(folder.path + "/lock", O_CREAT | O_RDWR, 0o600)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    let start = ContinuousClock.now
    let error = #expect(throws: Failure.self) {
      try DatagramFolder(folder, lockSeconds: 0.2) { _ in }
    }
    #expect(error?.reason == .locked)
    #expect(error?.description.contains("\(folder.path)/lock") == true)
    #expect(start.duration(to: .now) > .seconds(0.19) && start.duration(to: .now) < .seconds(30))
    #expect(flock(lock, LOCK_UN) == 0)
    #expect(try DatagramFolder(folder) { _ in }.slot == 0)
  }

  @Test func aFolderHasRoomForSoManyPrograms() throws {
    let folder = try PrivateFolder(folder)
    let sockets = try (0..<64).map { _ in try DatagramFolder(folder) { _ in } }
    #expect(sockets.map(\.slot) == Array(0..<64))
    #expect(refusal(of: folder.path)?.reason == .full)
    withExtendedLifetime(sockets) {}
  }

  // MARK: What comes through it

  @Test func datagramsOfAnySizeLetTheNextOneThrough() async throws {
    let sizes = Mutex<[Int]>([])
    let folder = try PrivateFolder(folder)
    let receiver = try DatagramFolder(folder) { line in sizes.withLock { $0.append(line.count) } }
    let sender = try DatagramFolder(folder) { _ in }
    let sent = [0, 1, 300, WorldBeacon.largestLine, WorldBeacon.largestLine + 9000, 7]
    for (index, size) in sent.enumerated() {
      sender.send([UInt8](repeating: 32, count: size))
      // A message that arrives while the queue is full may be lost.
      for _ in 0..<2000 where sizes.withLock({ $0.count }) <= index {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    #expect(sizes.withLock { $0 } == sent.map { min($0, WorldBeacon.largestLine) })
    withExtendedLifetime((receiver, sender)) {}
  }

  /// A beacon of a device that exists only in the beacon.
  private static func beacon(device: Int, exchange: Int64) -> [UInt8] {
    WorldBeacon(
      device: UInt64(device), exchange: exchange, pose: .identity, sessions: [], ended: []
    ).line
  }

  @Test func devicesThatFallSilentAreForgotten() throws {
    let world = SimulatedWorld()
    let exchange: Int64 = 10_000
    for device in 0..<1500 {
      world.receive(Self.beacon(device: 1 << 30 + device, exchange: exchange + 1))
      if device % 100 == 99 { world.advance(bySeconds: 1.0 / 60) }
      if device == 699 { world.advance(bySeconds: 0.05) }
    }
    world.advance(bySeconds: 0.2)
    #expect(world.remoteCount > 1000 && world.remoteCount <= SimulatedWorld.mostRemotes)
    world.advance(bySeconds: 5)
    #expect(world.remoteCount > 1000)
    world.advance(bySeconds: 1)
    #expect(world.remoteCount == 0)
    // Now there is room again.
    world.receive(Self.beacon(device: 1, exchange: exchange + 63))
    world.advance(bySeconds: 0.2)
    #expect(world.remoteCount == 1)
  }

  @Test func aBeaconHoldsABoundedNumberOfSessions() throws {
    let tokens = (0..<1000).map { _ in SessionToken.random(on: .watch) }
    let sessions = tokens.map { WorldBeacon.Session(token: $0, peer: $0, isExtended: false) }
    var beacon = WorldBeacon(
      device: .max, exchange: .min, pose: .identity, sessions: sessions, ended: tokens)
    #expect(beacon.sessions == Array(sessions.prefix(256)))
    #expect(beacon.ended == Array(tokens.suffix(256)))
    #expect(beacon.line.count < WorldBeacon.largestLine)
    #expect(WorldBeacon(line: beacon.line) == beacon)
    beacon.ended.append(tokens[0])
    #expect(WorldBeacon(line: beacon.line) == nil)
    beacon.ended = []
    beacon.sessions.append(sessions[0])
    #expect(WorldBeacon(line: beacon.line) == nil)
  }

  @Test func whoEndsManySessionsAtOnceIsStillHeard() throws {
    let worlds = (0..<2).map { _ in SimulatedWorld() }
    let relay = Relay(to: worlds[1])
    worlds[0].connect(relay, slot: 0)
    let device = worlds[0].makeDevice()
    for _ in 0..<2000 {
      let token = SessionToken.random(on: .watch)
      device.join(token) { _ in }
      device.leave(token, tellsPeer: true)
    }
    for world in worlds { world.advance(bySeconds: 0.5) }
    #expect(worlds[1].remoteCount == 1)
  }

  private final class Relay: WorldLink {
    private let other: SimulatedWorld

    init(to other: SimulatedWorld) { self.other = other }

    func send(_ line: [UInt8]) { other.receive(line) }
  }
}
