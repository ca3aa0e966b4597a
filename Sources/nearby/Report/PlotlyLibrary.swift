// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyBatch
import NearbyRecordings

/// Locates or fetches the plotting library of a page.
///
/// It is not part of this program, since it is 4.8 MB of another project. The sources are, in
/// order: a file that the caller names, the file that `NEARBY_PLOTLY` names, the one that was installed
/// with the program, the cache, and the package `plotly` on PyPI, which contains it. pip checks that package against ``checksum``; the
/// cache file appears whole or not at all.
struct PlotlyLibrary {
  /// The version of the package, which contains plotly.js 4.1.1.
  static let version = "7.1.0"
  /// The SHA-256 of that version's wheel.
  static let checksum = "dbb7fa18afce40d0a8e80d1bf162eceb3faa0ce5a77fe741ad09a74cf78f53f3"
  /// The environment variable that names a file.
  static let variable = "NEARBY_PLOTLY"

  private let named: String?
  private let environment: [String: String]

  init(
    named: String?, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.named = named
    self.environment = environment.filter { !$0.value.isEmpty }
  }

  /// The library's text.
  ///
  /// - Parameter say: Called with a message when something is fetched.
  /// - Returns: The text, UTF-8.
  /// - Throws: ``CommandFailure`` with the remedy when there is none.
  func contents(say: (String) -> Void) throws -> [UInt8] {
    if let named { return try read(named, source: "--plotly") }
    if let path = environment[Self.variable] { return try read(path, source: Self.variable) }
    if let installed = Self.installedFile { return try read(installed, source: "the installation") }
    let cached = try cacheFile()
    if !FileManager.default.fileExists(atPath: cached.path) {
      say("fetching plotly \(Self.version) from PyPI, once, for \(cached.path)")
      try fetch(to: cached)
    }
    return try read(cached.path, source: "the cache")
  }

  /// The largest accepted library, bytes; it has 4.6 MB.
  private static let largestLibrary = 64 << 20

  private func read(_ path: String, source: String) throws -> [UInt8] {
    let bytes: [UInt8]
    do {
      bytes = try FileBytes.read(path: path, limit: Self.largestLibrary)
    } catch {
      throw CommandFailure(
        .badData, "\(path): \(source) names a file that cannot be read; name a plotly.min.js")
    }
    // The library's first lines contain its name. Any other file would give an empty page.
    guard bytes.prefix(400).contains(Array("plotly.js".utf8)) else {
      throw CommandFailure(
        .badData, "\(path): \(source) names a file that is not plotly.js; name a plotly.min.js")
    }
    return bytes
  }

  /// The library beside the program: `share/nearby` where the program is in `bin`.
  private static var installedFile: String? {
    guard let program = ProgramFile.path else { return nil }
    let path = URL(fileURLWithPath: program).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "share/nearby/plotly-\(version).min.js").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  private func cacheFile() throws -> URL {
    let base: String
    if let cache = environment["XDG_CACHE_HOME"] {
      base = cache
    } else if let home = environment["HOME"] {
      base = home + "/.cache"
    } else {
      throw failure("neither XDG_CACHE_HOME nor HOME says where to keep it")
    }
    return URL(fileURLWithPath: base).appending(path: "nearby/plotly-\(Self.version).min.js")
  }

  // MARK: Fetching

  private func fetch(to file: URL) throws {
    let manager = FileManager.default
    let folder = manager.temporaryDirectory.appending(path: "nearby-\(UUID())")
    defer { try? manager.removeItem(at: folder) }
    do {
      try manager.createDirectory(at: folder, withIntermediateDirectories: true)
      // pip checks a checksum only with a file of requirements.
      try Data("plotly==\(Self.version) --hash=sha256:\(Self.checksum)\n".utf8)
        .write(to: folder.appending(path: "requirements.txt"))
      try manager.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw failure(error.systemReason)
    }
    try python(
      [
        "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--only-binary", ":all:", "--require-hashes", "--requirement", "requirements.txt",
      ],
      in: folder)
    try python(["-c", Self.unpacking, "plotly.min.js"], in: folder)
    do {
      var library = try AtomicFile(path: file.path)
      try library.write(
        Array(Data(contentsOf: folder.appending(path: "plotly.min.js"))))
      try library.commit()
    } catch {
      throw failure("\(error)")
    }
  }

  /// A wheel is a zip file, which Python can read.
  private static let unpacking = """
    import glob, pathlib, sys, zipfile
    wheel = zipfile.ZipFile(glob.glob("*.whl")[0])
    pathlib.Path(sys.argv[1]).write_bytes(wheel.read("plotly/package_data/plotly.min.js"))
    """

  private func python(_ arguments: [String], in folder: URL) throws {
    let log = folder.appending(path: "errors.txt")
    let end: ChildProcess.End
    do throws(ChildProcess.Failure) {
      end = try ChildProcess(
        ["/usr/bin/env", "python3"] + arguments, in: folder.path, environment: environment,
        output: .none, errors: .file(log.path)
      ).wait()
    } catch {
      throw failure("python3 cannot be started (\(error.reason))")
    }
    if end == .exit(status: 0) { return }
    let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    let lines = said.split(whereSeparator: \.isNewline)
    let last = lines.last { $0.hasPrefix("ERROR:") } ?? lines.last ?? "no message"
    throw failure(String(last.prefix(200)))
  }

  private func failure(_ reason: String) -> CommandFailure {
    CommandFailure(
      .badData,
      """
      the plotting library is missing and could not be fetched: \(reason); \
      with a network run "pip download --no-deps plotly==\(Self.version)", unzip \
      plotly/package_data/plotly.min.js of it and name that with --plotly or \(Self.variable)
      """)
  }
}
