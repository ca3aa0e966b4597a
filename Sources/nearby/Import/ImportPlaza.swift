// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import plaza`: the two Plaza runs that come with GTSAM.
  struct Plaza: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Plaza1 or Plaza2: a lawn mower, four radio beacons.",
      discussion: """
        FOLDER holds Plaza1_.mat or Plaza2_.mat, as GTSAM has them in examples/Data and the Python \
        package gtsam in gtsam/Data:

          pip download --no-deps gtsam && unzip -j gtsam-*.whl 'gtsam/Data/Plaza*' -d plaza
          nearby import plaza plaza --name plaza1 --output plaza1

        All ranges are kept as they were measured, 7 % too long. Odometry and truth are thinned: \
        poses are left out that interpolation restores within 1 cm and 0.1 degrees.

        The odometry is made from the increments of distance and heading. Those of Plaza1 share \
        their heading with the truth and hardly drift; "--odometry path" takes the dead-reckoned \
        path that the file holds as well, which drifts by 28 degrees and up to 41 m.
        """)

    @Argument(help: "The folder that holds the .mat files.", completion: .directory)
    var folder: String

    @Option(
      name: .shortAndLong, help: "The folder to make, the recording.", completion: .directory)
    var output: String

    @Option(help: "Which run; needed when the folder holds both.")
    var name: PlazaImporter.Run?

    @Option(help: "The source of the odometry.")
    var odometry: PlazaImporter.Odometry = .increments

    @Flag(inversion: .prefixedNo, help: "Leave out poses that interpolation restores.")
    var thin = true

    @Flag(help: "Replace a recording that is already there.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "Print nothing.")
    var quiet = false

    func run() throws {
      var importer = PlazaImporter()
      importer.run = name
      importer.odometry = odometry
      if !thin { importer.thinning = nil }
      importer.replacesRecording = overwrite
      let report = try importer.importRecording(from: folder, to: output)
      guard !quiet else { return }
      try StandardOutput.print(Self.summary(of: report, output: output))
      Diagnostics.warn(of: report.findings)
    }

    /// The facts of an import in a few lines.
    static func summary(of report: PlazaReport, output: String) -> String {
      var text = OutputText()
      text.append("\(report.name): \(report.samples) ranges to \(report.peers) peers, ")
      text.append("\(report.posesWritten) of \(report.posesRead) poses, ")
      text.append("\(report.truePosesWritten) true poses, ")
      text.append(report.durationSeconds, decimals: 1)
      text.append(" s, ")
      text.append(report.pathLength, decimals: 0)
      text.append(" m -> \(output)\n  ranges: ")
      text.append(100 * report.rangeErrors.scaleError, decimals: 2)
      text.append(" % too long, ")
      text.append(report.rangeErrors.rootMeanSquareAfterScale, decimals: 3)
      text.append(" m of noise beside that (")
      text.append(report.rangeErrors.rootMeanSquare, decimals: 2)
      text.append(" m in all)\n  odometry: ")
      text.append(report.drift.positionDensity, significantDigits: 2)
      text.append(" m and ")
      text.append(report.drift.yawDensityDegrees, significantDigits: 2)
      text.append(" degrees per root metre, ")
      text.append(report.drift.finalYawDegrees, decimals: 1)
      text.append(" degrees at the end, up to ")
      text.append(report.drift.largestPositionError, decimals: 1)
      text.append(" m off")
      for finding in report.findings where finding.severity == .note {
        text.append("\n  \(finding.description)")
      }
      return String(decoding: text.bytes, as: UTF8.self)
    }
  }
}

extension PlazaImporter.Run: ExpressibleByArgument {}
extension PlazaImporter.Odometry: ExpressibleByArgument {}
