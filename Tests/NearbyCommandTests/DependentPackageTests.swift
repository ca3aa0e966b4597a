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
  }

  @Test func everyColumnIsExplained() throws {
    let readme = try text("README.md")
    for column in EstimateWriter.columns {
      let suffix = column.split(separator: "_").last.map { "`_\($0)`" } ?? ""
      #expect(readme.contains("`\(column)`") || readme.contains(suffix), "\(column)")
    }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: name), encoding: .utf8)
  }
}
