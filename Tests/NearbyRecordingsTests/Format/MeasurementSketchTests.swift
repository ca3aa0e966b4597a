// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

@Suite("Sketches of measurements")
struct MeasurementSketchTests {
  /// Samples of a walk, with ranges to the centimetre.
  private static func rows(_ count: Int, seed: UInt64) -> [RangingRow] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { step in
      RangingRow(
        timestamp: Timestamp(nanoseconds: Int64(step) * 100_000_000), peer: "door",
        distance: (Double.random(in: 100...1000, using: &generator)).rounded() / 100)
    }
  }

  private static func sketch(_ rows: some Sequence<RangingRow>) -> MeasurementSketch {
    var sketch = MeasurementSketch()
    for row in rows { sketch.add(row) }
    return sketch
  }

  @Test("the order of the rows does not matter, one row more does")
  func identity() {
    let rows = Self.rows(500, seed: 1)
    #expect(Self.sketch(rows) == Self.sketch(rows.reversed()))
    #expect(Self.sketch(rows) != Self.sketch(rows.dropLast()))
    #expect(
      MeasurementSketch(Self.sketch(rows).hashes.reversed(), of: 500) == Self.sketch(rows))
  }

  @Test("a part is found in the whole, however small", arguments: [499, 250, 60, 10])
  func parts(count: Int) {
    for seed in 1...20 as ClosedRange<UInt64> {
      let rows = Self.rows(500, seed: seed)
      let start = Int(seed) * 3
      let part = Self.sketch(rows[start..<min(500, start + count)])
      let whole = Self.sketch(rows)
      #expect(part.overlaps(whole) == whole.overlaps(part))
      // Of ten samples all may have large hashes, which the sketch of the whole does not reach.
      if count > 50 { #expect(part.overlaps(whole)) }
    }
  }

  @Test("two walks of the same times do not overlap, whatever few ranges they share by chance")
  func others() {
    for seed in 1...200 as ClosedRange<UInt64> {
      let (one, other) = (Self.rows(500, seed: seed), Self.rows(500, seed: seed + 1000))
      #expect(!Self.sketch(one).overlaps(Self.sketch(other)))
    }
    #expect(!MeasurementSketch().overlaps(MeasurementSketch()))
  }
}
