// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Accessories") struct AccessoryTests {
    private let world = SimulatedWorld()
    private let phone: SimulatedDevice
    private let accessory: SimulatedAccessory
    private let session: NISession
    private let log = Log()

    init() {
      phone = world.makeDevice()
      accessory = SimulatedAccessory(on: world.makeDevice())
      session = NISession(on: phone)
      session.delegate = log
    }

    private func run(inBackground: Bool = false) async throws {
      session.run(
        inBackground
          ? try NINearbyAccessoryConfiguration(
            accessoryData: accessory.configurationData, bluetoothPeerIdentifier: UUID())
          : try NINearbyAccessoryConfiguration(data: accessory.configurationData))
      await world.pass(seconds: 0.1)
    }

    private func start() throws { try accessory.start(with: try #require(log.shared).data) }

    @Test("a session has data for its accessory, and names it by the configuration's token")
    func shares() async throws {
      try await run()
      let configuration = try #require(session.configuration as? NINearbyAccessoryConfiguration)
      #expect(log.calls == ["start", "share"])
      #expect(log.shared?.token == configuration.accessoryDiscoveryToken)
    }

    @Test("updates begin when the accessory has the data")
    func updates() async throws {
      try await run()
      await world.pass(seconds: 2)
      #expect(log.objects.isEmpty)
      try start()
      await world.pass(seconds: 1)
      #expect(log.objects.count == 10 && log.last?.distance != nil)
    }

    @Test("an accessory that never starts is a timeout")
    func neverStarts() async throws {
      try await run()
      await world.pass(seconds: 31)
      #expect(log.reasons == [.timeout])
    }

    @Test("an accessory that is stopped is a timeout")
    func stopped() async throws {
      try await run()
      try start()
      await world.pass(seconds: 1)
      accessory.stop()
      await world.pass(seconds: 11)
      #expect(log.reasons == [.timeout])
    }

    @Test("an accessory that is not connected cannot be run in the background")
    func disconnected() async throws {
      accessory.isConnected = false
      try await run(inBackground: true)
      #expect(log.codes == [.accessoryPeerDeviceUnavailable])
    }

    @Test("in the background measurements go on at the accessory, without callbacks")
    func background() async throws {
      try await run(inBackground: true)
      try start()
      await world.pass(seconds: 1)
      phone.undergo(.enteredBackground)
      let heard = log.objects.count
      await world.pass(seconds: 20)
      #expect(log.objects.count == heard && !log.calls.contains("suspend"))
      #expect(accessory.measurements.count == 210)
      phone.undergo(.enteredForeground)
      await world.pass(seconds: 1)
      #expect(log.objects.count == heard + 10)
    }

    @Test("an accessory without Bluetooth pairing is suspended in the background")
    func foregroundOnly() async throws {
      try await run()
      try start()
      phone.undergo(.enteredBackground)
      await world.pass(seconds: 1)
      #expect(log.calls.last == "suspend")
    }

    @Test("a second run gives the accessory data again")
    func again() async throws {
      try await run()
      try await run()
      #expect(log.calls == ["start", "share", "start", "share"])
    }

    @Test("an accessory does not answer what it does not understand")
    func nonsense() {
      #expect(accessory.answer(Data()) == nil && accessory.answer(Data([0x7F])) == nil)
      #expect(accessory.answer(Data([0xB, 1, 2, 3])) == nil)
      #expect(accessory.answer(Data([0xC])) == Data([0x3]))
    }
  }
}
