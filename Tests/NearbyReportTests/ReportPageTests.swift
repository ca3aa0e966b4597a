// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import NearbyReport
import Testing

@Suite("The page of a report")
struct ReportPageTests {
  private static let library = Array(
    "/* plotly.js */ var end = \"</script>\", other = \"</SCRIPT \";".utf8)
  private static let strange = #"</script><b>&"é'\ %{x} <!--"#
  private let result = HandMadeResult()

  private func page(_ name: String = "page.html") throws -> String {
    let report = try Report.gather(results: [result.write()])
    let path = result.path(name)
    var file = try AtomicFile(path: path)
    try ReportPage(report, plotly: Self.library).write(to: &file)
    try file.commit()
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The contents of the page's data element.
  private func data(_ page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: #"<script type="application/json" id="data">"#))
    let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
    let text = page[start.upperBound..<end.lowerBound]
    return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
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
    // Three scripts, and no other element of that kind opened or closed.
    #expect(page.components(separatedBy: "</script").count == 4)
    #expect(page.components(separatedBy: "<script").count == 4)
    #expect(!page.contains("<b>"))
    let data = try data(page)
    let recordings = try #require(data["recordings"] as? [[String: Any]])
    #expect(recordings.first?["name"] as? String == Self.strange)
    let tracks = try #require(
      (data["runs"] as? [[String: Any]])?.first?["tracks"] as? [[String: Any]])
    #expect(tracks.first?["peer"] as? String == Self.strange)
  }

  @Test func theLibraryCannotEndItsScript() {
    let script = String(decoding: ReportPage.script(Self.library), as: UTF8.self)
    #expect(script.contains(#""<\/script>""#))
    #expect(script.contains(#""<\/SCRIPT ""#))
    #expect(ReportPage.script(Array("a</b".utf8)) == Array("a</b".utf8))
  }

  @Test func theDataAreTheModel() throws {
    let data = try data(page())
    #expect(data["format"] as? String == "nearby-report")
    #expect(data["version"] as? Int == Report.formatVersion)
    let track = try #require(
      ((data["runs"] as? [[String: Any]])?.first?["tracks"] as? [[String: Any]])?.first)
    let moments = try #require(track["moments"] as? [String: Any])
    #expect(moments["x"] as? [Double] == [7.3, 7.1, 7.1, 7.2])
    #expect((moments["nis"] as? [Any])?.map { $0 as? Double } == [nil, 0.6667, nil, nil])
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
    for text in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
      #expect(!page.contains(text), "\(text)")
    }
  }
}
