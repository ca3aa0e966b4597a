// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import NearbyReport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Still pictures")
struct PictureTests {
  private let result = HandMadeResult()

  private func svg(_ kind: PictureKind, smoothed: Bool = false) throws -> String {
    let report = try Report.gather(results: [result.write()])
    let picture = Picture(of: report, run: smoothed ? 1 : 0, track: 0, kind: kind)
    return String(decoding: picture.svg.bytes, as: UTF8.self)
  }

  /// The texts of the picture's elements, if it is XML.
  private func texts(_ svg: String) throws -> [String] {
    let delegate = TextCollector()
    let parser = XMLParser(data: Data(svg.utf8))
    parser.delegate = delegate
    try #require(parser.parse(), "\(String(describing: parser.parserError))")
    return delegate.texts
  }

  private final class TextCollector: NSObject, XMLParserDelegate {
    var texts: [String] = []
    private var current = ""

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) { current = "" }

    func parser(_ parser: XMLParser, foundCharacters string: String) { current += string }

    func parser(
      _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
      qualifiedName: String?
    ) {
      if !current.isEmpty { texts.append(current) }
      current = ""
    }
  }

  @Test(arguments: [
    (PictureKind.map, ["x (m)", "y (m)", "z (m)", "from above", "from the side", "truth"]),
    (.distance, ["distance (m)", "time (s)", "error (m)", "published", "1 σ", "measured"]),
    (.angle, ["horizontal angle (°)", "error (°)"]),
    (.nis, ["NIS / n", "95 % of samples, n = 3"]),
    (.timeline, ["converged", "not converged", "insufficientMovement"]),
  ])
  func everyKindIsWellFormedAndLabelled(kind: PictureKind, labels: [String]) throws {
    let texts = try texts(svg(kind))
    for label in labels { #expect(texts.contains(label), "\(label) in \(texts)") }
  }

  @Test(arguments: PictureKind.allCases)
  func namesAreEscaped(kind: PictureKind) throws {
    result.peer = "<a & \"b\">\u{1}"
    let texts = try texts(svg(kind))
    #expect(texts.contains { $0.contains("<a & \"b\">\u{FFFD}") })
  }

  @Test(arguments: PictureKind.allCases)
  func numbersAreNumbers(kind: PictureKind) throws {
    result.hasTruth = kind != .angle
    let svg = try svg(kind)
    #expect(!svg.contains("nan"))
    #expect(!svg.contains("inf"))
    #expect(try svg == self.svg(kind))
  }

  @Test func withoutTruthThereIsNoError() throws {
    result.hasTruth = false
    #expect(try !texts(svg(.distance)).contains("published minus true"))
  }

  @Test func curvesAreBrokenAtGaps() throws {
    func pieces() throws -> [Int] {
      try svg(.distance).components(separatedBy: "<path d=\"").filter {
        $0.contains("stroke-width=\"1.8\"")
      }
      .map { path in path.prefix { $0 != "\"" }.count { $0 == "M" } }
    }
    // The distance and, below, its error.
    #expect(try pieces() == [1, 1])
    result.times = [0, 1, 12, 13]
    #expect(try pieces() == [2, 2])
  }

  /// The two half axes of the ellipse from above are drawn in the proportion 2 to 1.
  @Test func aMetreIsAsLongBothWays() throws {
    result.rows = [HandMadeResult.row(meanX: 7, nis: "")]
    let svg = try svg(.map)
    let start = try #require(svg.range(of: "clip-path=\"url(#above)\""))
    let pieces = svg[start.upperBound...].components(separatedBy: "<path d=\"")
      .filter { $0.contains("fill-opacity=\"0.2\"") }
    let path = try #require(pieces.first?.split(separator: "Z").first)
    let points = path.dropFirst().split(separator: "L").map { pair in
      pair.split(separator: " ").compactMap { Double($0) }
    }
    #expect(points.count == 72)
    let (xs, ys) = (points.map { $0[0] }, points.map { $0[1] })
    let width = try #require(xs.max()) - #require(xs.min())
    let height = try #require(ys.max()) - #require(ys.min())
    #expect(abs(width / height - 2) < 0.05)
  }
}
