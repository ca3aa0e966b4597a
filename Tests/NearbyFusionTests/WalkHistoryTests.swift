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

  private func mode(_ place: Vector3) -> Mode {
    Mode(
      place: place, covariance: SymmetricMatrix3(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01),
      at: device(39))
  }

  @Test("a reflection on a third of the walk does not refute the place, and is refuted by the rest")
  func reflection() {
    let history = history(reflected: 20..<33)
    let now = device(39)
    #expect(history.explainsShortRanges(Self.place, now: now))
    #expect(!history.explainsShortRanges(Self.image, now: now))
    let chain = history.chain(
      of: [mode(Self.place), mode(Self.image)], now: now, Self.settings)
    #expect(chain.probability(of: 0) >= ModeChain.decisive)
  }

  @Test(
    "since the peer came to its place, neither a search nor the short ranges see what was before")
  func arrival() {
    var history = history(reflected: 0..<20)
    #expect(!history.explainsShortRanges(Self.image, now: device(39)))
    history.placeSince = device(20).timestamp
    #expect(history.windowOfPlace.count == 20)
    #expect(history.explainsShortRanges(Self.place, now: device(39)))
    #expect(history.window.count == 40)
  }

  @Test("a sample is taken in after half a metre or a second")
  func spacing() {
    let history = history(reflected: 0..<0)
    let now = device(39)
    func takesIn(metres: Double, seconds: Double) -> Bool {
      var later = now
      later.path += metres
      later.timestamp = now.timestamp.advanced(bySeconds: seconds)
      var measurements = Measurements()
      measurements[.range] = MeasuredValue(value: 7, sigma: 0.1)
      var copy = history
      return copy.add(
        measurements, at: later, NoiseLevels(FusionConfiguration().ranging), place: Self.place)
    }
    #expect(!takesIn(metres: 0.4, seconds: 0.9))
    #expect(takesIn(metres: 0.6, seconds: 0.1))
    #expect(takesIn(metres: 0, seconds: 1.1))
  }

  @Test("a history in which all agrees refutes nothing")
  func clean() {
    #expect(history(reflected: 0..<0).explainsShortRanges(Self.place, now: device(39)))
  }
}
