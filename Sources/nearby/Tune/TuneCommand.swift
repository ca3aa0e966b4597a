// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyReport

/// `nearby tune`: settings from a recording alone.
struct TuneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tune",
    abstract: "Estimate noise, drift, clock and antenna from recordings alone.",
    discussion: """
      Finds the settings under which the recording's samples are most likely; the truth is not \
      read. Peers that move are left out. Each line has the estimate ± one standard deviation, and \
      what was stated; 'not observable' means that the recording does not tell, and that the setting \
      stays as it is. The last line says by how much the logarithm of the evidence rose.

      With --output the settings that were found become a file for --config of 'nearby run' and \
      'nearby batch': noise, outliers and drift, and the clock's offset and the antenna's place where they \
      differ from what is stated by more than four standard deviations. A drift that is less than stated is \
      printed and not written, as odometries slip now and then. What lets an engine predict the last \
      third of the recording worse stays as stated, and is named. 'nearby run' does the same in tenths of a \
      second before it runs, with fewer samples; a file of settings is for a radio whose recordings are \
      many, and goes with --calibration off.

      Several recordings of one radio give one result: the mean of what each tells, weighted by its \
      information. 'nearby calibrate' is another name of this command.

      EXAMPLES
        nearby tune Datasets/plaza2
        nearby calibrate monday tuesday wednesday --output radio.json
        nearby tune living-room --output tuned.json
        nearby run living-room --config tuned.json --output out
      """, aliases: ["calibrate"])

  @Argument(
    help: ArgumentHelp("The recordings' folders.", valueName: "recording"), completion: .directory)
  var recordingPaths: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write the settings to this file, for --config.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var output: String?

  @Flag(help: "Take tenths of a second, as the calibration of 'nearby run' does.")
  var quick = false

  func run() throws {
    let progress = ProgressLine(isQuiet: false)
    defer { progress.finish() }
    var results: [TuningResult] = []
    var stated: FusionConfiguration?
    for (index, path) in recordingPaths.enumerated() {
      do {
        let recording = try RecordingReader(folder: path)
        // What is stated for the first goes for all: they are of one radio.
        let data = try TuningData(recording, stated: stated)
        stated = data.stated
        let result = Tuner(data, effort: quick ? .quick : .thorough).tune { fraction in
          let done = (Double(index) + fraction) / Double(recordingPaths.count)
          progress.update(fraction: done, what: "tuning")
        }
        guard let result else {
          throw CommandFailure(
            .badData,
            "\(path): nothing to tune by; 30 samples of peers at rest are needed, with poses")
        }
        results.append(result)
        if data.samplesWithOwnSigma > 0 {
          Diagnostics.warning(
            "\(path): \(data.samplesWithOwnSigma) values state an accuracy of their own, by which a run goes; "
              + "the estimate is of the errors as they are")
        }
      } catch let error as RecordingError {
        throw error.located(in: path)
      }
    }
    progress.finish()
    guard let stated else { return }
    let result = TuningResult.combining(results, stated: stated)
    if let output {
      var file = try AtomicFile(path: output)
      try file.write(ConfigurationFile.json(of: result.configuration))
      try file.commit()
    }
    try StandardOutput.print(text(of: result, stated: stated))
  }

  private func text(of result: TuningResult, stated: FusionConfiguration) -> String {
    var lines = result.estimates.map { estimate in
      let quantity = estimate.quantity
      let name = quantity.title + String(repeating: " ", count: max(0, 26 - quantity.title.count))
      let factor = quantity.factor
      guard estimate.isObservable else {
        return name
          + (estimate.isAtBound
            ? "at its bound, \(short(factor * estimate.value))\(quantity.unit)" : "not observable")
      }
      let value = short(factor * estimate.value)
      return "\(name)\(value) ± \(short(factor * estimate.sigma))\(quantity.unit)"
        + "  (stated \(short(factor * estimate.stated)))"
    }
    if result.isPlanar != stated.odometry.isPlanar {
      lines.append("device and peers are in one plane")
    }
    if !result.confirmed.isEmpty {
      lines.append(
        "left as stated, as what was found agrees with it: "
          + result.confirmed.map(\.title).joined(separator: ", "))
    }
    if !result.withheld.isEmpty {
      lines.append(
        "left as stated, as the end of the recording is predicted better so: "
          + result.withheld.map(\.title).joined(separator: ", "))
    }
    let gain = result.logEvidence.found - result.logEvidence.stated
    lines.append("evidence: e^\(short(gain)) times as high as with the stated settings")
    if let output { lines.append("the settings are in \(output)") }
    return lines.joined(separator: "\n")
  }

  private func short(_ value: Double) -> String { value.significant(digits: 3) }
}
