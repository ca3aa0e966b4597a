// SPDX-License-Identifier: Apache-2.0
import Foundation
import Workloads

/// Writes recordings for benchmarks, and streams one to measure its memory.
@main
enum Recording {
  private static let usage = """
    usage: recording write DIR [SECONDS [PEERS]]
           recording formats DIR
           recording stream DIR

    """

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.dropFirst(2).map { Int($0) ?? 0 }
    switch (arguments.first, arguments.count) {
    case ("write", 2...4) where numbers.allSatisfy { $0 > 0 }:
      let peers = numbers.count > 1 ? numbers[1] : 1
      try BenchmarkRecording(seconds: numbers.first ?? 1000, peers: peers).write(into: arguments[1])
    case ("formats", 2):
      try BenchmarkRecording.writeEveryFormat(besides: arguments[1])
    case ("stream", 2):
      let streamed = try StreamedRecording(folder: arguments[1])
      print(streamed.text)
    default:
      FileHandle.standardError.write(Data(usage.utf8))
      exit(64)
    }
  }
}
