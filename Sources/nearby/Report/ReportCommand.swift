// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyRecordings
import NearbyReport

/// `nearby report`: results as one page for a browser.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Show results in a page for a browser: what was found, the map, errors, consistency.",
    discussion: """
      RESULT is a folder that "nearby run" wrote; several are shown side by side. The \
      recording is the one that its summary.json names, relative to the current folder; \
      --recording names another one. A smoothed.csv is shown, too.

      The page is self-contained and needs no network. It holds the data, thinned without \
      losing extremes, and begins with a sentence for each peer, the map and what to do.

      EXAMPLES
        nearby report out/plaza2                     (out/plaza2/report.html)
        nearby report out/plaza2 --output plaza2.html
        nearby report out/before out/after --output compare.html

      RESULT may also be a folder that "nearby batch" wrote. The output is a folder then: its \
      index.html shows all recordings, and links the worst ten to their reports. Two batches are \
      compared, peer by peer.

        nearby report out/batch                      (out/batch/pages/index.html)
        nearby report out/old out/new --output out/pages
      """)

  @Argument(
    help: ArgumentHelp("The folders that runs or batches wrote.", valueName: "result"),
    completion: .directory)
  var results: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The page to write, of batches the folder; by default report.html or pages in RESULT.",
      valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String?

  @Option(
    help: ArgumentHelp("The recording of all these results.", valueName: "dir"),
    completion: .directory)
  var recording: String?

  @Flag(name: .shortAndLong, help: "Print nothing unless something is wrong.")
  var quiet = false

  func validate() throws {
    if output == "" { throw ValidationError("--output is empty; name a file") }
    if output == nil, results.count > 1 {
      throw ValidationError("several results have no folder in common; name --output <file>")
    }
  }

  /// The path of what is written; `name` is its name in the only result.
  private func path(orIn result: String, _ name: String) -> String {
    output ?? (result.hasSuffix("/") ? result + name : "\(result)/\(name)")
  }

  func run() throws {
    if results.contains(where: BatchPages.isBatch) {
      let folder = path(orIn: results[0], "pages")
      return try BatchPages(results, output: folder, isQuiet: quiet).write()
    }
    let report: Report
    do {
      report = try Report.gather(results: results, recording: recording)
    } catch {
      throw recording == nil ? error.mentioningRecording(of: results) : error
    }
    let page = path(orIn: results[0], "report.html")
    var file = try AtomicFile(path: page)
    try ReportPage(report).write(to: &file)
    try file.commit()
    if !quiet {
      try StandardOutput.print("\(page): \(report.runs.map(\.name).joined(separator: ", "))")
    }
  }
}
