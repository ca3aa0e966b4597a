// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// The bytes that accessories and apps exchange.
@Suite("Accessory data")
struct AccessoryDataTests {
  /// A message as a development kit's firmware sends it: 16 bytes, and 21 of the radio.
  static let kit: [UInt8] =
    [1, 0, 0, 0, 20] + [UInt8](repeating: 0, count: 10) + [21]
    + [1, 0, 1, 0, 0x32, 0x11, 0x10, 0, 4, 2, 2, 0, 0, 0, 3, 4, 1, 0xCD, 0xAB, 100, 0]

  @Test("the data of a kit is read field by field, and written as it was")
  func kitsData() throws {
    #expect(Self.kit.count == 37)
    let data = try AccessoryConfigurationData(bytes: Self.kit)
    #expect(data.version == (1, 0) && data.updateRate == .userInteractive)
    #expect(data.radio.address == 0xABCD && data.radio.bytes.count == 21)
    #expect(data.bytes == Self.kit)
    let configuration = try NINearbyAccessoryConfiguration(data: Data(Self.kit))
    let again = try NINearbyAccessoryConfiguration(data: Data(Self.kit))
    #expect(configuration.accessoryDiscoveryToken == again.accessoryDiscoveryToken)
    var other = Self.kit
    other[33] = 0xCE
    let another = try NINearbyAccessoryConfiguration(data: Data(other))
    #expect(configuration.accessoryDiscoveryToken != another.accessoryDiscoveryToken)
  }

  @Test("later versions and padding are read")
  func variants() throws {
    let padded = try AccessoryConfigurationData(bytes: Self.kit + [0, 0, 0])
    #expect(padded.bytes == Self.kit)
    var later = Array(Self.kit[..<16])
    later[2] = 1
    later[15] = 32
    let radio = [2, 0] + Self.kit[18...] + [0, 0, 0, 0, 1, 6, 0, 0, 0, 0, 0]
    let data = try AccessoryConfigurationData(bytes: later + radio)
    #expect(data.version == (1, 1) && data.radio.bytes.count == 32)
    #expect(data.radio.address == 0xABCD && data.bytes == later + radio)
  }

  @Test(
    "anything else is an invalid configuration that says what is wrong",
    arguments: [
      ([], "0 bytes"), ([1, 2, 3], "3 bytes"), (Array(repeating: 0, count: 24), "version 0"),
      (Array(kit.dropLast()), "announces 21"), (kit + [1], "announces 21"),
      ([2] + kit.dropFirst(), "version 2"), (Array(kit[..<4]) + [15] + kit[5...], "rate 15"),
      (Array(kit[..<15]) + [20] + kit[16..<36], "at least 21"), (Array(kit[..<16]), "16 bytes"),
      (ShareableConfigurationData(token: .random(on: .watch)).bytes, "version"),
    ] as [([UInt8], String)])
  func refused(_ bytes: [UInt8], _ problem: String) throws {
    let error = try #require(throws: NIError.self) {
      try NINearbyAccessoryConfiguration(data: Data(bytes))
    }
    #expect(error.code == .invalidConfiguration)
    #expect(error.localizedDescription.contains(problem), "\(error.localizedDescription)")
  }

  @Test("damaged bytes are read as what they are, or refused")
  func damaged() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<2000 {
      var bytes = Self.kit
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[place] = UInt8.random(in: 0...255, using: &generator)
      // Reserved bytes are not kept.
      if (5..<15).contains(place) { bytes[place] = 0 }
      let count = Int.random(in: 0...bytes.count, using: &generator)
      let read = try? AccessoryConfigurationData(bytes: Array(bytes.prefix(count)))
      #expect(read == nil || read?.bytes == Array(bytes.prefix(count)))
      let shared = ShareableConfigurationData(token: .random(on: .watch)).bytes
      let part = try? ShareableConfigurationData(bytes: Array(shared.prefix(count)))
      #expect((part != nil) == (count >= shared.count))
    }
  }

  /// An app that knows its accessory by the bytes of the sample protocol alone.
  private final class App: NSObject, NISessionDelegate {
    let session: NISession
    /// Sends bytes over Bluetooth, and returns those that come back.
    var transmit: (Data) -> Data? = { _ in nil }
    private(set) var events: [String] = []
    private(set) var distance: Float?

    init(on device: any NearbyDevice, _ queue: DispatchQueue) {
      session = NISession(on: device)
      super.init()
      session.delegate = self
      session.delegateQueue = queue
    }

    func send(_ message: Data) { if let answer = transmit(message) { receive(answer) } }

    private func receive(_ message: Data) {
      switch message.first {
      case 0x1:
        guard
          let configuration = try? NINearbyAccessoryConfiguration(data: message.dropFirst())
        else { return events.append("no configuration") }
        session.run(configuration)
      case 0x2: events.append("accessory started")
      case 0x3: events.append("accessory stopped")
      default: events.append("unknown message")
      }
    }

    func session(
      _ session: NISession, didGenerateShareableConfigurationData data: Data,
      for object: NINearbyObject
    ) { send(Data([0xB]) + data) }

    func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
      distance = nearbyObjects.first?.distance
    }
  }

  @Test("an app ranges with an accessory that it knows by bytes alone")
  func messages() throws {
    let world = SimulatedWorld()
    let there = RigidTransform(standingAt: Vector3(0, 1.4, -4), facing: .zero)
    let here = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -4))
    let accessory = SimulatedAccessory(on: world.makeDevice(motion: .resting(at: there)))
    let queue = DispatchQueue(label: "app")
    let app = App(on: world.makeDevice(motion: .resting(at: here)), queue)
    app.transmit = { accessory.answer($0) }
    app.send(Data([0xA]))
    queue.sync {}
    #expect(app.events == ["accessory started"])
    world.advance(bySeconds: 1)
    queue.sync {}
    #expect(abs(try #require(app.distance) - 4) < 1)
    app.send(Data([0xC]))
    #expect(app.events == ["accessory started", "accessory stopped"])
    // What is no request is not answered; nor is anything without a connection.
    for message in [[], [0x1], [0x2], [0x3], [0x7F], [0xB], [0xB, 1, 2]] as [[UInt8]] {
      #expect(accessory.answer(Data(message)) == nil)
    }
    accessory.isConnected = false
    #expect(accessory.answer(Data([0xA])) == nil)
  }
}
