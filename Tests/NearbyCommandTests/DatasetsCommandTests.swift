// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import Testing

@testable import nearby

/// Uses its own list and replacements of `curl` and `python3`, so that nothing is fetched over a
/// network.
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
    try stand(
      for: "curl",
      """
      while [ "$1" != -- ]; do
        [ "$1" = --output ] && output="$2"
        shift
      done
      case "$2" in
        https://example.org/endless) exec head -c 5000000 /dev/zero > "$output" ;;
        https://example.org/simple/walks/) exec cp "$FAKE/source/index" "$output" ;;
        https://example.org/*) exec cp "$FAKE/source/${2##*/}" "$output" ;;
      esac
      echo "no such page" >&2
      exit 22
      """)
    try stand(
      for: "python3",
      """
      case "$*" in
        "-m pip config get global.index-url") echo https://example.org/simple ;;
        "-m pip"*)
          echo "$PWD" > "$FAKE/pip-folder"
          cp "$FAKE"/source/*.whl . ;;
        *) PATH="$REAL_PATH" exec python3 "$@" ;;
      esac
      """)
  }

  /// Replaces the program of a name by a script, which first records its arguments.
  private func stand(for name: String, _ script: String) throws {
    let bin = folder.url.appending(path: "bin")
    try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
    let note = #"{ printf '[%s]' "$@"; echo; } >> "$FAKE/\#(name).log""#
    try Data("#!/bin/sh\n\(note)\n\(script)\n".utf8).write(to: bin.appending(path: name))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: bin.appending(path: name).path)
  }

  /// The arguments of each run of a program.
  private func calls(of name: String) -> [String] {
    let log = (try? folder.text(of: "\(name).log")) ?? ""
    return log.split(separator: "\n").map(String.init)
  }

  private static let hasPython = runs("python3", "-V")

  private static func runs(_ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Writes a list with one data set.
  private func list(
    digest: ContentDigest = ContentDigest(poses.utf8),
    address: String? = "https://example.org/poses.txt", pip: String? = nil, bytes: Int = 100_000,
    recording: [String: String] = [:]
  ) throws -> String {
    let address = address.map { "\"address\": \"\($0)\", " } ?? ""
    let pip = pip.map { "\"pip\": \($0), " } ?? ""
    let recording = recording.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ", ")
    let text = """
      { "format": "nearby-datasets", "version": 1, "datasets": [
        { "name": "steps", "holds": "three poses", "license": "none", "page": "https://example.org",
          \(pip) "files": [
            { "member": "data/poses.txt", \(address) "bytes": \(bytes), "sha256": "\(digest)" } ],
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
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try CommandLineTool.run(
      ["datasets"] + arguments,
      environment: [
        "PATH": "\(folder.path("bin")):\(path)", "REAL_PATH": path, "FAKE": folder.url.path,
        "PIP_INDEX_URL": "https://example.org/simple",
      ])
  }

  @Test func theListOfThePackageIsFoundAndPrinted() throws {
    let result = try datasets("list")
    #expect(result.exitCode == 0)
    #expect(result.output.hasPrefix("name") && result.output.contains("plaza2"))
  }

  @Test("an installed program has its list beside it")
  func installed() throws {
    for name in ["prefix/bin", "prefix/share/nearby"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: true)
    }
    let program = folder.url.appending(path: "prefix/bin/nearby")
    try FileManager.default.copyItem(at: CommandLineTool.executable, to: program)
    try Data(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Datasets/datasets.json")
    ).write(to: folder.url.appending(path: "prefix/share/nearby/datasets.json"))
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = program
    process.arguments = ["datasets", "list"]
    process.currentDirectoryURL = URL(filePath: "/")
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(output.contains("plaza2"))
  }

  @Test("without a link to its file a program is started again by its name")
  func startable() {
    #expect(ProgramFile.started("./nearby") == "./nearby")
    #expect(ProgramFile.started("sh", searchPath: "/nowhere:/bin") == "/bin/sh")
    #expect(ProgramFile.started("no-such-program", searchPath: "/bin") == "no-such-program")
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
      "get", "steps", "--into", into, "--manifest", list(address: "https://example.net/none"))
    #expect(gone.exitCode == 65 && gone.errors.contains("could not be fetched: curl"))
    let byHand = try datasets("get", "far", "--into", into, "--manifest", list())
    #expect(byHand.exitCode == 65 && byHand.errors.contains("https://example.org/far"))
    let none = try datasets("get", "near", "--into", into, "--manifest", list())
    #expect(none.exitCode == 65 && none.errors.contains("there are steps, far"))
    let absent = try datasets("verify", "steps", "--into", into, "--manifest", list())
    #expect(absent.exitCode == 65 && absent.errors.contains("nearby datasets get steps"))
    #expect(!folder.has("data/steps"))
  }

  @Test func curlIsToldToTakeNothingButTheFileAndHttps() throws {
    let list = try list(bytes: 4321)
    let made = try datasets("get", "steps", "--into", folder.path("data"), "--manifest", list)
    #expect(made.exitCode == 0, "\(made.errors)")
    let call = try #require(calls(of: "curl").first)
    #expect(calls(of: "curl").count == 1)
    #expect(call.hasSuffix("[--][https://example.org/poses.txt]"))
    for part in [
      "[--proto][=https]", "[--proto-redir][=https]", "[--max-filesize][4321]", "[--globoff]",
    ] {
      #expect(call.contains(part), "\(call)")
    }
  }

  @Test func aServerThatDoesNotKeepToTheSizeIsCutOff() throws {
    let list = try list(address: "https://example.org/endless")
    let result = try datasets("get", "steps", "--into", folder.path("data"), "--manifest", list)
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("larger than 100000 bytes"), "\(result.errors)")
  }

  @Test(arguments: [
    #"{ "name": "--index-url=https://evil.org", "version": "1", "isSource": false }"#,
    #"{ "name": "walks", "version": "1 --no-binary=walks", "isSource": false }"#,
    #"{ "name": "walks", "version": "1", "isSource": true }"#,
  ])
  func aHostileListRunsNoProgram(pip: String) throws {
    for list in [try list(pip: pip), try list(address: "file:///etc/passwd")] {
      let result = try datasets("get", "steps", "--into", folder.path("data"), "--manifest", list)
      #expect(result.exitCode == 65 && result.errors.contains("refused"), "\(result.errors)")
    }
    #expect(calls(of: "curl").isEmpty && calls(of: "python3").isEmpty)
  }

  /// Packs a folder with a source package; its `setup.py` leaves a trace when it is run.
  private func packSource(linksPoses: Bool = false) throws -> ContentDigest {
    let package = folder.url.appending(path: "walks-1.0/data")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    let poses = package.appending(path: "poses.txt")
    if linksPoses {
      try FileManager.default.createSymbolicLink(
        at: poses, withDestinationURL: folder.url.appending(path: "source/poses.txt"))
    } else {
      try Data(Self.poses.utf8).write(to: poses)
    }
    try Data("open('\(folder.path("was-run"))', 'w')\n".utf8).write(
      to: folder.url.appending(path: "walks-1.0/setup.py"))
    let archive = folder.path("source/walks-1.0.tar.gz")
    let pack = Process()
    pack.executableURL = URL(filePath: "/usr/bin/env")
    pack.arguments = ["tar", "-C", folder.path("walks-1.0"), "-czf", archive, "data", "setup.py"]
    try pack.run()
    pack.waitUntilExit()
    try Data("<a href=\"/files/walks-1.0.tar.gz#sha256=0\">walks</a>".utf8).write(
      to: folder.url.appending(path: "source/index"))
    return try ContentDigest(ofFile: archive)
  }

  private func getSource(_ digest: ContentDigest) throws -> CommandLineTool.Result {
    let list = try list(
      address: nil,
      pip: #"{ "name": "walks", "version": "1.0", "isSource": true, "sha256": "\#(digest)" }"#)
    return try datasets("get", "steps", "--into", folder.path("data"), "--manifest", list)
  }

  @Test(.enabled(if: DatasetsCommandTests.hasPython, "needs python3"))
  func aSourcePackageIsUnpackedAndNeverRun() throws {
    let made = try getSource(packSource())
    #expect(made.exitCode == 0, "\(made.errors)")
    #expect(folder.has("data/steps/trajectory.txt"))
    #expect(!folder.has("was-run"))
    #expect(calls(of: "python3").allSatisfy { !$0.contains("[download]") })
    #expect(calls(of: "curl").count == 2)
  }

  @Test func aSourcePackageOfAnotherDigestIsNotOpened() throws {
    _ = try packSource()
    let result = try getSource(ContentDigest("".utf8))
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("not the one that it was"), "\(result.errors)")
    #expect(calls(of: "python3").isEmpty)
  }

  @Test(.enabled(if: DatasetsCommandTests.hasPython, "needs python3"))
  func onlyRegularFilesAreTakenOutOfAnArchive() throws {
    let result = try getSource(packSource(linksPoses: true))
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("is no regular file"), "\(result.errors)")
  }

  @Test(.enabled(if: DatasetsCommandTests.hasPython, "needs python3"))
  func aWheelIsFetchedWithoutRunningAnything() throws {
    let pack = Process()
    pack.executableURL = URL(filePath: "/usr/bin/env")
    pack.arguments = [
      "python3", "-c",
      "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').write(sys.argv[2], 'data/poses.txt')",
      folder.path("source/walks-1.0-py3-none-any.whl"), folder.path("source/poses.txt"),
    ]
    try pack.run()
    pack.waitUntilExit()
    let list = try list(
      address: nil, pip: #"{ "name": "walks", "version": "1.0", "isSource": false }"#)
    let made = try datasets("get", "steps", "--into", folder.path("data"), "--manifest", list)
    #expect(made.exitCode == 0, "\(made.errors)")
    let call = try #require(calls(of: "python3").first)
    #expect(call.contains("[--no-deps][--only-binary=:all:]"))
    #expect(call.hasSuffix("[--][walks==1.0]"))
    // pip does not run in the current folder, where a file could be taken for a part of pip.
    let place = try folder.text(of: "pip-folder")
    #expect(place.hasSuffix("/archives\n"))
  }
}
