// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

/// Checks that README and sources agree.
///
/// `make test-dependent` builds and runs the package itself.
@Suite("README")
struct DependentPackageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test func theExampleIsTheProgramThatIsBuilt() throws {
    let readme = try text("README.md")
    let program = try text("Tests/DependentPackage/Sources/dependent/main.swift")
    #expect(readme.contains("```swift\n\(program)```"))
    #expect(program.split(separator: "\n", omittingEmptySubsequences: false).count <= 30)
    let arrays = try text("Tests/DependentPackage/Sources/arrays/main.swift")
    #expect(arrays.split(separator: "\n").count <= 60)
  }

  @Test func everyColumnIsExplained() throws {
    let page = try text("Sources/NearbyBatch/NearbyBatch.docc/CommandLine.md")
    for column in EstimateWriter.columns {
      let suffix = column.split(separator: "_").last.map { "`_\($0)`" } ?? ""
      #expect(page.contains("`\(column)`") || page.contains(suffix), "\(column)")
    }
  }

  /// Five minutes: what a page explains is linked.
  @Test func theReadmeIsAnIndex() throws {
    let readme = try text("README.md")
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    let links = readme.matches(of: /\]\((?<path>[^)#]+)/).map { String($0.output.path) }
    #expect(links.count > 20)
    for link in links {
      let path = Self.root.appending(path: link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(link)")
    }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: name), encoding: .utf8)
  }
}
