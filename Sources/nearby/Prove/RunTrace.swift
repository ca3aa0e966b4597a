// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation

/// One simulated run as CSV: the estimate, the truth and the bound, sample by sample.
struct RunTrace {
  private static let columns =
    ["seconds", "status", "reasons", "error", "claimed_sigma", "bound", "nees"]
    + MeasurementKind.allCases.map { "nis_\($0.name.replacing(" ", with: "_"))" }
    + [
      "false", "hypotheses", "truth_x", "truth_y", "truth_z", "mean_x", "mean_y", "mean_z",
      "device_x", "device_y", "device_z", "travelled", "distance_error", "direction_error",
      "horizontal_angle_error", "height_error", "vertical", "range_faulty", "angles_faulty",
      "contradicts", "peer",
    ]

  private let path: String

  /// Makes a trace for a file.
  init(path: String) { self.path = path }

  /// Runs one seed and writes it.
  ///
  /// Angles are in radians, positions in the odometry's world, in metres.
  func write(_ run: ConsistencyRun, seed: UInt64) throws {
    var file = try AtomicFile(path: path)
    try file.write(Self.columns.joined(separator: ",") + "\n")
    var text = OutputText()
    try run.records(seed: seed) { (moment, sample) throws(RecordingError) in
      text.removeAll()
      func add(_ number: Double?) {
        text.append(",")
        if let number = number?.finite { text.append(number, significantDigits: 9) }
      }
      func add(_ vector: Vector3?) {
        for number in [vector?.x, vector?.y, vector?.z] { add(number) }
      }
      func add(_ flag: Bool) { text.append(flag ? ",1" : ",0") }
      text.append(moment.seconds, significantDigits: 9)
      text.append(",\(ConvergenceStatus(moment.convergence).rawValue),")
      if case .notConverged(let reasons) = moment.convergence { text.append(reasons.description) }
      add(moment.error)
      add(moment.claimedSigma)
      add(moment.bound)
      add(moment.normalizedErrorSquared)
      for kind in MeasurementKind.allCases {
        add(moment.normalizedInnovationSquared[kind])
      }
      add(moment.isFalselyConverged)
      text.append(",\(moment.hypothesisCount)")
      add(sample.peerInOdometry)
      add(moment.errorInOdometry.map { sample.peerInOdometry + $0 })
      add(sample.odometryFromDevice.translation)
      add(moment.travelled)
      add(moment.outputs.distance)
      add(moment.outputs.directionRadians)
      add(moment.outputs.horizontalAngleRadians)
      add(moment.outputs.height)
      text.append(",\(moment.outputs.verticalDirection.rawValue)")
      add(sample.isRangeFaulty)
      add(sample.areAnglesFaulty)
      add(moment.contradictsFormerPlace)
      text.append(",\(sample.peer)\n")
      try file.write(text)
    }
    try file.commit()
  }
}
