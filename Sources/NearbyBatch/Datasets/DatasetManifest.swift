// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
public import NearbyRecordings

/// A list of public recordings, and how to get each: `datasets.json`.
public struct DatasetManifest: Sendable {
  /// The file's name.
  public static let fileName = "datasets.json"

  /// The path of the manifest.
  public let path: String
  /// The data sets in the file's order.
  public let datasets: [Dataset]

  /// Reads a manifest.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: When the file is missing, is not a manifest, or holds values that are not allowed
  ///   (``Dataset``).
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

  /// The default manifest: `Datasets/datasets.json` in a folder or in one above it, or, of a program that is
  /// installed, `share/nearby/datasets.json`.
  ///
  /// - Parameter starts: The folders in which to start, in order.
  /// - Returns: Its path; `nil` when there is none.
  public static func find(from starts: [String]) -> String? {
    for start in starts {
      var folder = URL(filePath: start).standardizedFileURL.resolvingSymlinksInPath()
      while true {
        for place in ["Datasets", "share/nearby"] {
          let file = folder.appending(path: "\(place)/\(fileName)").path(percentEncoded: false)
          if FileManager.default.fileExists(atPath: file) { return file }
        }
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
  /// - Throws: When there is no data set of that name.
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
/// A list may come from an untrusted source, and its values reach programs and the file system.
/// Therefore names are plain words, paths stay below their folder, addresses are https, and a step
/// is an import into a new recording. A list with anything else is refused when it is read.
public struct Dataset: Sendable, Codable {
  /// Its name, which is also the name of its folder.
  public var name: String
  /// A description of its contents.
  public var holds: String
  /// Its licence.
  public var license: String
  /// The address of its web page.
  public var page: String
  /// Bytes of the recording; `nil` where nothing is fetched.
  public var bytes: Int?
  /// Its folder beside the manifest, when it comes with the package.
  public var included: String?
  /// The Python package that holds its files.
  public var pip: Package?
  /// The files from which the recording is made; none if a person must fetch them.
  public var files: [File]?
  /// The commands that make the recording: `{files}` is the folder of the files, `{work}` a folder
  /// for intermediate files, `{output}` the recording.
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
    /// Another address of it; https only.
    public var address: String?
    /// The largest size that is fetched, bytes; a gigabyte when `nil`.
    public var bytes: Int?
    /// Its digest.
    public var sha256: ContentDigest

    /// Its name in the folder of files.
    public var name: String { String(member.split(separator: "/").last ?? "") }
  }
}

extension Dataset {
  /// A difference between a file of a recording and its expected content.
  public enum Difference: Sendable, Hashable {
    /// The file is missing.
    case missing(String)
    /// The file has other content.
    case changed(String)
  }

  /// Compares a recording with the digests.
  ///
  /// - Parameter folder: The recording.
  /// - Returns: The differences by file name; empty when there are none.
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
