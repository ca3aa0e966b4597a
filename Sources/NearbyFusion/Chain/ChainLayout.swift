// SPDX-License-Identifier: Apache-2.0

/// Where everything stands among the unknowns of a chain.
///
/// First the knots, each with the odometry's drift (place and yaw of the device), then place and
/// velocity of each peer that moves, then error and rate of each clock that wanders, and then the errors of
/// ranges: one that all share, and of each peer one that depends on the device's place. Behind them the
/// border, which is the same at all knots: the constants of the device that are unknown, in the order of
/// ``Constants``, and of each peer place, range bias and range scale.
package struct ChainLayout: Hashable, Sendable, Codable {
  /// Unknowns of the drift at one knot: the device's place (3) and yaw.
  package static let driftSize = 4
  /// Unknowns of a moving peer at one knot: its place (3) and velocity (3).
  package static let motionSize = 6
  /// Unknowns of a clock at one knot: its error, as a length, and the rate of that.
  package static let clockSize = 2
  /// Unknowns of one peer in the border: its place (3), range bias and range scale.
  package static let peerSize = 5
  /// Unknowns of the error that depends on the direction.
  package static let directionSize = 8

  /// Constants of the device and its radio, each an unknown only when asked for.
  package struct Constants: OptionSet, Hashable, Sendable, Codable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Steady turn, rad/s, and scale error of the odometry (2).
    package static let odometryErrors = Constants(rawValue: 1 << 0)
    /// By how much the radio's clock is ahead of that by which the cells have their poses, seconds.
    package static let clockOffset = Constants(rawValue: 1 << 1)
    /// The antenna's place relative to that of the cells' poses, along the device's axes, metres (3).
    package static let leverArm = Constants(rawValue: 1 << 2)
    /// The scale error that the ranges of all peers share.
    package static let rangeScale = Constants(rawValue: 1 << 3)
    /// The Fourier series of an error of all ranges over the peer's azimuth in the device's axes: cosine and
    /// sine of one to four times it, metres (8).
    package static let directionError = Constants(rawValue: 1 << 4)

    /// In the order of the border, each with its number of unknowns.
    private static let sizes: [(Constants, Int)] = [
      (.odometryErrors, 2), (.clockOffset, 1), (.leverArm, 3), (.rangeScale, 1),
      (.directionError, ChainLayout.directionSize),
    ]

    /// How many unknowns they are.
    package var count: Int { first(behind: Constants(rawValue: .max)) }

    /// The first of a constant's unknowns in the border; `nil` when it is not unknown.
    package func first(of constant: Constants) -> Int? {
      contains(constant) ? first(behind: Constants(rawValue: constant.rawValue - 1)) : nil
    }

    private func first(behind before: Constants) -> Int {
      Self.sizes.reduce(0) { $0 + (intersection(before).contains($1.0) ? $1.1 : 0) }
    }
  }

  /// How many peers move.
  package var moverCount = 0
  /// How many clocks wander.
  package var clockCount = 0
  /// The constants that are unknown.
  package var constants: Constants = []
  /// How many errors of ranges a knot has: none, or one that all share and one of each peer.
  package var errorCount = 0

  package init(
    moverCount: Int = 0, clockCount: Int = 0, constants: Constants = [], errorCount: Int = 0
  ) {
    (self.moverCount, self.clockCount, self.constants) = (moverCount, clockCount, constants)
    self.errorCount = errorCount
  }

  /// Whether no peer moves and no clock wanders, and the clock's offset is known.
  var isOfPeersAtRest: Bool {
    moverCount == 0 && clockCount == 0 && !constants.contains(.clockOffset)
  }

  /// Unknowns of one knot.
  package var blockSize: Int { clock(clockCount) + errorCount }
  /// The error that all ranges share, within the block of a knot.
  package var commonError: Int { clock(clockCount) }
  /// The error of a peer's ranges that depends on the place, within the block of a knot.
  package func placeError(_ member: Int) -> Int { commonError + 1 + member }
  /// Whether the odometry's errors are unknown.
  package var hasOdometryErrors: Bool { constants.contains(.odometryErrors) }
  /// Unknowns of the device that are the same at all knots.
  package var constantCount: Int { constants.count }

  /// The first unknown of a moving peer within the block of a knot.
  package func motion(_ mover: Int) -> Int { Self.driftSize + Self.motionSize * mover }

  /// The first unknown of a clock within the block of a knot.
  package func clock(_ clock: Int) -> Int { motion(moverCount) + Self.clockSize * clock }

  /// The first unknown of a peer behind a number of knots.
  package func peer(_ member: Int, knots: Int) -> Int {
    blockSize * knots + constantCount + Self.peerSize * member
  }
}

extension OdometryConfiguration {
  /// The constants of an odometry that a chain estimates.
  package var constants: ChainLayout.Constants { hasConstantErrors ? .odometryErrors : [] }
}
