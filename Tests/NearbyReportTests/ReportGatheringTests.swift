// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyEvaluation
import NearbyRecordings
import NearbyReport
import Testing

@Suite("Gathering a report")
struct ReportGatheringTests {
  private let result = HandMadeResult()

  private func track(_ report: Report) throws -> ReportTrack {
    try #require(report.runs.first?.tracks.first)
  }

  private func expectNear(
    _ values: [Double], _ expected: [Double], _ what: String, tolerance: Double = 1e-9
  ) {
    #expect(values.count == expected.count, "\(what)")
    for (value, number) in zip(values, expected) {
      #expect(
        value.isNaN ? number.isNaN : abs(value - number) <= tolerance,
        "\(what): \(values), not \(expected)")
    }
  }

  @Test func columnsAreThoseOfTheRows() throws {
    let moments = try track(Report.gather(results: [result.write()])).moments
    expectNear(moments[.time], [0, 1, 2, 3], "time")
    expectNear(moments[.x], [7.3, 7.1, 7.1, 7.2], "x")
    expectNear(moments[.y], [22, 22, 22, 22], "y")
    expectNear(moments[.z], [1.5, 1.5, 1.5, 1.5], "z")
    expectNear(moments[.status], [1, 2, 2, 1], "status")
    expectNear(moments[.distance], [3.6, 3.6, 3.6, 3.6], "distance")
    expectNear(moments[.distanceSigma], [0.2, 0.2, 0.2, 0.2], "sigma")
    expectNear(moments[.measuredDistance], [3.64, 3.64, 3.64, 3.64], "measured")
    expectNear(moments[.hypotheses], [3, 3, 3, 3], "hypotheses")
    let degrees = -0.9 * 180 / Double.pi
    expectNear(moments[.angle], [degrees, degrees, degrees, degrees], "angle")
  }

  /// diag(0.04, 0.01, 0.09): from above half axes 0.2 along x and 0.1, from the side 0.3 along z, 0.2.
  @Test func ellipsesAreThoseOfTheCovariance() throws {
    let moments = try track(Report.gather(results: [result.write()])).moments
    expectNear([moments[.aboveMajor][0], moments[.aboveMinor][0]], [0.2, 0.1], "above")
    expectNear([moments[.aboveAngle][0]], [0], "above")
    expectNear([moments[.sideMajor][0], moments[.sideMinor][0]], [0.3, 0.2], "side")
    expectNear([moments[.sideAngle][0]], [90], "side")
    expectNear([moments[.sigma][0]], [0.374165738677394], "total")
  }

  @Test func truthIsCarriedIntoTheOdometrysWorld() throws {
    let moments = try track(Report.gather(results: [result.write()])).moments
    expectNear(moments[.trueX], [7, 7, 7, 7], "x")
    expectNear(moments[.trueY], [22, 22, 22, 22], "y")
    expectNear(moments[.trueZ], [1.5, 1.5, 1.5, 1.5], "z")
    expectNear([moments[.trueDistance][0]], [(4 + 9 + 0.25).squareRoot()], "distance")
    // Three to the left of two ahead: -atan2(3, 2).
    expectNear([moments[.trueAngle][0]], [-56.309932474020215], "angle")
    // Errors of 0.3, 0.1, 0.1 and 0.2 m along x, 0.04 m² there, three degrees of freedom.
    expectNear(moments[.nees], [0.75, 1 / 12.0, 1 / 12.0, 1 / 3.0], "NEES")
  }

  @Test func planarErrorsHaveTwoDegreesOfFreedom() throws {
    result.isPlanar = true
    let track = try track(Report.gather(results: [result.write()]))
    #expect(track.facts.positionComponents == 2)
    expectNear(track.moments[.nees], [1.125, 0.125, 0.125, 0.5], "NEES")
    expectNear([track.moments[.sigma][0]], [0.223606797749979], "sigma")
  }

  /// Only a row that was used whole has a NIS of known degrees of freedom: the second, of three.
  @Test func innovationsAreOverTheirComponents() throws {
    let track = try track(Report.gather(results: [result.write()]))
    expectNear(track.moments[.nis], [.nan, 2 / 3.0, .nan, .nan], "NIS")
    #expect(track.facts.components == 3)
  }

  @Test func factsAndStretches() throws {
    let track = try track(Report.gather(results: [result.write()]))
    #expect(track.facts.samples == 4)
    #expect(track.facts.partial == 1)
    #expect(track.facts.rejected == 1)
    #expect(track.facts.secondsToConverge == 1)
    #expect(track.facts.losses == 1)
    expectNear(track.timeline[.time], [0, 1, 3], "times")
    expectNear(track.timeline[.status], [1, 2, 1], "status")
    // Bits 2 and 4 of the reasons in their order.
    expectNear(track.timeline[.reasons], [20, 0, 4], "reasons")
    // Bins of 0.05 s over four seconds.
    #expect(track.outcomes.count == 81)
    #expect(track.outcomes[.all].reduce(0, +) == 2)
    #expect(track.outcomes[.partial][40] == 1)
    #expect(track.outcomes[.rejected][60] == 1)
  }

  @Test(arguments: [(7, true), (6, false)])
  func aGapIsMarked(lastTime: Int, isGap: Bool) throws {
    // Five seconds or more after the row before.
    result.times = [0, 1, 2, lastTime]
    let gaps = try track(Report.gather(results: [result.write()])).moments[.gap]
    expectNear(gaps, [.nan, .nan, .nan, isGap ? 1 : .nan], "gaps")
  }

  @Test func figuresAreThoseOfTheEvaluation() throws {
    let path = try result.write()
    let evaluation = try #require(try ResultEvaluation.evaluate(folder: path).first)
    let figures = try #require(try track(Report.gather(results: [path])).figures)
    #expect(figures.errors == evaluation.peers.first?.figures.errors)
  }

  @Test func withoutTruthThereAreNoErrors() throws {
    result.hasTruth = false
    let report = try Report.gather(results: [result.write()])
    #expect(report.recordings.map(\.hasTruth) == [false])
    let track = try track(report)
    #expect(track.figures == nil)
    #expect(track.moments[.trueX].allSatisfy { $0.isNaN })
    #expect(track.moments[.nees].allSatisfy { $0.isNaN })
  }

  @Test func theDeviceGoesWhereItsOdometryGoes() throws {
    let recording = try #require(try Report.gather(results: [result.write()]).recordings.first)
    #expect(recording.axes == ["x", "y", "z"])
    #expect(recording.duration == 4)
    expectNear(recording.device[.time], [0, 1, 2, 3, 4], "time")
    expectNear([recording.device[.x][2], recording.device[.y][2]], [10, 20], "place")
    // It faces the map's y.
    expectNear([recording.device[.heading][2]], [0], "heading", tolerance: 1e-6)
  }

  @Test func whatWasSmoothedIsARunOfItsOwn() throws {
    result.smoothed = Array(repeating: "7,22,1.5,0.01,0,0,0.01,0,0.01", count: 4)
    let report = try Report.gather(results: [result.write()])
    #expect(report.runs.map(\.name) == ["result", "result smoothed"])
    #expect(report.runs.map(\.recording) == [0, 0])
    let track = try #require(report.runs.last?.tracks.first)
    #expect(track.timeline.count == 0)
    #expect(track.outcomes.count == 0)
    expectNear(track.moments[.nees], [0, 0, 0, 0], "NEES")
  }

  // MARK: Paths and places

  @Test func whatIsEstimatedIsLaidBesideTheCorrectedPath() throws {
    let path = try result.write()
    // C T⁻¹ of the poses (10, 20, 1) with a quarter turn to (1, 2, 4) with a half turn.
    let poses = (0...4).map { "\($0) 1 2 4 0 0 1 0\n" }.joined()
    try Data(poses.utf8).write(to: URL(fileURLWithPath: "\(path)/trajectory-corrected.txt"))
    let report = try Report.gather(results: [path])
    let run = try #require(report.runs.first)
    expectNear(run.correctedPath[.x], [1, 1, 1, 1, 1], "path")
    let moments = try track(report).moments
    // (7.3, 22, 1.5) is (-2.7, 2, 0.5) from the device; turned by a quarter that is (-2, -2.7, 0.5).
    expectNear([moments[.x][0], moments[.y][0], moments[.z][0]], [-1, -0.7, 4.5], "place")
    expectNear(
      [moments[.xx][0], moments[.yy][0], moments[.zz][0]], [0.01, 0.04, 0.09], "covariance")
    expectNear([moments[.trueX][0], moments[.trueY][0]], [-1, -1], "truth")
    // Errors do not depend on the frame.
    expectNear(moments[.nees], [0.75, 1 / 12.0, 1 / 12.0, 1 / 3.0], "NEES", tolerance: 1e-6)
  }

  @Test func placesOfAnAmbiguousPeerAreKept() throws {
    let path = try result.write()
    let rows = [
      "0,keys,0,0.75,7,22,1.5,0.04,0,0,0.01,0,0.09", "0,keys,1,0.25,7,18,1.5,0.04,0,0,0.01,0,0.09",
      "3,keys,0,0.6,7,22,1.5,0.04,0,0,0.01,0,0.09", "3,keys,1,0.4,7,22,-1.5,0.04,0,0,0.01,0,0.09",
    ]
    let text = ([ModesWriter.columns.joined(separator: ",")] + rows).joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/modes.csv"))
    let track = try track(Report.gather(results: [path]))
    expectNear(track.modes[.time], [0, 0, 3, 3], "time")
    expectNear(track.modes[.weight], [0.75, 0.25, 0.6, 0.4], "weight")
    expectNear(track.modes[.y], [22, 18, 22, 22], "y")
    expectNear(track.modes[.zz], [0.09, 0.09, 0.09, 0.09], "covariance")
  }

  @Test func aPeerThatIsLostAtTheEndIsNotCalledFound() throws {
    let sentence = try track(Report.gather(results: [result.write()])).sentence
    #expect(sentence == "found after 1.0 s, not certain at the end: 3.60 m away, within ±0.37 m")
  }

  @Test func aPeerThatIsFoundHasItsPlace() throws {
    result.rows[3] = HandMadeResult.row(meanX: 7.2, nis: "")
    let sentence = try track(Report.gather(results: [result.write()])).sentence
    #expect(sentence == "found after 1.0 s, 3.60 m away, within ±0.37 m")
  }

  @Test func aPeerThatWasNeverFoundSaysWhereItMayBe() throws {
    result.rows = Array(
      repeating: HandMadeResult.row(
        status: "notConverged,insufficientVerticalSweep", meanX: 7, nis: ""), count: 4)
    let path = try result.write()
    #expect(try track(Report.gather(results: [path])).sentence == "not found")
    let rows = (0..<2).map { "3,keys,\($0),0.5,7,22,\(1.5 - 3 * Double($0)),0.1,0,0,0.1,0,0.1\n" }
    let text = ModesWriter.columns.joined(separator: ",") + "\n" + rows.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/modes.csv"))
    #expect(
      try track(Report.gather(results: [path])).sentence
        == "not found: it may be at 2 heights, the likeliest with 50 %")
  }

  @Test func resultsOfOneRecordingShareIt() throws {
    let paths = [try result.write(name: "a/out"), try result.write(name: "b/out")]
    let report = try Report.gather(results: paths)
    #expect(report.recordings.count == 1)
    #expect(report.runs.map(\.name) == ["a/out", "b/out"])
  }

  @Test func aResultThatIsNotThereIsNamed() throws {
    let path = result.path("nothing")
    #expect {
      try Report.gather(results: [path])
    } throws: {
      ($0 as? RecordingError)?.file == "\(path)/summary.json"
    }
  }
}
