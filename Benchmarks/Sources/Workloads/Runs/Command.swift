// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `nearby run` over a recording, start-up and writing included.
///
/// An operation is a whole run.
struct Command: Workload {
  let operations = 1

  private let program = Places.command
  private let folder: String
  private let output: String
  private var status: Int32 = 0

  init(_ folder: String) {
    self.folder = folder
    output = NSTemporaryDirectory() + "nearby-benchmark-\(getpid())-run"
  }

  mutating func run() {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["run", folder, "--quiet", "--output", output]
    status = -1
    guard (try? process.run()) != nil else { return }
    process.waitUntilExit()
    status = process.terminationStatus
  }

  func check() throws {
    try? FileManager.default.removeItem(atPath: output)
    guard status == 0 else { throw WrongState("\(program) ended with \(status)") }
  }
}
