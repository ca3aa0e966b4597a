// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// The results of a run over a recording: `summary.json`.
///
/// Positions and covariances are in the recording's own world axes, times in seconds, lengths in
/// metres. A missing value is `null`, never left out and never `nan`. Only the smoother's keys are
/// left out when nothing was smoothed.
public struct RunSummary: Hashable, Sendable, Codable {
  /// The file's name in its folder.
  public static let fileName = "summary.json"

  /// The engine's version and settings.
  public struct Engine: Hashable, Sendable, Codable {
    /// The package's version.
    public var version: String
    /// The settings in force.
    public var settings: FusionConfiguration
  }

  /// How long the run took.
  public struct Timing: Hashable, Sendable, Codable {
    /// Seconds inside the engine: poses, samples and estimates; with smoothing also the smoother's notes of
    /// them.
    public var fusingSeconds: Double
    /// Seconds from start to end: reading and writing included.
    public var totalSeconds: Double
    /// Seconds that smoothing took on top; `nil` without it.
    public var smoothingSeconds: Double?
  }

  /// The recording's name.
  public var name: String
  /// The recording's folder, as it was named for the run.
  @OrNull public var recording: String?
  /// How many ranging rows were read.
  public var samples: Int
  /// How many samples were rejected as a whole.
  public var samplesRejected: Int
  /// Seconds from the first pose or sample of the recording to the last.
  public var duration: Double
  /// The peers, in the recording's order.
  public var peers: [PeerSummary]
  /// What happened to the peers and to the odometry, in the order in which it was found out; `nil` in a
  /// summary of version 0.1.
  public var events: [RunEvent]?
  /// What was found out about the radio and the odometry; `nil` when there is nothing to say.
  public var calibration: CalibrationSummary?
  /// What is wrong with the recording, and may be why a peer was not found; `nil` when all were or nothing is.
  public var findings: [RunFinding]?
  /// The errors over the samples of all peers; `nil` when the recording holds no truth.
  @OrNull public var errors: ErrorStatistics?
  /// The smoother's errors over the samples of all peers; `nil` without it or without truth.
  public var smoothedErrors: ErrorStatistics?
  /// How far the odometry is from the true trajectory, as it is and corrected; `nil` without a true
  /// trajectory.
  @OrNull public var trajectory: TrajectorySummary? = nil
  /// What the ranges say of the map that was given; `nil` without one.
  public var survey: SurveySummary? = nil
  /// Where the device was located by range differences; `nil` when there were none.
  public var located: LocatedSummary? = nil
  /// The engine's version and settings.
  public var engine: Engine
  /// How long the run took; `nil` where equal runs must give equal files.
  @OrNull public var timing: Timing?

  /// Reads from the `summary.json` of a result which recording it is of.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: The recording's folder, as it was named for the run; `nil` when the file does not say.
  /// - Throws: When the file is missing, is not JSON, or holds something else than a summary.
  public static func recordingFolder(inSummary path: String) throws(RecordingError) -> String? {
    let summary = try LocatedJSON.parse(try FileBytes.read(path: path), file: path)
    guard case .object(let members) = summary.content else {
      throw RecordingError(
        .wrongType, "the summary is \(summary.typeName), not an object", file: path,
        line: summary.line, column: summary.column, remedy: "name the folder that a run has written"
      )
    }
    guard let member = members.first(where: { $0.key == "recording" }) else { return nil }
    switch member.value.content {
    case .null: return nil
    case .string(let folder): return folder
    default:
      throw RecordingError(
        .wrongType, "recording is \(member.value.typeName), not a string", file: path,
        line: member.value.line, column: member.value.column,
        remedy: "write the recording's folder")
    }
  }

  /// The summary as JSON: keys sorted, so that equal summaries are equal byte by byte.
  public func json() -> String { CanonicalJSON.text(of: self) }
}

/// How far the odometry is from the true trajectory.
public struct TrajectorySummary: Hashable, Sendable, Codable {
  /// The odometry as it is.
  public var odometry: Figures
  /// The odometry as peers correct it, `trajectory-corrected.txt`; `nil` where they do not.
  @OrNull public var corrected: Figures?
  /// The path as the whole recording has it, `trajectory-smoothed.txt`; `nil` without smoothing.
  public var smoothed: Figures?

  /// The distances between poses and true ones, once a rotation and a shift have laid the trajectory best
  /// upon the true one.
  public struct Figures: Hashable, Sendable, Codable {
    /// How many poses have a true one.
    public var poses: Int
    /// The root of the mean squared distance, metres.
    public var rmse: Double
    /// The largest distance, metres.
    public var max: Double
    /// The root of the mean squared angle between the attitudes, degrees.
    public var rotationRMSEDegrees: Double

    /// Makes figures.
    public init(poses: Int, rmse: Double, max: Double, rotationRMSEDegrees: Double) {
      self.poses = poses
      self.rmse = rmse
      self.max = max
      self.rotationRMSEDegrees = rotationRMSEDegrees
    }
  }

  /// Makes a summary.
  public init(odometry: Figures, corrected: Figures?, smoothed: Figures?) {
    self.odometry = odometry
    self.corrected = corrected
    self.smoothed = smoothed
  }
}

/// The results of a run for one peer.
public struct PeerSummary: Hashable, Sendable, Codable {
  /// The peer's name.
  public var id: String
  /// Its declared motion.
  public var motion: PeerMotion
  /// How many of its rows were read.
  public var samples = 0
  /// How many samples were rejected as a whole.
  public var samplesRejected = 0
  /// Seconds from its first sample to the first convergence; `nil` when it never converged.
  @OrNull public var secondsToFirstConvergence: Double? = nil
  /// How often convergence was lost again.
  public var lossesOfConvergence = 0
  /// The status after the last sample: `unknown`, `notConverged` or `converged`.
  public var status = ConvergenceStatus.unknown
  /// The reasons after the last sample, the most useful action first.
  public var reasons: [String] = []
  /// The position after the last sample, whatever the status; `nil` when nothing was used.
  @OrNull public var positionInWorld: Vector3? = nil
  /// Its covariance, m².
  @OrNull public var covarianceInWorld: SymmetricMatrix3? = nil
  /// The distance after the last sample, metres; `nil` when unavailable.
  @OrNull public var distance: Double? = nil
  /// Its standard deviation, metres.
  @OrNull public var distanceSigma: Double? = nil
  /// How many hypotheses the filter held after the last sample.
  public var hypotheses = 0
  /// The errors; `nil` when the recording does not hold the truth about this peer.
  @OrNull public var errors: ErrorStatistics? = nil
  /// The smoother's result; `nil` when nothing was smoothed.
  public var smoothed: SmoothedSummary?

  enum CodingKeys: String, CodingKey {
    case id, motion, samples, samplesRejected, secondsToFirstConvergence, lossesOfConvergence,
      status
    case reasons
    case positionInWorld = "position"
    case covarianceInWorld = "covariance"
    case distance, distanceSigma, hypotheses, errors, smoothed
  }

  /// Makes the summary of a peer without samples.
  public init(id: String, motion: PeerMotion) {
    self.id = id
    self.motion = motion
  }

  /// The total standard deviation of the position: the root of the covariance's trace, metres.
  public var positionSigma: Double? {
    covarianceInWorld.map { max(0, $0.trace).squareRoot() }
  }
}

/// `Convergence` of the engine without its reasons, as files name it.
public enum ConvergenceStatus: String, Hashable, Sendable, Codable, CaseIterable {
  /// There are no measurements yet.
  case unknown
  /// The peer has not converged.
  case notConverged
  /// The peer has converged.
  case converged

  /// The status without its reasons.
  public init(_ convergence: Convergence) {
    self =
      switch convergence {
      case .unknown: .unknown
      case .notConverged: .notConverged
      case .converged: .converged
      }
  }
}
