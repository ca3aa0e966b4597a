// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// Sessions that listen to anchors, and the place that follows.
@Suite("Anchor networks")
struct AnchorNetworkTests {
  private static let anchors = [
    Vector3(-6, 2.6, -5), Vector3(6, 0.4, -5), Vector3(6.5, 2.4, 5), Vector3(-6, 0.5, 5.5),
    Vector3(0, 2.8, -6), Vector3(0.5, 0.3, 6),
  ].enumerated().map { SimulatedAnchor(address: 0x10 + $0.offset, at: $0.element) }

  private static func settings(seed: UInt64 = 1) -> SimulatedWorldSettings {
    var settings = SimulatedWorldSettings()
    settings.seed = seed
    settings.anchors = anchors
    settings.radio.antennaInDevice = Vector3(0, 0.05, 0)
    return settings
  }

  /// An app that listens, and locates itself.
  private final class Listener: NSObject, NISessionDelegate, ARSessionDelegate, @unchecked Sendable
  {
    // Unchecked: used on its queue, and read after that was drained.
    let queue = DispatchQueue(label: "listener")
    let session: NISession
    let arSession: ARSession
    var locator: AnchorNetworkLocator
    private(set) var blocks: [[NIDLTDOAMeasurement]] = []
    private(set) var calls: [String] = []
    private(set) var differences = 0

    init(on device: SimulatedDevice, _ locator: AnchorNetworkLocator) {
      session = NISession(on: device)
      arSession = ARSession(on: device)
      self.locator = locator
      super.init()
      (session.delegate, session.delegateQueue) = (self, queue)
      (arSession.delegate, arSession.delegateQueue) = (self, queue)
    }

    func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {
      blocks.append(measurements)
      differences += locator.add(measurements)
      // A place counts as known when two searches have found it.
      if blocks.count % 5 == 0 { _ = locator.locate() }
    }
    func session(_ session: ARSession, didUpdate frame: ARFrame) { locator.add(frame) }
    func sessionDidStartRunning(_ session: NISession) { calls.append("started") }
    func sessionWasSuspended(_ session: NISession) { calls.append("suspended") }
    func sessionSuspensionEnded(_ session: NISession) { calls.append("suspensionEnded") }
    func session(
      _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
      reason: NINearbyObject.RemovalReason
    ) { calls.append("removed") }
    func session(_ session: NISession, didInvalidateWith error: any Error) {
      calls.append("\((error as? NIError)?.code ?? .sessionFailed)")
    }
  }

  private func advance(_ world: SimulatedWorld, _ listener: Listener, seconds: Double) {
    for _ in 0..<Int(seconds * 60) {
      world.advance(bySeconds: 1.0 / 60)
      listener.queue.sync {}
    }
  }

  @Test("a round begins and ends with the initiator, and says where its anchors are")
  func rounds() throws {
    let world = SimulatedWorld(Self.settings())
    #expect(world.defaultCapabilities.contains(.downlink))
    let device = world.makeDevice(
      motion: .resting(at: .init(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -1))))
    let listener = Listener(on: device, try AnchorNetworkLocator())
    listener.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
    advance(world, listener, seconds: 2)
    #expect(listener.calls == ["started"])
    #expect((19...21).contains(listener.blocks.count))
    for block in listener.blocks {
      #expect(
        block.map(\.measurementType) == [.poll] + Array(repeating: .response, count: 5) + [.final])
      #expect(block.first?.address == 0x10 && block.last?.address == 0x10)
      #expect(block.allSatisfy { $0.clusterInitiatorAddress == 0x10 && $0.signalStrength < -60 })
      #expect(block[1].coordinates == simd_double3(6, 0.4, -5))
      #expect(block[1].coordinatesType == .relative)
      for (a, b) in zip(block, block.dropFirst()) { #expect(a.receiveTime < b.receiveTime) }
    }
    // In the background nothing comes; there is no peer that could time out.
    device.undergo(.enteredBackground)
    let before = listener.blocks.count
    advance(world, listener, seconds: 1)
    #expect(listener.blocks.count == before)
    device.undergo(.enteredForeground)
    listener.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
    advance(world, listener, seconds: 1)
    #expect(listener.blocks.count > before)
    device.motion = .resting(at: .init(standingAt: Vector3(500, 1.4, 0), facing: .zero))
    advance(world, listener, seconds: 80)
    #expect(listener.calls == ["started", "suspended", "suspensionEnded", "started"])
  }

  @Test("without anchors it is not supported, and said so")
  func unsupported() throws {
    let world = SimulatedWorld()
    #expect(!world.defaultCapabilities.contains(.downlink))
    let listener = Listener(on: world.makeDevice(), try AnchorNetworkLocator())
    listener.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
    listener.queue.sync {}
    #expect(listener.calls == ["unsupportedPlatform"])
  }

  @Test("a walking app locates itself", arguments: [AnchorClocks.synchronized, .free])
  func locates(_ clocks: AnchorClocks) throws {
    var normalized: [Double] = []
    for seed in 1...6 as ClosedRange<UInt64> {
      var settings = Self.settings(seed: seed)
      settings.anchorClocks = clocks
      let world = SimulatedWorld(settings)
      let start = RigidTransform(rotation: .identity, translation: .zero)
      let device = world.makeDevice(
        motion: .carried(ScenarioMotion(.wanderingWalk, seed: seed), from: start))
      let listener = Listener(on: device, try AnchorNetworkLocator(clocks: clocks, device.fusion))
      listener.arSession.run(ARWorldTrackingConfiguration())
      listener.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
      advance(world, listener, seconds: 40)
      #expect(listener.differences > 1800)
      let located = listener.locator.locate()
      let fix = try #require(located)
      let place = try #require(fix.position.value, "seed \(seed)")
      let error = place - device.truePose.translation
      #expect(error.length < 0.5, "seed \(seed)")
      let inverse = try #require(fix.covariance.positiveDefiniteInverse)
      normalized.append(inverse.quadraticForm(error) / 3)
    }
    #expect(normalized.reduce(0, +) / Double(normalized.count) < 2.5, "\(normalized)")
  }

  @Test("geodetic coordinates become metres east, up and south of the first anchor")
  func geodetic() throws {
    let metre = 180 / (Double.pi * 6_371_008.8)
    func round(_ device: Vector3) -> [NIDLTDOAMeasurement] {
      let places = Self.anchors.map { Vector3($0.place[0], $0.place[1], $0.place[2]) }
      return (0...places.count).map { number in
        let index = number % places.count
        let place = places[index] - places[0]
        let latitude = 47.0 - place.z * metre
        let sent = 2e-3 * Double(number)
        return NIDLTDOAMeasurement(
          address: index, measurementType: number == 0 ? .poll : index == 0 ? .final : .response,
          transmitTime: sent,
          receiveTime: sent + (device - places[index]).length / 299_792_458, signalStrength: -70,
          carrierFrequencyOffset: 0, coordinatesType: .geodetic,
          coordinates: simd_double3(
            latitude, 8 + place.x * metre / cos(47.0 * .pi / 180), 400 + place.y))
      }
    }
    var locator = try AnchorNetworkLocator()
    let walk = ScenarioMotion(.wanderingWalk, seed: 3)
    let device = LiveDevice()
    let arSession = ARSession(on: device)
    arSession.run(ARWorldTrackingConfiguration())
    for step in 0..<400 {
      let pose = walk.pose(at: Double(step) / 10)
      device.add(
        DevicePose(
          timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: 10 + Double(step) / 10),
          worldFromDevice: pose))
      locator.add(try #require(arSession.currentFrame))
      locator.add(round(pose.translation))
      if step % 5 == 0 { _ = locator.locate() }
    }
    let located = locator.locate()
    let place = try #require(located?.position.value)
    let truth = walk.pose(at: 39.9).translation - Vector3(-6, 2.6, -5)
    #expect((place - truth).length < 0.3)
  }
}
