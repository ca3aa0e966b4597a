// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyRecordings

/// A list of public recordings, and how to get each: `datasets.json`.
public struct DatasetManifest: Sendable {
  /// The file's name.
  public static let fileName = "datasets.json"

  /// Where the manifest is.
  public let path: String
  /// The data sets in the file's order.
  public let datasets: [Dataset]

  /// Reads a manifest.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: When the file is missing, is no manifest, or says what it may not (``Dataset``).
  public init(path: String) throws(RecordingError) {
    let content = try JSONFile.decode(
      Content.self, path: path,
      remedy: "the \(Self.fileName) of the package shows how it is written")
    guard content.format == "nearby-datasets", content.version == 1 else {
      throw RecordingError(
        .unsupportedFormat, "it is no list of data sets of version 1", file: path,
        remedy: "name the \(Self.fileName) of this version of the package")
    }
    for dataset in content.datasets { try dataset.check(in: path) }
    datasets = content.datasets
    self.path = path
  }

  /// The manifest that a person means who names none: `Datasets/datasets.json` in a folder or in one
  /// above it.
  ///
  /// - Parameter starts: Where to begin, one after the other.
  /// - Returns: Its path; `nil` when there is none.
  public static func find(from starts: [String]) -> String? {
    for start in starts {
      var folder = URL(filePath: start).standardizedFileURL.resolvingSymlinksInPath()
      while true {
        let file = folder.appending(path: "Datasets/\(fileName)").path(percentEncoded: false)
        if FileManager.default.fileExists(atPath: file) { return file }
        let above = folder.deletingLastPathComponent()
        if above.pathComponents.count >= folder.pathComponents.count { break }
        folder = above
      }
    }
    return nil
  }

  /// The data set of a name.
  ///
  /// - Parameter name: The name.
  /// - Returns: The data set.
  /// - Throws: When there is none of that name.
  public func dataset(named name: String) throws(RecordingError) -> Dataset {
    guard let dataset = datasets.first(where: { $0.name == name }) else {
      throw RecordingError(
        .missingValue, "there is no data set \"\(name)\"", file: path,
        remedy: "there are \(datasets.map(\.name).joined(separator: ", "))")
    }
    return dataset
  }

  /// The folder of a data set that comes with the package; `nil` for the others.
  ///
  /// - Parameter dataset: The data set.
  /// - Returns: The path.
  public func includedFolder(of dataset: Dataset) -> String? {
    dataset.included.map {
      URL(filePath: path).deletingLastPathComponent().appending(path: $0)
        .path(percentEncoded: false)
    }
  }

  private struct Content: Decodable {
    var format: String
    var version: Int
    var datasets: [Dataset]
  }
}

/// A public recording.
///
/// A list may be anybody's, and what it says reaches programs and the file system. So names are plain
/// words, paths stay below their folder, addresses are https, and a step is an import into a new
/// recording. A list that says anything else is refused when it is read.
public struct Dataset: Sendable, Codable {
  /// Its name, and that of the folder that it becomes.
  public var name: String
  /// What it holds.
  public var holds: String
  /// Under which terms.
  public var license: String
  /// Where people read about it.
  public var page: String
  /// Bytes of the recording; `nil` where nothing is fetched.
  public var bytes: Int?
  /// Its folder beside the manifest, when it comes with the package.
  public var included: String?
  /// The Python package that holds its files.
  public var pip: Package?
  /// The files that the recording is made of; none where a person must fetch them.
  public var files: [File]?
  /// The commands that make the recording: `{files}` is the folder of the files, `{work}` one for what
  /// is needed on the way, `{output}` the recording.
  public var steps: [[String]]
  /// The SHA-256 of the recording's files.
  public var recording: [String: ContentDigest]?

  /// A package on PyPI.
  public struct Package: Sendable, Codable {
    /// Its name.
    public var name: String
    /// Its version.
    public var version: String
    /// Whether the files are in the source package rather than in the wheel.
    public var isSource: Bool
    /// The digest of the archive; a source package must have one.
    public var sha256: ContentDigest?
  }

  /// A file.
  public struct File: Sendable, Codable {
    /// Its path in the Python package.
    public var member: String
    /// Where else it is; https only.
    public var address: String?
    /// Its size, bytes, beyond which nothing is fetched; a gigabyte when `nil`.
    public var bytes: Int?
    /// Its digest.
    public var sha256: ContentDigest

    /// Its name in the folder of files.
    public var name: String { String(member.split(separator: "/").last ?? "") }
  }
}

extension Dataset {
  /// How the files of a recording differ from what they must be.
  public enum Difference: Sendable, Hashable {
    /// The file is not there.
    case missing(String)
    /// The file has other content.
    case changed(String)
  }

  /// Holds a recording against the digests.
  ///
  /// - Parameter folder: The recording.
  /// - Returns: What differs, by name; nothing when all is as it must be.
  /// - Throws: When a file cannot be read.
  public func differences(in folder: String) throws(RecordingError) -> [Difference] {
    var differences: [Difference] = []
    for (name, digest) in (recording ?? [:]).sorted(by: { $0.key < $1.key }) {
      let path = "\(folder)/\(name)"
      guard FileManager.default.fileExists(atPath: path) else {
        differences.append(.missing(name))
        continue
      }
      if try ContentDigest(ofFile: path) != digest { differences.append(.changed(name)) }
    }
    return differences
  }
}
