// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The page "Driving an app in CI" shows this package's files.
struct PageTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let page =
    "../../Sources/NearbyInteraction/NearbyInteraction.docc/DrivingAnAppInCI.md"

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.package.appending(path: path), encoding: .utf8)
  }

  @Test(
    "the page's code is that of the files",
    arguments: [
      "Sources/AppSessions/Finder.swift", "Tests/AppSessionsTests/FinderTests.swift",
      ".github/workflows/test.yml",
    ])
  func blocks(_ path: String) throws {
    let lines = try text(path).split(separator: "\n", omittingEmptySubsequences: false)
    // Without the line of the licence.
    let code = lines.drop { $0.hasPrefix("//") || $0.hasPrefix("#") }.joined(separator: "\n")
    #expect(try text(Self.page).contains("\n\(code)```\n"))
  }
}
