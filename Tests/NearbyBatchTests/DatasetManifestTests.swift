// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import NearbyRecordings
import Testing

@Suite("List of data sets")
final class DatasetManifestTests {
  private let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "datasets-\(UUID())")
    try FileManager.default.createDirectory(
      at: root.appending(path: "Datasets"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  private func write(_ text: String) throws -> String {
    let file = root.appending(path: "Datasets/\(DatasetManifest.fileName)")
    try Data(text.utf8).write(to: file)
    return file.path
  }

  /// The package's own.
  private static let own = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Datasets/datasets.json").standardizedFileURL.path

  @Test(
    "the package's list can be read, names are unique, and included recordings match their digests")
  func own() throws {
    let manifest = try DatasetManifest(path: Self.own)
    #expect(Set(manifest.datasets.map(\.name)).count == manifest.datasets.count)
    var included = 0
    for dataset in manifest.datasets {
      for file in dataset.files ?? [] { #expect(file.sha256.description.count == 64) }
      #expect(dataset.files == nil || dataset.recording != nil, "\(dataset.name)")
      guard let folder = manifest.includedFolder(of: dataset) else { continue }
      included += 1
      #expect(try dataset.differences(in: folder) == [])
    }
    #expect(included == 2)
  }

  @Test("the list is found from a folder below it, and from the second start")
  func find() throws {
    let path = try write("{}")
    let deep = root.appending(path: "a/b/c")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    let real = URL(filePath: path).resolvingSymlinksInPath().path
    #expect(DatasetManifest.find(from: [deep.path]) == real)
    #expect(DatasetManifest.find(from: ["/", deep.path]) == real)
    #expect(DatasetManifest.find(from: ["/"]) == nil)
  }

  @Test(
    "an invalid list is an error that names the file and the location",
    arguments: [
      ("[]", "cannot be read"), ("{", "cannot be read"),
      (#"{ "format": "other", "version": 1, "datasets": [] }"#, "no list of data sets"),
      (#"{ "format": "nearby-datasets", "version": 2, "datasets": [] }"#, "no list of data sets"),
      (
        #"{ "format": "nearby-datasets", "version": 1, "datasets": [ { "name": 3 } ] }"#,
        "datasets.[0].name"
      ),
    ])
  func malformed(text: String, words: String) throws {
    let path = try write(text)
    let error = #expect(throws: RecordingError.self) { try DatasetManifest(path: path) }
    #expect(error?.file == path)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("missing and changed files are distinguished; an unknown name lists the known ones")
  func differences() throws {
    let manifest = try DatasetManifest(path: Self.own)
    let dataset = try manifest.dataset(named: "plaza2")
    let source = try #require(manifest.includedFolder(of: dataset))
    let copy = root.appending(path: "plaza2")
    try FileManager.default.copyItem(at: URL(filePath: source), to: copy)
    #expect(try dataset.differences(in: copy.path) == [])
    try Data("x".utf8).write(to: copy.appending(path: "ranging.csv"))
    try FileManager.default.removeItem(at: copy.appending(path: "truth/peers.csv"))
    #expect(
      try dataset.differences(in: copy.path) == [
        .changed("ranging.csv"), .missing("truth/peers.csv"),
      ])
    let error = #expect(throws: RecordingError.self) { try manifest.dataset(named: "plaza3") }
    #expect(error?.remedy.contains("plaza1, plaza2") == true)
  }

  /// A valid entry, parts of which are replaced.
  private static func list(
    name: String = "walk", included: String = "walk", pip: String = "walks",
    version: String = "1.0",
    extra: String = "", member: String = "data/poses.txt",
    address: String = "https://example.org/poses.txt", bytes: Int = 100,
    step: [String] = ["import", "tum", "{files}/poses.txt", "--output", "{output}"],
    recording: String = "truth/peers.csv"
  ) throws -> String {
    let digest = ContentDigest("".utf8).description
    let entry: [String: Any] = [
      "name": name, "holds": "", "license": "", "page": "", "included": included,
      "pip": ["name": pip, "version": version, "isSource": extra == "source"],
      "files": [
        ["member": member, "address": address, "bytes": bytes, "sha256": digest],
        ["member": extra.isEmpty ? "b/other" : extra, "sha256": digest],
      ], "steps": [step], "recording": [recording: digest],
    ]
    let list: [String: Any] = ["format": "nearby-datasets", "version": 1, "datasets": [entry]]
    return String(decoding: try JSONSerialization.data(withJSONObject: list), as: UTF8.self)
  }

  @Test("a list with only allowed values is read")
  func harmless() throws {
    for text in [
      try Self.list(), try Self.list(pip: "Walks_of-2.people", version: "1!2.0rc1.post2.dev3"),
      try Self.list(step: [
        "import", "table", "{work}/a b/c", "--offset", "-0.5", "--output", "{work}/d",
      ]),
    ] {
      #expect(throws: Never.self) { try DatasetManifest(path: try write(text)) }
    }
  }

  @Test(
    "names that are options, folders or commands are refused",
    arguments: ["", "-q", "..", ".hidden", "a/b", "/a", "a\n", "a b", "ä"])
  func names(name: String) throws { try expectRefused(Self.list(name: name), "its name") }

  @Test(
    "packages that are no name and version are refused, and sources without a digest",
    arguments: [
      ("--index-url=https://evil", "1.0", ""), ("-r", "1.0", ""), ("a @ file:///x", "1.0", ""),
      ("./a", "1.0", ""), ("a[b]", "1.0", ""), ("a-", "1.0", ""), ("", "1.0", ""),
      ("a", "1.0 --pre", ""), ("a", "*", ""), ("a", "1.0.zip", ""), ("a", "1.0;x", ""),
      ("a", "", ""), ("a", "1.0+local", ""), ("a", "1.0", "source"),
    ])
  func packages(name: String, version: String, extra: String) throws {
    try expectRefused(
      Self.list(pip: name, version: version, extra: extra), extra.isEmpty ? "is no" : "sha256")
  }

  @Test(
    "paths that lead out of their folder are refused",
    arguments: [
      "", "/etc/passwd", "../a", "a/../../b", "a//b", "a/", "./a", "-o", "a/-o", "a/.bashrc",
      "a\\b", "a\u{1b}b",
    ])
  func paths(path: String) throws {
    try expectRefused(Self.list(included: path), "leads elsewhere")
    try expectRefused(Self.list(member: path), "leads elsewhere")
    try expectRefused(Self.list(recording: path), "leads elsewhere")
  }

  @Test(
    "addresses that are not https are refused",
    arguments: [
      "", "file:///etc/passwd", "http://example.org/a", "ftp://example.org/a", "--output=/tmp/a",
      "-K/tmp/a", "https://", "https:///a", "https://-a/b", "https://example.org/a b",
      "https://example.org/a\nb", "example.org/a", "HTTPS:/a",
    ])
  func addresses(address: String) throws {
    try expectRefused(Self.list(address: address), "is no https address")
  }

  @Test(
    "steps that do more than import into the recording are refused",
    arguments: [
      [], ["import"], ["batch", "{files}", "--output", "{output}"],
      ["import", "tum", "{files}/a"], ["import", "tum", "{files}/a", "--output", "a"],
      ["import", "tum", "{files}/a", "--output", "/a"], ["import", "tum", "{files}/a", "--output"],
      ["import", "tum", "{files}/a", "--output", "{output}/../a"],
      ["import", "tum", "{files}/a", "--output", "{work}/../../a"],
      ["import", "tum", "{files}/a", "--output=a"], ["import", "tum", "{files}/a", "-oa"],
      ["import", "tum", "{files}/a", "-o", "a", "--output", "{output}"],
      ["import", "tum", "{files}/a", "--output", "{output}", "--output", "a"],
      ["import", "tum", "{files}/a", "--output", "{output}", "--overwrite"],
      ["import", "tum", "/etc/passwd", "--output", "{output}"],
      ["import", "tum", "{files}/../a", "--output", "{output}"],
      ["import", "tum", "{files}/a", "--truth=../a", "--output", "{output}"],
      ["import", "tum", "{files}/a\u{7}", "--output", "{output}"],
    ])
  func steps(step: [String]) throws { try expectRefused(Self.list(step: step), "step") }

  @Test("files that are too large or of one name are refused")
  func files() throws {
    try expectRefused(Self.list(bytes: 1 << 31), "larger than")
    try expectRefused(Self.list(bytes: -1), "larger than")
    try expectRefused(Self.list(extra: "b/Poses.txt"), "one name")
  }

  private func expectRefused(_ text: String, _ words: String) throws {
    let path = try write(text)
    let error = #expect(throws: RecordingError.self) { try DatasetManifest(path: path) }
    #expect(error?.file == path)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
