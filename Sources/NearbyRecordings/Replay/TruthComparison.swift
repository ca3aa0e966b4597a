// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

/// Compares estimates with the truth, sample by sample.
///
/// ``ErrorStatistics`` defines the results.
///
/// It stores 32 bytes per sample, because medians need all of them.
public struct TruthComparison: Sendable {
  /// A peer and the device in two worlds, which share only the direction of gravity.
  ///
  /// Worlds are y up and device axes ARKit's, as inside the engine.
  public struct Sample: Sendable {
    /// The peer's index in the caller's list of peers.
    public var peer: Int
    /// The time.
    public var timestamp: Timestamp
    /// Whether the estimate was reported as converged.
    public var isConverged: Bool
    /// The peer's estimated position in the odometry's world, metres.
    public var estimatedPosition: Vector3
    /// Its claimed covariance, m².
    public var covariance: SymmetricMatrix3
    /// The device's pose in the odometry's world.
    public var odometryPose: RigidTransform
    /// The peer's position in the true world, metres.
    public var truePosition: Vector3
    /// The device's pose in the true world.
    public var truePose: RigidTransform
    /// What was published, converged or not.
    public var outputs: PublishedOutputs

    /// Makes a sample.
    public init(
      peer: Int, timestamp: Timestamp, isConverged: Bool, estimatedPosition: Vector3,
      covariance: SymmetricMatrix3, odometryPose: RigidTransform, truePosition: Vector3,
      truePose: RigidTransform, outputs: PublishedOutputs = PublishedOutputs()
    ) {
      self.peer = peer
      self.timestamp = timestamp
      self.isConverged = isConverged
      self.estimatedPosition = estimatedPosition
      self.covariance = covariance
      self.odometryPose = odometryPose
      self.truePosition = truePosition
      self.truePose = truePose
      self.outputs = outputs
    }
  }

  /// The stored record of a sample.
  ///
  /// Single precision suffices for errors and halves the memory.
  private struct Record {
    var timestamp: Timestamp
    var error: Float
    var distanceError: Float
    /// NaN straight above or below the device, where the bearing is undefined.
    var bearingErrorDegrees: Float
    /// NaN when the covariance has no inverse.
    var normalizedNEES: Float
    var peer: Int32
    var isConverged: Bool
    var isFalselyConverged: Bool
    var isWronglyPublished: Bool
  }

  private let isPlanar: Bool
  private var records: [Record] = []

  /// Makes a comparison without samples.
  ///
  /// - Parameter isPlanar: Whether only the horizontal part of position is estimated.
  public init(isPlanar: Bool) { self.isPlanar = isPlanar }

  /// Compares one estimate with the truth; one that is not finite counts as no estimate.
  public mutating func add(_ sample: Sample) {
    let estimated = sample.odometryPose.inverse.act(sample.estimatedPosition)
    let truth = sample.truePose.inverse.act(sample.truePosition)
    let errorInDevice = estimated - truth
    // The limit of 1e30 keeps the stored single-precision numbers finite.
    guard errorInDevice.isFinite, errorInDevice.length < 1e30 else { return }
    // The covariance is in the odometry's world. Rotating the error to that world is equivalent to
    // rotating the covariance into device axes.
    let error = sample.odometryPose.rotation.act(errorInDevice)
    records.append(
      Record(
        timestamp: sample.timestamp, error: Float(error.length),
        distanceError: Float(abs(estimated.length - truth.length)),
        bearingErrorDegrees: Float(
          Self.bearing(
            of: sample.truePose.rotation.act(estimated),
            relativeTo: sample.truePose.rotation.act(truth)
          ).magnitude.radiansAsDegrees),
        normalizedNEES: Float(normalizedNEES(of: error, covariance: sample.covariance)),
        peer: Int32(sample.peer), isConverged: sample.isConverged,
        isFalselyConverged: sample.isConverged
          && Self.isBeyondClaim(error, covariance: sample.covariance),
        isWronglyPublished: sample.outputs.areWrong(
          fromDevice: sample.truePose.rotation.act(truth), sample.truePose.rotation)))
  }

  /// The statistics over the samples of one peer, or of all.
  ///
  /// - Parameters:
  ///   - peer: The peer's index in the caller's list; `nil` for all peers together.
  ///   - middle: The time at which the second half begins.
  /// - Returns: The statistics.
  public func statistics(
    ofPeer peer: Int? = nil, secondHalfFrom middle: Timestamp
  ) -> ErrorStatistics {
    let chosen = records.filter { record in peer.map { record.peer == $0 } ?? true }
    let converged = chosen.filter(\.isConverged)
    let secondHalf = chosen.filter { $0.timestamp >= middle }
    let last = Dictionary(chosen.map { ($0.peer, $0.error) }, uniquingKeysWith: { $1 })
    var statistics = ErrorStatistics()
    statistics.samples = chosen.count
    statistics.convergedSamples = converged.count
    statistics.rmseConverged = Self.rootMeanSquare(converged.map(\.error))
    statistics.rmseSecondHalf = Self.rootMeanSquare(secondHalf.map(\.error))
    statistics.medianDistanceErrorSecondHalf = Self.quantile(
      0.5, of: secondHalf.map(\.distanceError))
    statistics.medianBearingErrorDegreesSecondHalf = Self.quantile(
      0.5, of: secondHalf.map(\.bearingErrorDegrees))
    // In the order of peers, so that rounding does not depend on the dictionary's seed.
    statistics.finalError = Self.rootMeanSquare(last.sorted { $0.key < $1.key }.map(\.value))
    statistics.percentile95Converged = Self.quantile(0.95, of: converged.map(\.error))
    statistics.meanNormalizedNEES = Self.mean(
      converged.map { Double($0.normalizedNEES) }.filter(\.isFinite))
    statistics.falselyConvergedShare = Self.mean(
      converged.map { $0.isFalselyConverged ? 1 : 0 })
    statistics.wronglyPublishedShare = Self.mean(chosen.map { $0.isWronglyPublished ? 1 : 0 })
    return statistics
  }

  /// The normalised squared error over its degrees of freedom; NaN when the covariance has no
  /// inverse.
  package func normalizedNEES(of error: Vector3, covariance: SymmetricMatrix3) -> Double {
    guard isPlanar else {
      return covariance.positiveDefiniteInverse.map { $0.quadraticForm(error) / 3 } ?? .nan
    }
    let (a, b, d) = (covariance.xx, covariance.xz, covariance.zz)
    let determinant = a * d - b * b
    guard a > 0, determinant > 0 else { return .nan }
    let squared = d * error.x * error.x - 2 * b * error.x * error.z + a * error.z * error.z
    return squared / determinant / 2
  }

  /// Whether an error exceeds both half a metre and 3.4 standard deviations along itself.
  private static func isBeyondClaim(_ error: Vector3, covariance: SymmetricMatrix3) -> Bool {
    let length = error.length
    guard length > 0.5 else { return false }
    return length > 3.4 * max(0, covariance.quadraticForm(error / length)).squareRoot()
  }

  /// The angle about gravity (y) from one vector to another; NaN when one of them is vertical.
  private static func bearing(of vector: Vector3, relativeTo other: Vector3) -> Double {
    let cross = vector.x * other.z - vector.z * other.x
    let dot = vector.x * other.x + vector.z * other.z
    return cross == 0 && dot == 0 ? .nan : atan2(cross, dot)
  }

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }

  private static func rootMeanSquare(_ values: [Float]) -> Double? {
    mean(values.map { Double($0) * Double($0) })?.squareRoot()
  }

  /// The quantile by linear interpolation between the two nearest ranks, as in numpy.
  private static func quantile(_ share: Double, of values: [Float]) -> Double? {
    let sorted = values.filter { !$0.isNaN }.sorted()
    guard let last = sorted.last else { return nil }
    let rank = share * Double(sorted.count - 1)
    let lower = Int(rank)
    guard lower + 1 < sorted.count else { return Double(last) }
    let (a, b) = (Double(sorted[lower]), Double(sorted[lower + 1]))
    return a + (rank - Double(lower)) * (b - a)
  }
}
