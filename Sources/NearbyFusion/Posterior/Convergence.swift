// SPDX-License-Identifier: Apache-2.0

/// What stands in the way of convergence: a set that iterates in the order in which a person should
/// act on it.
@frozen
public struct ConvergenceReasons: OptionSet, Hashable, Sendable {
  /// One bit for each reason.
  public let rawValue: UInt8

  /// Makes a set from its bits.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No samples come, or only ones that cannot be used: come closer, clear the line of sight.
  public static let insufficientSignalStrength = ConvergenceReasons(rawValue: 1 << 0)
  /// The scene is dark: turn on the light.
  public static let insufficientLighting = ConvergenceReasons(rawValue: 1 << 1)
  /// The device has hardly moved across the line of sight: move around.
  public static let insufficientMovement = ConvergenceReasons(rawValue: 1 << 2)
  /// The peer's place is not resolved horizontally: sweep from side to side.
  public static let insufficientHorizontalSweep = ConvergenceReasons(rawValue: 1 << 3)
  /// The peer's height is not resolved: sweep up and down.
  public static let insufficientVerticalSweep = ConvergenceReasons(rawValue: 1 << 4)
  /// The odometry does not say reliably where the device is: it has no poses, calls itself limited, or has just slipped.
  ///
  /// Let it start or find its place again.
  public static let limitedTracking = ConvergenceReasons(rawValue: 1 << 5)
}

extension ConvergenceReasons: CustomStringConvertible {
  /// The reasons one by one, the most useful action first.
  public var ordered: [ConvergenceReasons] {
    Self.all.filter(contains)
  }

  /// The name of each reason, in order.
  public var names: [String] { ordered.map(\.name) }

  /// All reasons, in that order.
  package static let all: [ConvergenceReasons] = [
    .insufficientSignalStrength, .insufficientLighting, .limitedTracking, .insufficientMovement,
    .insufficientHorizontalSweep, .insufficientVerticalSweep,
  ]

  /// The names, joined by semicolons.
  public var description: String { names.joined(separator: ";") }

  private var name: String {
    switch self {
    case .insufficientSignalStrength: "insufficientSignalStrength"
    case .insufficientLighting: "insufficientLighting"
    case .limitedTracking: "limitedTracking"
    case .insufficientMovement: "insufficientMovement"
    case .insufficientHorizontalSweep: "insufficientHorizontalSweep"
    default: "insufficientVerticalSweep"
    }
  }
}

/// Whether the algorithm has converged.
public enum Convergence: Hashable, Sendable {
  /// There is nothing to judge by yet.
  case unknown
  /// It has not, and these reasons stand in the way.
  case notConverged(ConvergenceReasons)
  /// It has: every output is available.
  case converged

  /// Whether it has converged.
  public var isConverged: Bool { self == .converged }

  /// What stands in the way; nothing where it has converged, or where there is nothing to judge by.
  public var reasons: ConvergenceReasons {
    if case .notConverged(let reasons) = self { reasons } else { [] }
  }
}

/// How far each sweep has got: the posterior split by direction, against what convergence needs.
public struct ConvergenceProgress: Hashable, Sendable {
  /// The total standard deviation that convergence asks for, metres.
  public var requiredSigma: Double
  /// The square root of the trace of the position covariance, between hypotheses included, metres.
  public var totalSigma: Double
  /// The standard deviation along the line of sight, metres.
  public var lineOfSightSigma: Double
  /// The standard deviation in the horizontal plane across the line of sight, metres.
  public var horizontalSigma: Double
  /// The standard deviation along gravity, metres.
  public var verticalSigma: Double
  /// The share of the heaviest mode, 0 to 1.
  public var dominantModeProbability: Double
  /// The device's movement across the line of sight (root mean square about its mean) over the
  /// distance, radians: the parallax made so far.
  public var parallaxRadians: Double

  /// Makes the progress of some moment.
  @inline(__always)
  public init(
    requiredSigma: Double, totalSigma: Double, lineOfSightSigma: Double, horizontalSigma: Double,
    verticalSigma: Double, dominantModeProbability: Double, parallaxRadians: Double
  ) {
    self.requiredSigma = requiredSigma
    self.totalSigma = totalSigma
    self.lineOfSightSigma = lineOfSightSigma
    self.horizontalSigma = horizontalSigma
    self.verticalSigma = verticalSigma
    self.dominantModeProbability = dominantModeProbability
    self.parallaxRadians = parallaxRadians
  }

  /// What holds before the first sample.
  public static let none = ConvergenceProgress(
    requiredSigma: 0, totalSigma: .infinity, lineOfSightSigma: .infinity,
    horizontalSigma: .infinity, verticalSigma: .infinity, dominantModeProbability: 0,
    parallaxRadians: 0)
}
