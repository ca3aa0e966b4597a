// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import NearbyImports
import NearbyRecordings

extension ExportCommand {
  /// `nearby export tum`: a trajectory, or the positions of a peer.
  struct Tum: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A trajectory in the TUM format, as evo reads it.",
      discussion: """
        SOURCE is a recording or a folder that 'nearby run' wrote. Of a recording, the \
        odometry is written, or with --truth the true poses. Of a result, the positions of the \
        peer named by --peer are written with the identity as attitude, with --smoothed those \
        of smoothed.csv.

        EXAMPLES
          nearby export tum walk --output odometry.tum
          nearby export tum walk --truth --output truth.tum
          evo_ape tum truth.tum odometry.tum --align
          nearby export tum out/walk --peer keys --output keys.tum
        """)

    @Argument(help: "A recording's folder, or that of a result.", completion: .directory)
    var source: String

    @Flag(help: "The true poses of a recording.")
    var truth = false

    @Option(help: ArgumentHelp("The positions of this peer in a result.", valueName: "name"))
    var peer: String?

    @Flag(help: "The positions of smoothed.csv instead of estimates.csv.")
    var smoothed = false

    @OptionGroup var file: ExportOutputOptions

    func validate() throws {
      if truth, peer != nil || smoothed {
        throw ValidationError("--truth is of a recording, --peer and --smoothed are of a result")
      }
      if smoothed && peer == nil { throw ValidationError("--smoothed needs --peer NAME") }
    }

    func run() throws {
      let exporter = TumExporter()
      if let peer {
        let name = smoothed ? SmoothedWriter.fileName : EstimateWriter.fileName
        let path = source.hasSuffix("/") ? source + name : "\(source)/\(name)"
        return try file.print(
          try exporter.export(
            peer: peer, estimates: path, kind: smoothed ? .smoothed : .estimates,
            to: file.output))
      }
      if !FileManager.default.fileExists(atPath: "\(source)/\(RecordingManifest.fileName)"),
        FileManager.default.fileExists(atPath: "\(source)/\(EstimateWriter.fileName)")
      {
        throw CommandFailure(.usage, "\(source) is a result; name the peer with --peer NAME")
      }
      do {
        try file.print(
          try exporter.export(RecordingReader(folder: source), truth: truth, to: file.output))
      } catch let error as RecordingError {
        throw error.located(in: source)
      }
    }
  }
}
