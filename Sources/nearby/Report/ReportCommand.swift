// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyRecordings
import NearbyReport

/// `nearby report`: results as one page for a browser.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Show results in one page for a browser: maps, errors, consistency.",
    discussion: """
      RESULT is a folder that "nearby run" wrote; several are shown side by side. The \
      recording is the one that its summary.json names, relative to the current folder; \
      --recording names another one. A smoothed.csv is shown, too.

      The page is self-contained and needs no network. It holds the data, thinned without \
      losing extremes, and the plotting library plotly.js (MIT). The library is taken from \
      --plotly, from the file that NEARBY_PLOTLY names, or from the cache, \
      XDG_CACHE_HOME/nearby or ~/.cache/nearby. Otherwise python3's pip fetches it once from \
      PyPI, against a checksum.

      EXAMPLES
        nearby report out/plaza2 --output plaza2.html
        nearby report out/before out/after --output compare.html
        nearby report out/plaza2 -o plaza2.html --plotly plotly.min.js
      """)

  @Argument(
    help: ArgumentHelp("The folders that runs wrote.", valueName: "result"),
    completion: .directory)
  var results: [String]

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The page to write.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String

  @Option(
    help: ArgumentHelp("The recording of all these results.", valueName: "dir"),
    completion: .directory)
  var recording: String?

  @Option(
    help: ArgumentHelp("The plotting library, a plotly.min.js.", valueName: "file"),
    completion: .file(extensions: ["js"]))
  var plotly: String?

  @Flag(name: .shortAndLong, help: "Print nothing unless something is wrong.")
  var quiet = false

  func validate() throws {
    if output.isEmpty { throw ValidationError("--output is empty; name a file") }
  }

  func run() throws {
    let report: Report
    do {
      report = try Report.gather(results: results, recording: recording)
    } catch {
      throw recording == nil ? error.mentioningRecording(of: results) : error
    }
    var file = try AtomicFile(path: output)
    let library = try PlotlyLibrary(named: plotly).contents { message in
      if !quiet { Diagnostics.note(message) }
    }
    try ReportPage(report, plotly: library).write(to: &file)
    try file.commit()
    if !quiet {
      try StandardOutput.print("\(output): \(report.runs.map(\.name).joined(separator: ", "))")
    }
  }
}
