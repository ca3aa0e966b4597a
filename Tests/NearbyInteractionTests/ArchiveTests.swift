// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import Testing

@testable import NearbyInteraction

struct ArchiveTests {
  private let token = NIDiscoveryToken(
    SessionToken(high: 0x0123_4567_89AB_CDEF, low: 42, capabilities: .phoneWithoutAntennaArray))

  private func copy<Object: NSObject & NSCoding>(_ object: Object) throws -> Object? {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
  }

  @Test func aTokenSurvivesAnArchive() throws {
    let other = try #require(try copy(token))
    #expect(other == token)
    #expect(other.hash == token.hash)
    #expect([token: 1][other] == 1)
    #expect(!other.deviceCapabilities.supportsDirectionMeasurement)
    #expect(other.deviceCapabilities.supportsExtendedDistanceMeasurement)
    #expect(token.copy() as? NIDiscoveryToken == token)
    let stranger = NIDiscoveryToken(.random(on: .watch))
    #expect(stranger != token)
    #expect(NIDiscoveryToken(.random(on: .watch)) != stranger)
  }

  @Test func aTokenIsCodable() throws {
    let data = try JSONEncoder().encode(["peer": token])
    #expect(
      String(decoding: data, as: UTF8.self)
        == #"{"peer":"01\#("0d")0123456789abcdef000000000000002a"}"#)
    #expect(try JSONDecoder().decode([String: NIDiscoveryToken].self, from: data)["peer"] == token)
  }

  @Test(arguments: [
    #""""#, #""0""#, #""zz0d0123456789abcdef000000000000002a""#,
    #""020d0123456789abcdef000000000000002a""#, #""010d0123456789abcdef000000000000002""#, "7",
    #""+10d0123456789abcdef000000000000002a""#,
  ])
  func aDamagedTokenIsRefused(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(NIDiscoveryToken.self, from: Data(text.utf8))
    }
  }

  @Test func bytesThatAreNoArchiveThrow() {
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: Data([1, 2, 3]))
    }
  }

  @Test func aMeasurementOfAnAnchorSurvivesAnArchive() throws {
    let given = NIDLTDOAMeasurement(
      address: 7, measurementType: .response, transmitTime: 2, receiveTime: 2.5,
      rawTransmitTime: .max, signalStrength: -70, carrierFrequencyOffset: 3e-6,
      coordinatesType: .geodetic, coordinates: simd_double3(52.5, 13.4, 34),
      clusterInitiatorAddress: 3, floorElevation: .init(floorNumber: -1, height: 2.2),
      responderClockFrequencyOffset: -1e-6)
    let read = try #require(try copy(given))
    #expect(read.address == 7 && read.measurementType == .response)
    #expect(read.transmitTime == 2 && read.receiveTime == 2.5)
    #expect(read.rawTransmitTime == .max && read.rawReceiveTime == 159_744_000_000)
    #expect(read.signalStrength == -70 && read.carrierFrequencyOffset == 3e-6)
    #expect(read.coordinatesType == .geodetic && read.coordinates == given.coordinates)
    #expect(read.clusterInitiatorAddress == 3 && read.floorElevation == given.floorElevation)
    #expect(read.responderClockFrequencyOffset == -1e-6)
  }

  @Test func aMeasurementOfAnAnchorNeedsLessThanAll() throws {
    let given = NIDLTDOAMeasurement(
      address: 7, measurementType: .poll, transmitTime: -1, receiveTime: .nan, signalStrength: -70,
      carrierFrequencyOffset: 0, coordinatesType: .relative, coordinates: .zero,
      responderClockFrequencyOffset: 1e-6)
    let read = try #require(try copy(given))
    #expect(read.clusterInitiatorAddress == 7 && read.floorElevation == nil)
    // Times that the radio's clock cannot have, and an offset that only responses have.
    #expect(read.rawTransmitTime == 0 && read.rawReceiveTime == 0 && read.receiveTime.isNaN)
    #expect(read.responderClockFrequencyOffset == nil)
  }

  @Test func configurationsSurviveAnArchive() throws {
    let peer = NINearbyPeerConfiguration(peerToken: token)
    peer.isCameraAssistanceEnabled = true
    #expect(try copy(peer) == peer)
    peer.isExtendedDistanceMeasurementEnabled = true
    let other = try #require(try copy(peer))
    #expect(other == peer)
    #expect(other.isExtendedDistanceMeasurementEnabled)
    other.isCameraAssistanceEnabled = false
    #expect(other != peer)
    let duplicate = try #require(peer.copy() as? NINearbyPeerConfiguration)
    #expect(duplicate == peer && duplicate !== peer)

    let described = AccessoryConfigurationData(radio: .init(maker: 1, model: 2, address: 3))
    let data = Data(described.bytes)
    let accessory = try NINearbyAccessoryConfiguration(
      accessoryData: data, bluetoothPeerIdentifier: UUID())
    accessory.isCameraAssistanceEnabled = true
    #expect(try copy(accessory) == accessory)
    #expect(accessory.copy() as? NINearbyAccessoryConfiguration == accessory)
    #expect(accessory.accessoryDiscoveryToken == NIDiscoveryToken(described.token))
    let foreground = try NINearbyAccessoryConfiguration(data: data)
    #expect(foreground != accessory)
    #expect(try copy(foreground) == foreground)
  }

  @Test func configurationsOfWhatIsNotMeasuredSurviveAnArchive() throws {
    let anchors = NIDLTDOAConfiguration(networkIdentifier: 7)
    #expect(anchors.discoveryMethod == .bluetoothLowEnergy)
    #expect(try copy(anchors) == anchors && anchors.copy() as? NIDLTDOAConfiguration == anchors)
    let others = NIDLTDOAConfiguration(networkIdentifier: 7, discoveryMethod: .wifi)
    #expect(others != anchors)
    others.discoveryMethod = .bluetoothLowEnergy
    #expect(others == anchors)
    others.networkIdentifier = 8
    #expect(others != anchors)
    let channel = NINearbyAccessoryConfiguration(
      bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil)
    #expect(try copy(channel) == channel)
    #expect(channel.copy() as? NINearbyAccessoryConfiguration == channel)
  }

  @Test(
    arguments: [
      (nil, nil, nil, .unknown), (2.5, nil, nil, .aboveOrBelow),
      (2.5, simd_float3(0, 0, -1), 0.25, .same),
    ] as [(Float?, simd_float3?, Float?, NINearbyObject.VerticalDirectionEstimate)])
  func anObjectSurvivesAnArchive(
    _ distance: Float?, _ direction: simd_float3?, _ angle: Float?,
    _ vertical: NINearbyObject.VerticalDirectionEstimate
  ) throws {
    let object = NINearbyObject(
      discoveryToken: token, distance: distance, direction: direction, horizontalAngle: angle,
      verticalDirectionEstimate: vertical)
    let other = try #require(try copy(object))
    #expect(other == object)
    #expect(other.distance == distance)
    #expect(other.direction == direction)
    #expect(other.horizontalAngle == angle)
    #expect(other.verticalDirectionEstimate == vertical)
    #expect(other != NINearbyObject(discoveryToken: token, distance: 7))
  }

  @Test(
    arguments: [
      .unknown, .converged, .notConverged([]),
      .notConverged([.insufficientLighting, .insufficientVerticalSweep]),
    ] as [NIAlgorithmConvergenceStatus])
  func convergenceSurvivesAnArchive(_ status: NIAlgorithmConvergenceStatus) throws {
    let convergence = NIAlgorithmConvergence(status)
    #expect(try copy(convergence)?.status == status)
    #expect(try copy(convergence) == convergence)
  }
}
