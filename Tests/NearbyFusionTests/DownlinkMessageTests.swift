// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import Testing

/// Range differences from the messages of a round.
@Suite("Downlink message")
struct DownlinkMessageTests {
  private static let speedOfLight = 299_792_458.0
  /// How much faster each clock runs than true time: anchors, then the device.
  private static let rates = [2e-6, -8e-6, 5e-6]
  private static let deviceRate = 15e-6
  private static let distances = [4.0, 9.5, 1.25]

  /// A round of a poll at 0, two responses and a final; each true time in milliseconds.
  private func round(_ clock: DownlinkMessage.TransmitClock) -> [DownlinkMessage] {
    let sent: [(anchor: Int, kind: DownlinkMessage.Kind, seconds: Double)] = [
      (0, .poll, 0), (1, .response, 2e-3), (2, .response, 4e-3), (0, .final, 6e-3),
    ]
    return sent.map { anchor, kind, seconds in
      let rate = clock == .own ? Self.rates[anchor] : Self.rates[0]
      let arrival = seconds + Self.distances[anchor] / Self.speedOfLight
      return DownlinkMessage(
        anchor: anchor, kind: kind, transmitSeconds: seconds * (1 + rate),
        receiveSeconds: 0.25 + arrival * (1 + Self.deviceRate),
        carrierFrequencyOffset: (1 + Self.rates[anchor]) / (1 + Self.deviceRate) - 1,
        timestamp: Timestamp(nanoseconds: 1_000_000 * Int64(anchor)))
    }
  }

  @Test(arguments: [DownlinkMessage.TransmitClock.common, .own], [true, false])
  func differencesAreThoseOfDistances(
    _ clock: DownlinkMessage.TransmitClock, withFinal: Bool
  ) throws {
    let round = round(clock).filter { withFinal || $0.kind != .final }
    let differences = RangeDifference.differences(of: round, stampedOn: clock, sigma: 0.2)
    #expect(differences.map(\.from) == [0, 0] && differences.map(\.to) == [1, 2])
    for (difference, expected) in zip(differences, [5.5, -2.75]) {
      // A billionth of the distances' own clock correction, and a double's last place of 6 ms.
      #expect(abs(difference.metres - expected) < 1e-3)
      #expect(difference.sigma == 0.2)
    }
    #expect(differences.map(\.timestamp.nanoseconds) == [1_000_000, 2_000_000])
  }

  /// Taken for one clock, oscillators 10 and 3 millionths apart are wrong by that over 2 and 4 ms.
  @Test func ownOscillatorsMatter() throws {
    let differences = RangeDifference.differences(of: round(.own))
    let errors = zip(differences, [5.5, -2.75]).map { $0.metres - $1 }
    #expect(abs(errors[0] - 10e-6 * 2e-3 * Self.speedOfLight) < 0.01)
    #expect(abs(errors[1] + 3e-6 * 4e-3 * Self.speedOfLight) < 0.01)
  }

  @Test func whatTellsNothingIsLeftOut() {
    var round = round(.common)
    #expect(RangeDifference.differences(of: []).isEmpty)
    #expect(RangeDifference.differences(of: Array(round.dropFirst())).isEmpty)
    // Without a final and a frequency offset nothing tells the rate of the device's clock.
    round.removeLast()
    round[0].carrierFrequencyOffset = nil
    #expect(RangeDifference.differences(of: round).isEmpty)
    round = self.round(.own)
    round[1].carrierFrequencyOffset = nil
    #expect(RangeDifference.differences(of: round, stampedOn: .own).map(\.to) == [2])
    round[2].receiveSeconds = .nan
    #expect(RangeDifference.differences(of: round, stampedOn: .own).isEmpty)
  }
}
