// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// When a former incumbent counts as consistent with the ranges again.
@Suite("Dormant track")
struct DormantTrackTests {
  private static let settings = Settings(FusionConfiguration())

  private func device(at seconds: Double) -> TrajectoryPoint {
    TrajectoryPoint(
      worldFromDevice: .identity, timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: seconds))
  }

  private func measured(_ distance: Double) -> Measurements {
    let sample = RangingSample(
      peer: PeerID(index: 0), timestamp: Timestamp(nanoseconds: 0), distance: distance)
    var measurements = Measurements()
    measurements[.range] = MeasuredValue(.range, of: sample, Self.settings.configuration.ranging)
    return measurements
  }

  /// A dormant track at a distance of 5 m that has been given some ranges at 10 Hz.
  private func dormant(_ ranges: [Double]) -> DormantTrack {
    let ranging = Self.settings.configuration.ranging
    var dormant = DormantTrack(
      Track(
        measured(5), at: device(at: 0), motion: .stationary, noise: NoiseLevels(ranging),
        Self.settings))
    for (index, range) in ranges.enumerated() {
      dormant.add(measured(range), at: device(at: 0.1 * Double(index + 1)), Self.settings)
    }
    return dormant
  }

  @Test("ten ranges that agree make it consistent, fewer do not")
  func agreement() {
    #expect(!dormant([Double](repeating: 5, count: 9)).isConsistent)
    #expect(dormant([Double](repeating: 5, count: 10)).isConsistent)
  }

  @Test("ranges that contradict it count until they are a second or two past")
  func contradiction() {
    let far = [Double](repeating: 8, count: 20)
    #expect(!dormant(far).isConsistent)
    #expect(!dormant(far + [5, 5, 5]).isConsistent)
    #expect(dormant(far + [Double](repeating: 5, count: 20)).isConsistent)
  }
}
