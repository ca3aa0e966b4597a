// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Times the engine: `speed` prints a table, `speed recording DIR` writes a recording to time a run on.
@main
enum Speed {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.count) {
    case (nil, _):
      try measure()
    case ("recording", 2):
      try SyntheticRecording.write(into: arguments[2])
    default:
      FileHandle.standardError.write(Data("usage: speed [recording DIR]\n".utf8))
      exit(64)
    }
  }

  private static func measure() throws {
    #if DEBUG
      throw WrongState(description: "not optimised: build with -c release")
    #else
      print(TableRow.heading)
      var converged = ConvergedBenchmark()
      for row in try converged.run() { print(row.text) }
      for row in try BankBenchmark.run() { print(row.text) }
      for row in try SearchBenchmark.run() { print(row.text) }
    #endif
  }
}
