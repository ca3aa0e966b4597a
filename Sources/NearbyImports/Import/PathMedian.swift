// SPDX-License-Identifier: Apache-2.0

/// The median over a path of something that grows with it, such as the variance of an odometry.
struct PathMedian {
  private var pieces: [(density: Double, length: Double)] = []
  private var wholeLength = 0.0

  /// Adds a piece of the path; one without length says nothing.
  mutating func add(_ amount: Double, over length: Double) {
    guard length > 1e-6, amount.isFinite, length.isFinite else { return }
    pieces.append((amount / length, length))
    wholeLength += length
  }

  /// The amount per metre that half of the path is below; `nil` without a path.
  var density: Double? {
    var below = 0.0
    for piece in pieces.sorted(by: { $0.density < $1.density }) {
      below += piece.length
      if below >= wholeLength / 2 { return piece.density }
    }
    return nil
  }
}
