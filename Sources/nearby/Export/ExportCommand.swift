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
      """,
    subcommands: [Tum.self, Pyfg.self, Jsonl.self])
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
  func print(_ report: ExportReport) throws {
    guard !quiet else { return }
    try StandardOutput.print("\(report.lines) line\(report.lines == 1 ? "" : "s") -> \(output)")
    for (what, count) in report.leftOut.sorted(by: { $0.key < $1.key }) {
      try StandardOutput.print("  left out: \(count) \(what)")
    }
  }
}
