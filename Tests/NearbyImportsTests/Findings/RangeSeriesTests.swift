// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Noise, unit and motion seen from ranges alone")
struct RangeSeriesTests {
  /// Ranges along a walk around a peer.
  private func figures(
    noise: Double = 0.1, stated: Double = 0.1, scale: Double = 1, speed: Double = 1,
    nearest: Double = 5, peerSpeed: Double = 0, isStationary: Bool = true
  ) -> RecordingSurvey.Peer {
    var generator = SeededGenerator(seed: 7)
    var series = RangeSeries()
    for step in 0..<600 {
      let time = 0.2 * Double(step)
      let angle = 0.1 * speed * time
      let place = Vector3(10 * cos(angle), 10 * sin(angle), 0)
      let peer = Vector3(
        10 + nearest + 8 * sin(peerSpeed * time / 8), 8 * cos(peerSpeed * time / 8), 0)
      let error = (0..<12).reduce(-6.0) { sum, _ in
        sum + Double.random(in: 0..<1, using: &generator)
      }
      _ = series.add(
        RangeSeries.Entry(
          time: Timestamp(nanoseconds: Int64(time * 1e9)),
          distance: scale * ((peer - place).length + noise * error), sigma: stated, place: place))
    }
    return series.figures(isStationary: isStationary)
  }

  @Test("The scatter is the noise, whatever is stated", arguments: [0.03, 0.1, 0.6])
  func scatter(noise: Double) throws {
    let scatter = try #require(figures(noise: noise).scatter)
    #expect(abs(scatter.metres / noise - 1) < 0.15, "\(scatter)")
    #expect(abs(scatter.perStatedSigma / (noise / 0.1) - 1) < 0.15, "\(scatter)")
  }

  @Test("A path that bends more than the ranges scatter tells no noise")
  func curvature() {
    #expect(figures(noise: 0.01, speed: 8, nearest: 0.5).scatter == nil)
    #expect(figures(isStationary: false).scatter == nil)
  }

  @Test("Distances in another unit change too fast", arguments: [1.0, 100, 1000])
  func unit(scale: Double) throws {
    let peer = figures(noise: 0.02, scale: scale)
    #expect(peer.pairs > 50)
    let change = try #require(peer.changePerMetre)
    #expect(0.3 * scale < change && change < 1.1 * scale, "\(change)")
  }

  @Test("The distance to a peer that moves changes more than the device moves")
  func motion() throws {
    let (resting, moving) = (figures(speed: 0.1), figures(speed: 0.1, peerSpeed: 1))
    #expect(try #require(resting.excess) < 0.3)
    #expect(try #require(moving.excess) > 1)
  }

  @Test("Repeated distances count when the device moved in between")
  func repetition() {
    var series = RangeSeries()
    func add(_ seconds: Int64, _ distance: Double, _ x: Double) -> RangeSeries.Repetition {
      series.add(
        RangeSeries.Entry(
          time: Timestamp(nanoseconds: seconds * 1_000_000_000), distance: distance, sigma: 0.1,
          place: Vector3(x, 0, 0)))
    }
    #expect(add(0, 3, 0) == .notComparable)
    #expect(add(1, 3, 0.5) == .repeated)
    #expect(add(2, 3, 0.5) == .notComparable)
    #expect(add(3, 3.1, 1) == .changed)
  }

  @Test("Quantiles are exact to 1 %, and zeros are counted")
  func quantiles() throws {
    var histogram = LogHistogram()
    #expect(histogram.median == nil)
    for number in 1...1000 { histogram.add(Double(number)) }
    histogram.add(.nan)
    #expect(histogram.count == 1000)
    #expect(abs(try #require(histogram.median) / 500 - 1) < 0.01)
    #expect(abs(try #require(histogram.quantile(0.9)) / 900 - 1) < 0.01)
    var zeros = LogHistogram()
    for number in [-1.0, 0, 0, 5] { zeros.add(number) }
    #expect(zeros.median == 0)
    zeros.merge(histogram)
    #expect(zeros.count == 1004)
  }
}
