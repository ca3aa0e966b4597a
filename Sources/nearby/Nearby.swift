// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyFusion
import NearbyRecordings

/// A word in the place of a subcommand that is none.
struct UnknownCommand {
  /// What is wrong, and which words there are.
  let message: String

  /// Looks for such a word; `nil` when all words in the places of subcommands are some.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the program's name.
  ///   - command: The program's command.
  init?(_ arguments: [String], of command: any ParsableCommand.Type) {
    var (command, path) = (command, "nearby")
    for argument in arguments {
      let names = Self.names(of: command)
      guard !names.isEmpty, !argument.hasPrefix("-") else { return nil }
      if let index = names.firstIndex(of: argument) {
        command = command.configuration.subcommands[index]
        path += " \(argument)"
        continue
      }
      let what = path == "nearby import" || path == "nearby export" ? "format" : "command"
      let likely = names.likeliest(for: argument).map { "did you mean \($0)? " } ?? ""
      message =
        "'\(path)' has no \(what) '\(argument)'; \(likely)there are \(names.joined(separator: ", "))"
        + "; see '\(path) --help'"
      return
    }
    return nil
  }

  /// The names of a command's subcommands, in their order.
  static func names(of command: any ParsableCommand.Type) -> [String] {
    command.configuration.subcommands.map {
      $0.configuration.commandName ?? String(describing: $0).lowercased()
    }
  }
}

/// The command line, which only parses, calls the libraries and prints.
@main
struct Nearby: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nearby",
    abstract: "Locate UWB peers from ranges, angles and visual-inertial odometry.",
    discussion: """
      A recording is a folder of plain text: recording.json, trajectory.txt (poses), ranging.csv \
      (UWB samples) and, if you have them, tracking.csv and truth/.

      EXAMPLES
        nearby info Datasets/plaza2                     what is in it?
        nearby run Datasets/plaza2 --output out/plaza2  where are the peers?
        nearby settings                                 what can be set?
        nearby tune Datasets/plaza2                     how noisy is it?
        nearby batch Datasets --output out/batch        many recordings, one table
        nearby import --help                            recordings from other formats
        nearby export --help                            recordings in other formats
        nearby datasets list                            public recordings
        nearby simulate --list                          recordings from a seed
        nearby evaluate out/plaza2                      how far from the truth?
        nearby report out/plaza2 --output plaza2.html   what happened when?
        nearby live --scenario keys                     walk and watch
        nearby prove                                    does it reach its goals?

      EXIT STATUS
        0   done
        1   a goal of 'nearby prove' was missed
        64  the command line is wrong
        65  the data is wrong; the message names file, line and column
        70  an internal error; please report it
        74  the output could not be written and is lost
      """,
    version: "nearby \(NearbyVersion.current)",
    subcommands: [
      RunCommand.self, BatchCommand.self, InfoCommand.self, SettingsCommand.self, TuneCommand.self,
      ImportCommand.self,
      ExportCommand.self, DatasetsCommand.self, SimulateCommand.self, EvaluateCommand.self,
      ReportCommand.self, PlotCommand.self, LiveCommand.self, ProveCommand.self,
    ])

  static func main() async {
    Interruption.prepare()
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      fail(error)
    }
  }

  private static func fail(_ error: any Error) -> Never {
    if error is ExitCode { exit(withError: error) }
    if exitCode(for: error) == .success { help(error) }
    let failure = CommandFailure(error) ?? parserFailure(error)
    Diagnostics.error(failure.message)
    exit(withError: failure.exitCode)
  }

  /// Prints the help or the version, which the parser throws as errors.
  private static func help(_ error: any Error) -> Never {
    do throws(CommandFailure) {
      try StandardOutput.print(fullMessage(for: error))
      exit(withError: ExitCode.success)
    } catch {
      Diagnostics.error(error.message)
      exit(withError: error.exitCode)
    }
  }

  /// The argument parser's error, in one line.
  private static func parserFailure(_ error: any Error) -> CommandFailure {
    guard exitCode(for: error) == .validationFailure else {
      return CommandFailure(
        .internalError, "\(error); this is a fault of the program, please report it")
    }
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let unknown = UnknownCommand(arguments, of: Self.self) {
      return CommandFailure(.usage, unknown.message)
    }
    let names = UnknownCommand.names(of: Self.self)
    let subcommand = arguments.first.flatMap { names.contains($0) ? $0 + " " : nil }
    return CommandFailure(
      .usage, "\(message(for: error)); see 'nearby \(subcommand ?? "")--help'")
  }
}
