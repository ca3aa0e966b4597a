// SPDX-License-Identifier: Apache-2.0

/// Where everything stands among the unknowns of a chain.
///
/// First the knots, each with the odometry's drift (place and yaw of the device) and then place and
/// velocity of each peer that moves. Behind them the border, which is the same at all knots: steady
/// turn and scale error of the odometry, if they are unknown, and of each peer place, range bias and
/// range scale.
package struct ChainLayout: Hashable, Sendable {
  /// Unknowns of the drift at one knot: the device's place (3) and yaw.
  package static let driftSize = 4
  /// Unknowns of a moving peer at one knot: its place (3) and velocity (3).
  package static let motionSize = 6
  /// Unknowns of one peer in the border: its place (3), range bias and range scale.
  package static let peerSize = 5
  /// Unknowns of the odometry in the border: steady turn, rad/s, and scale error.
  package static let odometrySize = 2

  /// How many peers move.
  package var moverCount = 0
  /// Whether the odometry's errors are unknown.
  package var hasOdometryErrors = false

  package init(moverCount: Int = 0, hasOdometryErrors: Bool = false) {
    (self.moverCount, self.hasOdometryErrors) = (moverCount, hasOdometryErrors)
  }

  /// Unknowns of one knot.
  package var blockSize: Int { Self.driftSize + Self.motionSize * moverCount }
  /// Unknowns of the odometry that are the same at all knots.
  package var constantCount: Int { hasOdometryErrors ? Self.odometrySize : 0 }

  /// The first unknown of a moving peer within the block of a knot.
  package func motion(_ mover: Int) -> Int { Self.driftSize + Self.motionSize * mover }

  /// The first unknown of a peer behind a number of knots.
  package func peer(_ member: Int, knots: Int) -> Int {
    blockSize * knots + constantCount + Self.peerSize * member
  }
}
