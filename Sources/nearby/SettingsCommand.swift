// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyRecordings

/// `nearby settings`: all settings of the engine.
struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "List the engine's settings: units, defaults, effects.",
    discussion: """
      Each line is a key of a configuration file (--config of 'nearby run' and 'nearby batch'), its \
      default with the unit, and what it does. Angles may be given in degrees under a name that ends \
      in Degrees, and what recording.json has may be spelt as there; a notice then names the key.

      EXAMPLES
        nearby settings
        nearby settings drift
      """)

  @Argument(help: "List only settings with this text in their line.")
  var text: String?

  func run() throws {
    let width = Setting.all.map(\.key.count).max() ?? 0
    let lines = Setting.all.map { setting in
      let value = [setting.defaultText, setting.unit].filter { !$0.isEmpty }.joined(separator: " ")
      let others = setting.otherSpellings
      return "\(padded(setting.key, width))  \(padded(value, 22))  \(setting.effect)"
        + (others.isEmpty ? "" : "; also \(others.joined(separator: ", "))")
    }
    let found = lines.filter { line in
      text.map { line.lowercased().contains($0.lowercased()) } ?? true
    }
    guard !found.isEmpty else {
      throw CommandFailure(
        .usage, "no setting has \"\(text ?? "")\" in its line; 'nearby settings' lists all")
    }
    for line in found { try StandardOutput.print(line) }
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
