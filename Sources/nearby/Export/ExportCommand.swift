// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports

/// `nearby export`: writes a recording or the result of a run in another format.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a recording or a result in another format.",
    discussion: """
      EXAMPLES
        nearby export tum walk --output walk.tum      a trajectory for evo
        nearby export pyfg walk --output walk.pyfg    a factor graph
        nearby export jsonl walk --output walk.jsonl  lines for 'nearby run -' and scripts
        nearby export mcap out/walk -o walk.mcap      a result for Foxglove and PlotJuggler
      """,
    subcommands: [Tum.self, Pyfg.self, Jsonl.self, Mcap.self])
}

/// The output options of every export.
struct ExportOutputOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "The file to write.", completion: .file())
  var output: String

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  func validate() throws {
    if output.isEmpty { throw ValidationError("--output is empty; name a file") }
  }

  /// Prints what was written and what was left out.
  func print(_ report: ExportReport, unit: String = "line") throws {
    guard !quiet else { return }
    let plural = report.lines == 1 ? "" : "s"
    try StandardOutput.print("\(report.lines) \(unit)\(plural) -> \(output)")
    for (what, count) in report.leftOut.sorted(by: { $0.key < $1.key }) {
      try StandardOutput.print("  left out: \(count) \(what)")
    }
    for note in report.notes { try StandardOutput.print("  \(note)") }
  }
}
