// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

@main struct Nearby: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nearby", subcommands: [ImportCommand.self])
}
