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
      RESULT is a folder that "nearby run" has written; several stand side by side. The recording is \
      the one that its summary.json names, from where this command runs; --recording names another \
      place. Where there is a smoothed.csv it is shown, too.

      The page needs nothing else, neither network nor files beside it: it holds the data, thinned so \
      that extremes stay, and the plotting library plotly.js (MIT). That library is looked for in \
      --plotly, in the file that NEARBY_PLOTLY names, and in the cache, XDG_CACHE_HOME/nearby or \
      ~/.cache/nearby. When it is in none of them it is fetched once, from PyPI by python3's pip, \
      against a checksum.

      EXAMPLES
        nearby report out/plaza2 --output plaza2.html
        nearby report out/before out/after --output compare.html
        nearby report out/plaza2 -o plaza2.html --plotly plotly.min.js
      """)

  @Argument(
    help: ArgumentHelp("The folders that runs have written.", valueName: "result"),
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
    let report = try Report.gather(results: results, recording: recording)
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
