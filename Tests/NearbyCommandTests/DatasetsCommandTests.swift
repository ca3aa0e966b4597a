// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import Testing

/// With a list of its own, whose files lie in a folder: nothing is fetched over a network.
@Suite("nearby datasets")
struct DatasetsCommandTests {
  private let folder: TemporaryFolder
  private static let poses = """
    0 0 0 0 0 0 0 1
    0.1 0.1 0 0 0 0 0 1
    0.2 0.2 0 0 0 0 0 1

    """

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("source"), withIntermediateDirectories: true)
    try Data(Self.poses.utf8).write(to: folder.url.appending(path: "source/poses.txt"))
  }

  /// Writes a list with one data set.
  private func list(
    digest: ContentDigest = ContentDigest(poses.utf8), address: String? = nil,
    recording: [String: String] = [:]
  ) throws -> String {
    let address = address ?? "file://\(folder.path("source/poses.txt"))"
    let recording = recording.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ", ")
    let text = """
      { "format": "nearby-datasets", "version": 1, "datasets": [
        { "name": "steps", "holds": "three poses", "license": "none", "page": "https://example.org",
          "files": [ { "member": "data/poses.txt", "address": "\(address)", "sha256": "\(digest)" } ],
          "steps": [ [ "import", "tum", "{files}/poses.txt", "--output", "{output}" ] ],
          "recording": { \(recording) } },
        { "name": "far", "holds": "much", "license": "none", "page": "https://example.org/far",
          "steps": [] }
      ] }
      """
    try Data(text.utf8).write(to: folder.url.appending(path: "list.json"))
    return folder.path("list.json")
  }

  private func datasets(_ arguments: String...) throws -> CommandLineTool.Result {
    try CommandLineTool.run(["datasets"] + arguments)
  }

  @Test func theListOfThePackageIsFoundAndPrinted() throws {
    let result = try datasets("list")
    #expect(result.exitCode == 0)
    #expect(result.output.hasPrefix("name") && result.output.contains("plaza2"))
  }

  @Test func aDataSetIsFetchedCheckedAndMadeIntoARecording() throws {
    let list = try list()
    let made = try datasets("get", "steps", "--into", folder.path("data"), "--manifest", list)
    #expect(made.exitCode == 0, "\(made.errors)")
    #expect(folder.has("data/steps/recording.json"))
    let digest = try ContentDigest(ofFile: folder.path("data/steps/trajectory.txt"))
    let strict = try self.list(recording: ["trajectory.txt": "\(digest)"])
    let again = try datasets(
      "get", "steps", "--into", folder.path("data"), "--manifest", strict, "--overwrite", "-q")
    #expect(again.exitCode == 0, "\(again.errors)")
    #expect(again.output.isEmpty)
    let good = try datasets("verify", "--into", folder.path("data"), "--manifest", strict)
    #expect(good.exitCode == 0 && good.output == "\(folder.path("data"))/steps: good\n")
    try Data("0 0 0 0 0 0 0 1\n".utf8).write(
      to: folder.url.appending(path: "data/steps/trajectory.txt"))
    let bad = try datasets("verify", "--into", folder.path("data"), "--manifest", strict)
    #expect(bad.exitCode == 65 && bad.output.contains("trajectory.txt has changed"))
  }

  @Test func whatCannotBeFetchedAndWhatHasChangedIsSaid() throws {
    let into = folder.path("data")
    let other = try datasets(
      "get", "steps", "--into", into, "--manifest", list(digest: ContentDigest("".utf8)))
    #expect(other.exitCode == 65 && other.errors.contains("not the file that it was"))
    let gone = try datasets(
      "get", "steps", "--into", into, "--manifest", list(address: "file:///there/is/none"))
    #expect(gone.exitCode == 65 && gone.errors.contains("could not be fetched: curl"))
    let byHand = try datasets("get", "far", "--into", into, "--manifest", list())
    #expect(byHand.exitCode == 65 && byHand.errors.contains("https://example.org/far"))
    let none = try datasets("get", "near", "--into", into, "--manifest", list())
    #expect(none.exitCode == 65 && none.errors.contains("there are steps, far"))
    let absent = try datasets("verify", "steps", "--into", into, "--manifest", list())
    #expect(absent.exitCode == 65 && absent.errors.contains("nearby datasets get steps"))
    #expect(!folder.has("data/steps"))
  }
}
