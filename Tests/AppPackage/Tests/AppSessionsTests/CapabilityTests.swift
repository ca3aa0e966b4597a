// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Capabilities") struct CapabilityTests {
    private func world(_ capabilities: DeviceCapabilities) -> any NIDeviceCapability {
      var settings = SimulatedWorldSettings()
      settings.capabilities = capabilities
      NearbyEnvironments.current = SimulatedWorld(settings)
      return NISession.deviceCapabilities
    }

    @Test("a phone with an antenna array offers an arrow at once")
    func array() {
      let phone = world(.phoneWithAntennaArray)
      #expect(phone.supportsPreciseDistanceMeasurement && phone.supportsDirectionMeasurement)
      #expect(phone.supportsCameraAssistance && !phone.supportsExtendedDistanceMeasurement)
    }

    @Test("a newer phone needs its camera for an arrow")
    func camera() {
      let phone = world(.phoneWithoutAntennaArray)
      #expect(phone.supportsPreciseDistanceMeasurement && !phone.supportsDirectionMeasurement)
      #expect(phone.supportsCameraAssistance && phone.supportsExtendedDistanceMeasurement)
    }

    @Test("a watch offers distances only")
    func watch() {
      let watch = world(.watch)
      #expect(watch.supportsPreciseDistanceMeasurement)
      #expect(!watch.supportsDirectionMeasurement && !watch.supportsCameraAssistance)
    }

    @Test("the older check is the same as that of precise distances")
    func isSupported() {
      _ = world(.watch)
      #expect(NISession.isSupported)
      _ = world([])
      #expect(!NISession.isSupported)
    }

    @Test("a phone without a radio tells so before and after running")
    func noRadio() async throws {
      let pair = Pair(capabilities: [])
      pair.session.run(try pair.configuration())
      await pair.pass(0.1)
      #expect(pair.log.codes == [.unsupportedPlatform] && pair.log.calls == ["invalidate"])
    }

    @Test("where there are no anchors, running for them ends the session")
    func anchors() async {
      let pair = Pair()
      #expect(!NISession.deviceCapabilities.supportsDLTDOAMeasurement)
      pair.session.run(NIDLTDOAConfiguration(networkIdentifier: 5))
      await pair.pass(0.1)
      #expect(pair.log.codes == [.unsupportedPlatform])
    }

    @Test("Bluetooth channel sounding is not offered, and running for it ends the session")
    func channelSounding() async {
      let pair = Pair()
      #expect(!NISession.deviceCapabilities.supportsBluetoothChannelSounding)
      pair.session.run(
        NINearbyAccessoryConfiguration(
          bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil))
      await pair.pass(0.1)
      #expect(pair.log.codes == [.unsupportedPlatform])
    }

    @Test("a token tells what the friend's device can do")
    func peerCapabilities() throws {
      let world = SimulatedWorld()
      let watch = NISession(on: world.makeDevice(capabilities: .watch))
      let phone = NISession(on: world.makeDevice())
      let ofWatch = try #require(watch.discoveryToken).deviceCapabilities
      let ofPhone = try #require(phone.discoveryToken).deviceCapabilities
      #expect(!ofWatch.supportsCameraAssistance && ofPhone.supportsCameraAssistance)
    }

    @Test("camera assistance on a watch ends the session")
    func cameraOnWatch() async throws {
      let pair = Pair(capabilities: .watch)
      pair.session.run(try pair.configuration(usesCamera: true))
      await pair.pass(0.1)
      #expect(pair.log.codes == [.invalidARConfiguration])
    }

    @Test("extended distances need a friend who has them, too")
    func incompatiblePeer() async throws {
      let world = SimulatedWorld()
      let phone = NISession(on: world.makeDevice())
      let older = NISession(on: world.makeDevice(capabilities: .phoneWithAntennaArray))
      let log = Log()
      phone.delegate = log
      let configuration = NINearbyPeerConfiguration(
        peerToken: try #require(older.discoveryToken))
      configuration.isExtendedDistanceMeasurementEnabled = true
      phone.run(configuration)
      await world.pass(seconds: 0.1)
      #expect(log.codes == [.incompatiblePeerDevice])
    }
  }
}
