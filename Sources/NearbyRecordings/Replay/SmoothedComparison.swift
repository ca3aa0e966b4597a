// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry

/// Holds a batch estimator's rows against a recording's truth.
///
/// The errors are those of ``TruthComparison``. A row counts as converged when its covariance meets the
/// criterion of `ConvergenceConfiguration`.
public struct SmoothedComparison: ~Copyable {
  private let convergence: ConvergenceConfiguration
  private let isPlanar: Bool
  private var truth: TruthPlaces
  private var comparison: TruthComparison
  private var first: Timestamp?
  private var last: Timestamp?

  /// Opens the truth of a recording, if it holds one.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - configuration: The engine's settings.
  /// - Throws: When a file of the truth has a fault.
  public init(
    _ recording: RecordingReader, configuration: FusionConfiguration
  ) throws(RecordingError) {
    convergence = configuration.convergence
    isPlanar = configuration.odometry.isPlanar
    truth = try TruthPlaces(
      recording, longestPoseGap: configuration.odometry.maximumPoseGap)
    comparison = TruthComparison(isPlanar: isPlanar)
  }

  /// Whether the recording holds the truth.
  public var hasTruth: Bool { truth.hasTruth }

  /// Compares a row; rows are in the order of time.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - modeProbability: The probability of the peer's best mode.
  /// - Throws: The first fault of the true trajectory.
  public mutating func add(
    _ row: SmoothedRow, modeProbability: Double
  ) throws(RecordingError) {
    first = min(first ?? row.timestamp, row.timestamp)
    last = max(last ?? row.timestamp, row.timestamp)
    guard
      let place = try truth.place(
        of: row.peer, at: row.timestamp, odometryPose: row.worldFromDevice),
      let position = row.positionInWorld
    else { return }
    let p = row.covariance
    let sigma = max(0, isPlanar ? p.xx + p.zz : p.trace).squareRoot()
    let distance = (position - place.odometryPose.translation).length
    comparison.add(
      TruthComparison.Sample(
        peer: row.peerIndex, timestamp: row.timestamp,
        isConverged: modeProbability >= convergence.dominantModeWeight
          && sigma <= max(convergence.sigmaFloor, convergence.sigmaPerDistance * distance),
        estimatedPosition: position, covariance: p, odometryPose: place.odometryPose,
        truePosition: place.truePosition, truePose: place.truePose))
  }

  /// The errors over the rows of a peer; `nil` when its truth is not known.
  ///
  /// - Parameters:
  ///   - peer: The peer's place in the recording's list of peers.
  ///   - name: Its name.
  /// - Returns: The statistics.
  public func errors(ofPeer peer: Int, named name: String) -> ErrorStatistics? {
    truth.knows(name)
      ? comparison.statistics(ofPeer: peer, secondHalfFrom: middle) : nil
  }

  /// The errors over the rows of all peers; `nil` when the recording holds no truth.
  public var errors: ErrorStatistics? {
    hasTruth ? comparison.statistics(secondHalfFrom: middle) : nil
  }

  private var middle: Timestamp {
    guard let first, let last else { return Timestamp(nanoseconds: 0) }
    return Timestamp(nanoseconds: first.nanoseconds + (last.nanoseconds - first.nanoseconds) / 2)
  }
}
