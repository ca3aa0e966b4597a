// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import NearbyReport
import NearbyTestSupport
import Testing

@Suite("The page of a report")
struct ReportPageTests {
  private static let strange = #"</script><b>&"é'\ %{x} <!--"#
  private let result = HandMadeResult()

  private func page(_ name: String = "page.html") throws -> String {
    let report = try Report.gather(results: [result.write()])
    let path = result.path(name)
    var file = try AtomicFile(path: path)
    try ReportPage(report).write(to: &file)
    try file.commit()
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func everyPlaceholderIsFilled() throws {
    let page = try page()
    #expect(!page.contains("@@"))
    #expect(page.hasPrefix("<!doctype html>"))
    #expect(page.contains("<title>Nearby report: hand</title>"))
  }

  @Test func namesCannotBreakOut() throws {
    result.recordingName = Self.strange
    result.peer = Self.strange
    let page = try page()
    // Data, numbers, parts and script, and no other element of that kind opened or closed.
    #expect(page.components(separatedBy: "</script").count == 5)
    #expect(page.components(separatedBy: "<script").count == 5)
    #expect(!page.contains("<b>"))
    let data = try #require(ReportPageData(page: page))
    let recordings = try #require(data.root["recordings"] as? [[String: Any]])
    #expect(recordings.first?["name"] as? String == Self.strange)
    #expect(data.track()?["peer"] as? String == Self.strange)
  }

  @Test func theDataAreTheModel() throws {
    let data = try #require(ReportPageData(page: page()))
    #expect(data.root["format"] as? String == "nearby-report")
    #expect(data.root["version"] as? Int == Report.formatVersion)
    let moments = data.columns(data.track()?["moments"])
    for (shown, expected) in try zip(#require(moments["x"]), [7.3, 7.1, 7.1, 7.2]) {
      #expect(try abs(#require(shown) - expected) < 1e-5)
    }
    let innovations = try #require(moments["nis"])
    #expect(innovations.map { $0 == nil } == [true, false, true, true])
    #expect(try abs(#require(innovations[1]) - 2 / 3.0) < 1e-3)
    // Empty columns are left out.
    #expect(moments["nisMean"] == nil)
    #expect(Set(moments.keys).isSubset(of: Set(MomentColumn.allCases.map { "\($0)" })))
  }

  @Test func equalResultsGiveEqualPages() throws {
    #expect(try page("a.html") == page("b.html"))
  }

  @Test func nothingIsLoaded() throws {
    let page = try page()
    #expect(page.contains("default-src 'none'"))
    for text in ["src=", "href=\"http", "@import", "url(", "fetch(", "XMLHttpRequest"] {
      #expect(!page.contains(text), "\(text)")
    }
  }
}
