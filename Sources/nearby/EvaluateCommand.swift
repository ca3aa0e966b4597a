// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyEvaluation
import NearbyRecordings

/// `nearby evaluate`: results of runs against the truth of their recordings.
struct EvaluateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate",
    abstract: "Compare results with the truth of their recordings, side by side.",
    discussion: """
      RESULT is a folder that "nearby run" wrote. The recording is the one that its \
      summary.json names, relative to the current folder; --recording names another one. A \
      smoothed.csv is evaluated, too.

      A row for each peer and result, over all rows of the result: RMSE over the second half and \
      over converged samples, median errors of distance and bearing over the second half, NEES \
      over its degrees of freedom, NIS likewise, the share of converged samples that are false, \
      seconds to convergence, jitter of the published position, and the share of rows in which \
      distance, direction, horizontal angle, vertical direction and world transform were \
      available. Below follows the error of the odometry after the best alignment to the true \
      trajectory by rotation and translation (the absolute error of evo_ape --align).

      EXAMPLES
        nearby evaluate out/plaza2
        nearby evaluate out/before out/after --recording Datasets/plaza2
        nearby evaluate out/plaza2 --json
      """)

  @Argument(
    help: ArgumentHelp("The folders that runs wrote.", valueName: "result"),
    completion: .directory)
  var results: [String]

  @Option(
    help: ArgumentHelp("The recording of all these results.", valueName: "dir"),
    completion: .directory)
  var recording: String?

  @Flag(help: "Print JSON instead of the table.")
  var json = false

  func run() throws {
    var evaluations: [ResultEvaluation] = []
    for result in results {
      do {
        evaluations += try ResultEvaluation.evaluate(folder: result, recording: recording)
      } catch {
        throw recording == nil ? error.mentioningRecording(of: results) : error
      }
    }
    if json {
      try StandardOutput.write(CanonicalJSON.text(of: Output(results: evaluations)))
    } else {
      try StandardOutput.print(EvaluationTable(evaluations).text, terminator: "")
    }
  }

  /// The output of `--json`.
  private struct Output: Encodable {
    var results: [ResultEvaluation]
  }
}
