// SPDX-License-Identifier: Apache-2.0
import NearbyLive
import Testing

@Suite("Who may ask the page's server")
struct LiveAccessTests {
  private let access = LiveAccess(token: "0123456789abcdef0123456789abcdef", port: 4711)
  private let here = "127.0.0.1:4711"

  private func verdict(
    _ path: String, method: String = "GET", host: String? = "127.0.0.1:4711", origin: String? = nil
  ) -> LiveAccess.Verdict {
    access.verdict(method: method, path: path, host: host, origin: origin)
  }

  @Test func thePageIsGrantedWithItsToken() {
    let root = "/\(access.token)/"
    #expect(verdict(root) == .granted(.file(.page)))
    #expect(verdict(root + "live.js") == .granted(.file(.script)))
    #expect(verdict(root + "map.js") == .granted(.file(.map)))
    #expect(verdict(root + "events") == .granted(.events))
    #expect(
      verdict(root + "input", method: "POST", origin: "http://\(here)") == .granted(.input))
    #expect(
      verdict(
        root + "save", method: "POST", host: "localhost:4711", origin: "http://localhost:4711")
        == .granted(.save))
  }

  @Test(arguments: ["/", "", "live.js", "/live.js", "/0123456789abcdef0123456789abcdee/", "//"])
  func withoutTheTokenAllIsForbidden(path: String) { #expect(verdict(path) == .forbidden) }

  @Test func otherHostsAndOriginsAreForbidden() {
    let root = "/\(access.token)/"
    for host in [nil, "example.org", "127.0.0.1", "127.0.0.1:80", "example.org:4711"] {
      #expect(verdict(root, host: host) == .forbidden)
    }
    for origin in ["http://example.org", "null", "https://\(here)", "http://localhost:4711", ""] {
      #expect(verdict(root + "input", method: "POST", origin: origin) == .forbidden)
    }
  }

  @Test func whatThereIsNotIsUnknown() {
    let root = "/\(access.token)/"
    for path in ["report.js", "../live.js", "live.js/", "events/"] {
      #expect(verdict(root + path) == .unknown)
    }
    #expect(verdict("/\(access.token)") == .unknown)
    #expect(verdict(root + "input") == .wrongMethod)
    #expect(verdict(root, method: "POST") == .wrongMethod)
  }

  @Test func tokensDiffer() {
    let tokens = Set((0..<100).map { _ in LiveAccess.newToken() })
    #expect(tokens.count == 100)
    #expect(tokens.allSatisfy { $0.count == 32 })
  }

  @Test func everyFileOfThePageHoldsSomething() {
    for file in LivePage.File.allCases { #expect(file.bytes.count > 500, "\(file)") }
  }
}
