// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// A message of an anchor as a device hears it that never answers (downlink TDoA).
///
/// A round is the poll of one anchor, the initiator, the responses of others, and the initiator's final.
public struct DownlinkMessage: Hashable, Sendable {
  /// Which message of a round it is.
  public enum Kind: String, Hashable, Sendable {
    /// The initiator's first.
    case poll
    /// That of another anchor.
    case response
    /// The initiator's last.
    case final
  }

  /// The clock on which an anchor stamps its messages.
  public enum TransmitClock: String, Hashable, Sendable {
    /// All anchors stamp on one clock; what it errs by is among the clocks that a locator estimates.
    case common
    /// Each anchor sets its clock by the poll and then stamps on its own oscillator.
    case own
  }

  /// The anchor, by its index.
  public var anchor: Int
  /// Which message it is.
  public var kind: Kind
  /// When the anchor sent it, on the anchors' clock, seconds.
  ///
  /// Best counted from the beginning of the round: after an hour a double resolves half a picosecond, 0.1 mm.
  public var transmitSeconds: Double
  /// When the device's radio received it, on that radio's clock, seconds; likewise.
  public var receiveSeconds: Double
  /// How much faster the anchor's oscillator runs than the device's, a ratio; `nil` when not measured.
  public var carrierFrequencyOffset: Double?
  /// When it was received, on the clock of the poses.
  public var timestamp: Timestamp

  /// Makes one.
  public init(
    anchor: Int, kind: Kind, transmitSeconds: Double, receiveSeconds: Double,
    carrierFrequencyOffset: Double? = nil, timestamp: Timestamp
  ) {
    self.anchor = anchor
    self.kind = kind
    self.transmitSeconds = transmitSeconds
    self.receiveSeconds = receiveSeconds
    self.carrierFrequencyOffset = carrierFrequencyOffset
    self.timestamp = timestamp
  }
}

extension RangeDifference {
  /// The speed of light, metres per second.
  private static let speedOfLight = 299_792_458.0

  /// How much farther each responder of a round is than its initiator.
  ///
  /// With τ the transmit times and ρ the receive times, those of the poll being τ₀ and ρ₀, a response has
  ///
  ///     δ = c (κ (ρ - ρ₀) - (τ - τ₀))
  ///
  /// where κ takes the device's clock to the initiator's: from poll and final, or, without a final, from the
  /// poll's carrier frequency offset. An anchor's own oscillator is corrected by the difference of both
  /// carrier frequency offsets.
  ///
  /// - Parameters:
  ///   - round: The messages of one round, in any order.
  ///   - clock: On which clock anchors stamp.
  ///   - sigma: The sigma of a difference, metres; `nil` for the locator's.
  /// - Returns: The differences in the order of the responses: none without a poll, nor where nothing tells
  ///   the rate of a clock.
  public static func differences(
    of round: [DownlinkMessage], stampedOn clock: DownlinkMessage.TransmitClock = .common,
    sigma: Double? = nil
  ) -> [RangeDifference] {
    guard let poll = round.first(where: { $0.kind == .poll }),
      let rate = deviceRate(
        poll, round.first { $0.kind == .final && $0.anchor == poll.anchor })
    else { return [] }
    return round.compactMap { response in
      guard response.kind == .response, response.anchor != poll.anchor else { return nil }
      var sent = response.transmitSeconds - poll.transmitSeconds
      if clock == .own {
        guard let responder = response.carrierFrequencyOffset,
          let initiator = poll.carrierFrequencyOffset
        else { return nil }
        sent *= (1 + initiator) / (1 + responder)
      }
      let heard = rate * (response.receiveSeconds - poll.receiveSeconds)
      let metres = speedOfLight * (heard - sent)
      guard metres.isFinite else { return nil }
      return RangeDifference(
        timestamp: response.timestamp, from: poll.anchor, to: response.anchor, metres: metres,
        sigma: sigma)
    }
  }

  /// How many seconds pass on the initiator's clock in one of the device's; `nil` when nothing tells.
  private static func deviceRate(_ poll: DownlinkMessage, _ final: DownlinkMessage?) -> Double? {
    if let final, final.receiveSeconds > poll.receiveSeconds {
      return (final.transmitSeconds - poll.transmitSeconds)
        / (final.receiveSeconds - poll.receiveSeconds)
    }
    return poll.carrierFrequencyOffset.map { 1 + $0 }
  }
}
