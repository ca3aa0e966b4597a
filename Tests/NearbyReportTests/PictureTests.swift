// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

@testable import NearbyReport

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Still pictures")
struct PictureTests {
  private let result = HandMadeResult()

  private func svg(_ kind: PictureKind, smoothed: Bool = false) throws -> String {
    let path = try result.write()
    let report = try Report.gather(results: [path])
    let picture = Picture(
      of: report, run: smoothed ? 1 : 0, tracks: kind.isOfPeers ? [0] : [], kind: kind,
      paths: kind == .path ? try PicturePaths(result: path) : nil)
    return String(decoding: picture.svg.bytes, as: UTF8.self)
  }

  /// A picture of some of many peers, all of which have the rows of the first.
  private func svg(_ kind: PictureKind, of tracks: [Int], among count: Int) throws -> String {
    var report = try Report.gather(results: [result.write()])
    for number in 1..<count {
      var track = report.runs[0].tracks[0]
      track.peer = "peer \(number)"
      report.runs[0].tracks.append(track)
    }
    let picture = Picture(of: report, run: 0, tracks: tracks, kind: kind)
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
    (.path, ["raw", "true", "x (m)", "y (m)", "error (m)", "distance to the true path"]),
  ])
  func everyKindIsWellFormedAndLabelled(kind: PictureKind, labels: [String]) throws {
    let texts = try texts(svg(kind))
    for label in labels { #expect(texts.contains(label), "\(label) in \(texts)") }
  }

  @Test(arguments: PictureKind.allCases)
  func namesAreEscaped(kind: PictureKind) throws {
    if !kind.isOfPeers { result.recordingName = "<a & \"b\">\u{1}" }
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

  @Test(arguments: PictureKind.allCases.filter(\.isOfPeers))
  func severalPeersHaveTheirOwnColours(kind: PictureKind) throws {
    let both = try svg(kind, of: [0, 1], among: 2)
    #expect(both.contains("#0072b2") && both.contains("#d55e00"))
    let texts = try texts(both)
    #expect(texts.contains("keys") && texts.contains("peer 1"), "\(texts)")
    #expect(texts.contains { $0.hasSuffix("result: keys, peer 1") })
    // A peer keeps its colour where it is drawn alone.
    let second = try svg(kind, of: [1], among: 2)
    #expect(second.contains("#d55e00") && !second.contains("#0072b2"))
  }

  @Test func aLegendThatDoesNotFitIsCut() throws {
    let texts = try texts(svg(.distance, of: Array(0..<40), among: 40))
    #expect(texts.contains { $0.hasSuffix(" more") }, "\(texts)")
    #expect(texts.contains("hand, result: 40 peers"))
  }

  /// The device stands still, so that its path is a point; a corrected one that goes two metres further along
  /// x is off by a metre at both ends after the alignment.
  @Test func pathsAreComparedWithTheTruth() throws {
    let path = try result.write()
    let poses = (0...4).map { "\($0) \(10 + 0.5 * Double($0)) 20 1 0 0 0 1\n" }.joined()
    try Data(poses.utf8).write(to: URL(fileURLWithPath: path + "/trajectory-corrected.txt"))
    let report = try Report.gather(results: [path])
    let picture = Picture(
      of: report, run: 0, tracks: [], kind: .path, paths: try PicturePaths(result: path))
    let texts = try texts(String(decoding: picture.svg.bytes, as: UTF8.self))
    #expect(texts.contains("corrected") && !texts.contains("smoothed"))
    let paths = try PicturePaths(result: path).paths
    let corrected = try #require(paths.first { $0.kind == .corrected })
    for (error, expected) in zip(corrected.errors, [1, 0.5, 0, 0.5, 1]) {
      #expect(abs(error - expected) < 1e-9)
    }
    #expect(corrected.times == [0, 1, 2, 3, 4])
  }

  @Test func withoutTruthThePathIsShownFromTheSide() throws {
    result.hasTruth = false
    let texts = try texts(svg(.path))
    #expect(texts.contains("from the side") && !texts.contains("true"))
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
