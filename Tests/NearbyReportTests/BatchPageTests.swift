// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyRecordings
import NearbyReport
import Testing

@Suite("The page of a batch")
struct BatchPageTests {
  private static func row(
    _ recording: String, error: Double?, found: Double? = 5, wrong: Double = 0
  ) -> String {
    func text(_ number: Double?) -> String { number.map { "\($0)" } ?? "null" }
    return """
      { "recording": "\(recording)", "group": "g<b>", "peer": "p", "sigma": 0.2, "nees": 1.5,
        "seconds_to_convergence": \(text(found)), "rmse_second_half": \(text(error)),
        "final_error": 0.1, "falsely_converged_share": \(wrong) }
      """
  }

  private func results(_ rows: [String]) throws -> BatchResults {
    let json = #"{ "rows": [\#(rows.joined(separator: ","))], "failures": [] }"#
    return try JSONDecoder().decode(BatchResults.self, from: Data(json.utf8))
  }

  @Test func confidentlyWrongComesFirstThenErrorThenNotFound() throws {
    let results = try results([
      Self.row("good", error: 0.1), Self.row("lost", error: nil, found: nil),
      Self.row("bad", error: 3), Self.row("wrong", error: 1, wrong: 0.1),
      Self.row("bad", error: 2), Self.row("unknown", error: nil),
    ])
    #expect(results.worstRecordings(10) == ["wrong", "bad", "good", "lost", "unknown"])
    #expect(results.worstRecordings(2) == ["wrong", "bad"])
  }

  @Test func namesCannotBreakOut() throws {
    let table = try results([Self.row("a", error: 0.5)])
    let path = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID()).html").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var file = try AtomicFile(path: path)
    try BatchPage([("</script>", table)], pages: ["a": "a.html"]).write(to: &file)
    try file.commit()
    let page = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    #expect(page.components("</script").count == 4)
    #expect(!page.contains("<b>"))
    #expect(!page.contains("@@"))
    #expect(page.contains(#""rmse_second_half":0.5,"#))
    #expect(page.contains(#""pages":{"a":"a.html"}"#))
  }

  @Test func aFolderWithoutABatchIsNamed() {
    #expect {
      try BatchResults(folder: "/nowhere")
    } throws: {
      ($0 as? RecordingError)?.file == "/nowhere/batch.json"
    }
  }
}

extension String {
  /// The parts between occurrences of a text.
  fileprivate func components(_ separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}
