// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation
import NearbyGeometry
import NearbyRecordings
import NearbyReport
import Testing

@Suite("The map's frame")
struct MapFrameTests {
  @Test(arguments: [WorldUp.y, .z])
  func aWorldWithZUpIsItsOwnMap(up: WorldUp) {
    let frames = FrameConvention(up: up, axes: .arkit)
    let onMap = MapFrame.vector(fromEngine: frames.engineWorldFromWorld.act(Vector3(1, 2, 3)))
    #expect((onMap - (up == .z ? Vector3(1, 2, 3) : Vector3(1, -3, 2))).length < 1e-12)
    #expect(MapFrame.axisNames(up: up) == (up == .z ? ["x", "y", "z"] : ["x", "−z", "y"]))
  }

  @Test func covariancesTurnAsVectorsDo() {
    let v = Vector3(1, -2, 0.5)
    let expected = SymmetricMatrix3(outer: MapFrame.vector(fromEngine: v))
    #expect(MapFrame.covariance(fromEngine: SymmetricMatrix3(outer: v)) == expected)
  }
}

@Suite("Moving χ²")
struct MovingChiSquareTests {
  @Test func theMeanIsOverTheLastFifty() throws {
    var moving = MovingChiSquare()
    var last: MovingChiSquare.Mean?
    for index in 0..<9 { #expect(moving.add(Double(index), degreesOfFreedom: 3) == nil) }
    for index in 9..<200 { last = moving.add(Double(index), degreesOfFreedom: 3) }
    let mean = try #require(last)
    // 150 to 199 over three degrees of freedom each.
    #expect(abs(mean.mean - 174.5 / 3) < 1e-9)
    let band = ChiSquare(degreesOfFreedom: 3).meanBand(count: 50, probability: 0.95)
    #expect(abs(mean.low - band.lowerBound / 3) < 1e-9)
    #expect(abs(mean.high - band.upperBound / 3) < 1e-9)
  }

  @Test func degreesOfFreedomMayDiffer() throws {
    var moving = MovingChiSquare()
    var last: MovingChiSquare.Mean?
    for index in 0..<10 { last = moving.add(2, degreesOfFreedom: index.isMultiple(of: 2) ? 1 : 3) }
    // Twenty in all over twenty.
    #expect(try #require(last).mean == 1)
    #expect(try #require(last).low < 1)
    #expect(try #require(last).high > 1)
  }
}

@Suite("Nice numbers")
struct NiceNumbersTests {
  @Test(arguments: [
    (0.9, 1.0), (1, 1), (1.1, 2), (2, 2), (2.1, 5), (5.1, 10), (0.2, 0.2), (0.03, 0.05),
    (1234, 2000),
  ])
  func theLeastThatIsNotBelow(number: Double, expected: Double) {
    #expect(abs(NiceNumbers.atLeast(number) - expected) < 1e-12 * expected)
  }

  @Test func ticksLieInTheirRange() {
    #expect(NiceNumbers.ticks(0...10, about: 5) == [0, 2, 4, 6, 8, 10])
    #expect(NiceNumbers.ticks(-0.25...0.31, about: 6) == [-0.2, -0.1, 0, 0.1, 0.2, 0.3])
    #expect(NiceNumbers.ticks(1...1, about: 5) == [1])
  }

  @Test func labelsAreShort() {
    #expect(ChartAxis.label(0.1 + 0.2) == "0.3")
    #expect(ChartAxis.label(-20) == "−20")
    let axis = ChartAxis("", 0.02...700, scale: .logarithmic)
    #expect(axis.ticks(about: 5).map(\.label) == ["0.1", "1", "10", "100"])
    #expect(abs(axis.share(of: (0.02 * 700).squareRoot()) - 0.5) < 1e-12)
  }
}

@Suite("JSON in a page")
struct JSONTextTests {
  @Test(arguments: [
    ("plain é ☃ 🛰", "plain é ☃ 🛰"), ("a\"b\\c", "a\\\"b\\\\c"),
    ("</script>", "\\u003c/script\\u003e"), ("<!--", "\\u003c!--"), ("&", "\\u0026"),
    ("\n\u{0}", "\\u000a\\u0000"), ("\u{2028}", "\\u2028"),
  ])
  func stringsAreSafeInAScript(string: String, expected: String) {
    #expect(JSONText.escaped(string) == expected)
  }

  @Test func numbersHaveTheirDecimals() {
    var json = JSONText()
    json.array([1, 0.123456, -2.5, .nan, .infinity]) { $0.value($1, decimals: 3) }
    #expect(String(decoding: json.text.bytes, as: UTF8.self) == "[1,0.123,-2.5,null,null]")
  }
}
