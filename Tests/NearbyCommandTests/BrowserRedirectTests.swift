// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

@testable import nearby

@Suite("The file that leads a browser to the page")
struct BrowserRedirectTests {
  private static let address = "http://127.0.0.1:4711/0123456789abcdef0123456789abcdef/"

  private static func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test(arguments: ["XDG_RUNTIME_DIR", "TMPDIR"])
  func onlyThisUserMayReadIt(variable: String) throws {
    let folder = try TemporaryFolder()
    let file = try BrowserRedirect.file(
      to: Self.address, environment: [variable: folder.url.path])
    #expect(file.path.hasPrefix(folder.url.path + "/"))
    #expect(file.path.hasSuffix(".html"))
    #expect(try Self.mode(file.path) == 0o600)
    let around = URL(fileURLWithPath: file.path).deletingLastPathComponent().path
    #expect(try Self.mode(around) == 0o700)
    let text = try String(contentsOfFile: file.path, encoding: .utf8)
    #expect(text.contains("content=\"0; url=\(Self.address)\""))
    file.remove()
    #expect(try folder.contents().isEmpty)
    file.remove()
  }

  @Test func aRuntimeFolderThatIsNoneIsPassedOver() throws {
    let folder = try TemporaryFolder()
    for none in ["/nowhere/at/all", "relative", ""] {
      let file = try BrowserRedirect.file(
        to: Self.address, environment: ["XDG_RUNTIME_DIR": none, "TMPDIR": folder.url.path])
      #expect(file.path.hasPrefix(folder.url.path + "/"))
      file.remove()
    }
    #expect(throws: RecordingError.self) {
      try BrowserRedirect.file(to: Self.address, environment: ["TMPDIR": "/nowhere/at/all"])
    }
  }

  @Test func twoAreTwoFiles() throws {
    let folder = try TemporaryFolder()
    let files = try (0..<2).map { _ in
      try BrowserRedirect.file(
        to: Self.address, environment: ["XDG_RUNTIME_DIR": folder.url.path])
    }
    #expect(files[0].path != files[1].path)
    files[0].remove()
    #expect(FileManager.default.fileExists(atPath: files[1].path))
    files[1].remove()
  }

  @Test func anAddressIsOnlyText() {
    let page = BrowserRedirect.page(to: "http://a/\"><script>alert('1')</script>&")
    #expect(!page.contains("<script>"))
    #expect(
      page.contains("http://a/&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"))
  }
}
