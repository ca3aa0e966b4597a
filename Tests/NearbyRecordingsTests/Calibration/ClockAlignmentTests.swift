// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import Testing

@testable import NearbyRecordings

/// The radio's clock against that of the poses.
@Suite("Clock alignment")
struct ClockAlignmentTests {
  private static let peers = [Vector3(6, 1, 2), Vector3(-5, 0.5, 4), Vector3(1, 2, -7)]

  /// A draw of a nearly normal variable of unit variance.
  private static func normal(_ generator: inout SeededGenerator) -> Double {
    (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) }
  }

  /// A walk of a minute and a half, on a level path or through space, with ranges whose stamps are late.
  private func alignment(
    seed: UInt64, late seconds: Double, height: Double = 0.4, outliers: Double = 0.05,
    start: Double = 1000, isWide: Bool = false
  ) -> ClockAlignment? {
    var generator = SeededGenerator(seed: seed)
    var aligner = ClockAligner()
    func place(_ t: Double) -> Vector3 {
      Vector3(2.5 * sin(0.5 * t), 1.5 + height * sin(0.9 * t), 2 * sin(0.31 * t + 1))
    }
    func time(_ t: Double) -> Timestamp {
      Timestamp(nanoseconds: 0).advanced(bySeconds: start + t)
    }
    for step in 0..<5400 { aligner.add(time(Double(step) / 60), place(Double(step) / 60)) }
    for step in 0..<900 {
      let t = Double(step) / 10 + 0.033
      for (index, peer) in Self.peers.enumerated() {
        var range = (peer - place(t)).length + 0.08 * Self.normal(&generator) + 0.1
        if Double.random(in: 0..<1, using: &generator) < outliers {
          range += Double.random(in: 0.5...4, using: &generator)
        }
        aligner.add(time(t + seconds), range: range, of: index)
      }
    }
    return isWide ? aligner.wideAlignment() : aligner.alignment()
  }

  @Test(
    "the offset is found, and errors are no larger than its sigma says",
    arguments: [-0.6, -0.17, 0, 0.05, 0.3, 1.2], [0.0, 0.4])
  func offset(late: Double, height: Double) throws {
    var chi = 0.0
    for seed in 0..<10 as Range<UInt64> {
      let found = try #require(alignment(seed: seed, late: late, height: height))
      let error = found.offset + late
      #expect(abs(error) < 0.03, "seed \(seed): \(found)")
      chi += error * error / (found.sigma * found.sigma) / 10
      #expect(found.isSignificant == (abs(late) > 0.02) || abs(late) == 0.05, "\(found)")
    }
    // Of white noise the sigma is cautious: it is from the scatter of few stretches.
    #expect((0.05...1.2).contains(chi), "\(chi)")
  }

  @Test("clocks that are hours apart are found, too")
  func apart() throws {
    let found = try #require(alignment(seed: 1, late: 7200.4, isWide: true))
    #expect(abs(found.offset + 7200.4) < 0.03)
  }

  @Test("ranges that fit no path tell nothing")
  func noise() {
    var generator = SeededGenerator(seed: 3)
    var aligner = ClockAligner()
    for step in 0..<900 {
      let time = Timestamp(nanoseconds: Int64(step) * 100_000_000)
      aligner.add(time, Vector3(2 * sin(0.05 * Double(step)), 0, 0.02 * Double(step)))
      aligner.add(time, range: Double.random(in: 1...20, using: &generator), of: 0)
    }
    #expect(aligner.alignment()?.isSignificant != true)
    #expect(ClockAligner().alignment() == nil)
  }
}
