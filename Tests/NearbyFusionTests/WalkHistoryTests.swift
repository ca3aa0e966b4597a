// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// Which of two places explains a whole walk, of which a part measures the second one.
@Suite("Walk history")
struct WalkHistoryTests {
  private static let settings = Settings(FusionConfiguration())
  private static let place = Vector3(0, 1, -6)
  /// Farther away than the place from everywhere on the walk.
  private static let image = Vector3(1, 1, -9)

  private func device(_ index: Int) -> TrajectoryPoint {
    let turn = 0.25 * Double(index)
    return TrajectoryPoint(
      worldFromDevice: RigidTransform(
        rotation: .identity,
        translation: Vector3(
          0.6 * turn, 0.3 * Double(index % 5), Double([0, 1, 2, 1][index / 4 % 4]))),
      timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: Double(index)),
      path: Double(index))
  }

  /// Forty metres of walk, of which a part measures the image.
  private func history(reflected: Range<Int>) -> WalkHistory {
    let ranging = FusionConfiguration().ranging
    let noise = NoiseLevels(ranging)
    func measured(_ index: Int) -> Measurements {
      let peer = reflected.contains(index) ? Self.image : Self.place
      let range = (peer - device(index).worldFromDevice.translation).length
      var measurements = Measurements()
      measurements[.range] = MeasuredValue(
        .range,
        of: RangingSample(
          peer: PeerID(index: 0), timestamp: device(index).timestamp, distance: range), ranging)
      return measurements
    }
    var window = ObservationWindow()
    _ = window.add(measured(0), at: device(0), noise: noise, expecting: nil)
    var history = WalkHistory(window, at: device(0))
    for index in 1..<40 {
      _ = history.add(measured(index), at: device(index), noise, place: Self.place)
    }
    return history
  }

  @Test("a reflection on a third of the walk does not refute the place, and is refuted by the rest")
  func reflection() {
    let history = history(reflected: 20..<33)
    let now = device(39)
    let noise = NoiseLevels(FusionConfiguration().ranging)
    #expect(history.explainsShortRanges(Self.place, now: now))
    #expect(!history.explainsShortRanges(Self.image, now: now))
    let ratio = history.logEvidenceRatio(
      of: Self.place, over: Self.image, now: now, noise, Self.settings)
    #expect(ratio > 20)
    let inverse = history.logEvidenceRatio(
      of: Self.image, over: Self.place, now: now, noise, Self.settings)
    #expect(abs(ratio + inverse) < 1e-9)
  }

  @Test("until a time it holds what was measured before, and the evidence of that alone")
  func until() {
    let history = history(reflected: 20..<40)
    let before = history.until(device(20).timestamp)
    #expect(before.window.count < history.window.count)
    let ratio = before.logEvidenceRatio(
      of: Self.place, over: Self.image,
      SymmetricMatrix3(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01), now: device(39),
      NoiseLevels(FusionConfiguration().ranging), Self.settings)
    #expect(ratio > 20)
    #expect(before.explainsShortRanges(Self.place, now: device(39)))
  }

  @Test("the range measured nearest to a place is found, if it is near enough")
  func nearestRange() throws {
    let window = history(reflected: 0..<0).window
    let here = device(7).worldFromDevice.translation
    let (range, then) = try #require(window.nearestRange(to: here, within: 0.5))
    #expect((then.worldFromDevice.translation - here).length < 0.5)
    #expect(abs(range.value - (Self.place - then.worldFromDevice.translation).length) < 0.1)
    #expect(window.nearestRange(to: Vector3(0, 20, 0), within: 0.5) == nil)
  }

  @Test("a history in which all agrees refutes nothing")
  func clean() {
    #expect(history(reflected: 0..<0).explainsShortRanges(Self.place, now: device(39)))
  }
}
