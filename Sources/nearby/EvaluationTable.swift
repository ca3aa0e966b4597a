// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyGeometry
import NearbyRecordings

/// Evaluated results as readable text: peer by peer, with the results below each other.
struct EvaluationTable {
  private let evaluations: [ResultEvaluation]

  /// Makes the table of some results.
  init(_ evaluations: [ResultEvaluation]) { self.evaluations = evaluations }

  /// The text, with a newline at its end.
  var text: String {
    var table = TextTable(
      header: [
        "peer", "result", "RMSE 2nd half m", "RMSE conv m", "distance m", "bearing °", "NEES/n",
        "NIS/n", "false %", "out %", "conv s", "lost", "jitter m", "dist/dir/angle/vert/place %",
      ])
    for peer in peers {
      for evaluation in evaluations {
        guard let figures = evaluation.peers.first(where: { $0.id == peer })?.figures else {
          continue
        }
        table.add(Self.row(peer, evaluation, figures))
      }
    }
    for evaluation in evaluations where evaluation.peers.count > 1 {
      table.add(Self.row("all", evaluation, evaluation.all))
    }
    let lines = table.lines + trajectoryLines
    return lines.joined(separator: "\n") + "\n"
  }

  /// The errors of the odometry of each recording.
  private var trajectoryLines: [String] {
    var seen: Set<TrajectoryError> = []
    let lines = evaluations.compactMap { evaluation -> String? in
      guard let error = evaluation.trajectory, seen.insert(error).inserted else { return nil }
      let odometry = "\(evaluation.recording): its odometry, laid best upon the truth, is "
      return odometry + Self.text(error)
        + (evaluation.correctedTrajectory.map { "; as its peers correct it, \(Self.text($0))" }
          ?? "")
        + (evaluation.smoothedTrajectory.map { "; smoothed, \(Self.text($0))" } ?? "")
    }
    return lines.isEmpty ? [] : [""] + lines
  }

  private static func text(_ error: TrajectoryError) -> String {
    """
    \(error.rmse.text(decimals: 3)) m RMSE and \(error.max.text(decimals: 3)) m at most off, \
    \(error.rotationRMSEDegrees.text(decimals: 2))° RMSE, over \(error.poses) poses
    """
  }

  /// The peers of all results, each once, in order of occurrence.
  private var peers: [String] {
    var seen: Set<String> = []
    return evaluations.flatMap(\.peers).map(\.id).filter { seen.insert($0).inserted }
  }

  private static func row(
    _ peer: String, _ evaluation: ResultEvaluation, _ figures: ResultFigures
  ) -> [String] {
    func text(_ number: Double?, _ decimals: Int) -> String {
      number.map { $0.text(decimals: decimals) } ?? "-"
    }
    let errors = figures.errors
    let suffix = evaluation.source == .smoothed ? " smoothed" : ""
    let shares = figures.availability.map { shares in
      [
        shares.distance, shares.direction, shares.horizontalAngle, shares.vertical,
        shares.worldTransform,
      ].map { text($0.map { 100 * $0 }, 0) }.joined(separator: "/")
    }
    return [
      peer, evaluation.result + suffix, text(errors.rmseSecondHalf, 3),
      text(errors.rmseConverged, 3), text(errors.medianDistanceErrorSecondHalf, 3),
      text(errors.medianBearingErrorDegreesSecondHalf, 2), text(errors.meanNormalizedNEES, 2),
      text(figures.normalizedInnovationSquared, 2),
      text(errors.falselyConvergedShare.map { 100 * $0 }, 2),
      text(errors.wronglyPublishedShare.map { 100 * $0 }, 2), text(figures.secondsToConverge, 1),
      "\(figures.losses)", text(figures.jitter, 4), shares ?? "-",
    ]
  }
}
