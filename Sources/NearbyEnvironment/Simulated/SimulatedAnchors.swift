// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbySimulation

/// The anchors of a world, and the clocks on which they stamp their messages.
///
/// The first anchor begins each round, the others answer two milliseconds apart, and the first ends it. All
/// stamp on a common clock, from which each anchor's clock is off by a constant and by a rate that walks at
/// random (``SimulatedWorldSettings/anchorClocks``). Beyond the radio's reach and behind obstacles messages
/// are lost or late, as ranges are.
struct SimulatedAnchors {
  /// The clock of an anchor: how far its stamps are off, as a length, metres, and metres a second.
  private struct Clock {
    var error: Double
    var rate: Double
  }

  private let settings: SimulatedWorldSettings
  private var clocks: [Clock]
  private var generator: SeededGenerator
  private static let speedOfLight = 299_792_458.0
  /// The time from one message of a round to the next, seconds.
  private static let slot = 2e-3

  init(_ settings: SimulatedWorldSettings) {
    self.settings = settings
    var generator = SeededGenerator(seed: settings.seed, stream: 0x616E_6368)
    let model = settings.anchorClocks
    clocks = settings.anchors.indices.map { index in
      let drawn = Clock(
        error: generator.normal(sigma: model.offsetSigma),
        rate: generator.normal(sigma: model.rateSigma))
      // The first one's clock is the common one.
      return index == 0 ? Clock(error: 0, rate: 0) : drawn
    }
    self.generator = generator
  }

  /// Lets the clocks run on.
  mutating func advance(seconds: Double) {
    for index in clocks.indices.dropFirst() {
      clocks[index].error += seconds * clocks[index].rate
      clocks[index].rate += generator.normal(
        sigma: settings.anchorClocks.rateWalk * seconds.squareRoot())
    }
  }

  /// The messages of a round that a device hears.
  ///
  /// - Parameters:
  ///   - worldFromDevice: The device's true pose.
  ///   - clockRate: How much faster the device's clock runs than the common one, a ratio.
  ///   - isBehindWall: Whether a wall stands between the device and all anchors.
  /// - Returns: The messages in the order of their times; none when the initiator is out of reach.
  mutating func round(
    heardAt worldFromDevice: RigidTransform, clockRate: Double, isBehindWall: Bool
  ) -> [AnchorMessage] {
    let antenna = worldFromDevice.act(settings.radio.antennaInDevice)
    let count = settings.anchors.count
    var messages: [AnchorMessage] = []
    let offset = generator.uniform(in: 0...1e-4)
    for number in 0...count {
      let index = number == count ? 0 : number
      let anchor = settings.anchors[index]
      let distance = (antenna - anchor.position).length
      let isBlocked =
        isBehindWall || settings.obstacles.contains { $0.blocks(antenna, anchor.position) }
      // Drawn always, so that one message does not change the noise of the others.
      let noise = generator.normal(sigma: settings.radio.rangeNoise)
      let excess = generator.exponential(mean: settings.radio.rangeExcess)
      guard distance <= settings.radio.reach.upperBound else { continue }
      let sent = Self.slot * Double(number)
      let travelled = (distance + noise + (isBlocked ? excess : 0)) / Self.speedOfLight
      messages.append(
        AnchorMessage(
          address: anchor.address, kind: number == 0 ? .poll : number == count ? .final : .response,
          transmitSeconds: sent + clocks[index].error / Self.speedOfLight,
          receiveSeconds: (1 + clockRate) * (sent + travelled) + offset,
          signalStrength: settings.signalStrengthAtOneMetre - 20 * log10(max(distance, 0.01))
            - (isBlocked ? settings.obstacleLoss : 0),
          carrierFrequencyOffset: clocks[index].rate / Self.speedOfLight - clockRate,
          position: anchor.position, initiatorAddress: settings.anchors[0].address))
    }
    return messages.first?.kind == .poll ? messages : []
  }
}
