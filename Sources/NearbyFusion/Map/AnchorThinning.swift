// SPDX-License-Identifier: Apache-2.0

/// Chooses every n-th sample of each anchor.
///
/// Not every n-th of all: radios range to their anchors in turn, and with as many anchors as the stride, only one
/// of them would remain.
struct AnchorThinning {
  private let stride: Int
  private var counts: [Int]

  /// - Parameters:
  ///   - samples: The number of samples.
  ///   - most: The largest number that is chosen, plus at most one of each anchor, as counts are rounded up.
  ///   - anchors: The number of anchors.
  init(_ samples: Int, toAtMost most: Int, anchors: Int) {
    stride = max(1, samples / most + (samples % most == 0 ? 0 : 1))
    counts = [Int](repeating: 0, count: anchors)
  }

  /// Whether the next sample of an anchor is chosen.
  mutating func chooses(_ anchor: Int) -> Bool {
    defer { counts[anchor] += 1 }
    return counts[anchor] % stride == 0
  }
}
