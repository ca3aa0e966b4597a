// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

/// Common rows are read in one pass, all others field by field.
///
/// The results must be the same.
@Suite("Ordinary rows")
struct OrdinaryRowTests {
  /// The result of reading a file, to the last bit.
  private struct Outcome: Equatable {
    var rows: [[String]] = []
    var peers: [String] = []
    var fault = ""
  }

  /// The tables with a fast path for common rows.
  enum Table: String, CaseIterable {
    case ranging, tracking
    case peers

    var required: [String] {
      switch self {
      case .ranging: ["timestamp", "peer", "distance", "azimuth", "elevation"]
      case .tracking: ["timestamp", "state"]
      case .peers: ["timestamp", "peer", "x", "y", "z"]
      }
    }

    var optional: [String] {
      switch self {
      case .ranging:
        [
          "distance_sigma", "azimuth_sigma", "elevation_sigma", "azimuth_fom", "elevation_fom",
          "rssi", "nlos", "height_difference", "height_difference_sigma",
        ]
      case .tracking: ["reason", "ambient_intensity"]
      case .peers: []
      }
    }
  }

  private func outcome(
    _ table: Table, _ text: String, in recording: TemporaryRecording
  ) throws -> Outcome {
    try recording.write(text, to: table.rawValue + ".csv")
    let path = "\(recording.path)/\(table.rawValue).csv"
    var outcome = Outcome()
    do throws(RecordingError) {
      switch table {
      case .ranging: try readRanging(path, into: &outcome)
      case .tracking: try readTracking(path, into: &outcome)
      case .peers: try readPeers(path, into: &outcome)
      }
    } catch {
      // The additional column changes only the number of fields.
      outcome.fault =
        error.code == .wrongFieldCount
        ? "\(error.code) \(error.line ?? 0) \(error.remedy)" : error.description
    }
    return outcome
  }

  private func readTracking(_ path: String, into outcome: inout Outcome) throws(RecordingError) {
    var reader = try TrackingReader(path: path)
    while let row = try reader.next() {
      outcome.rows.append([
        "\(row.sample.timestamp.nanoseconds)", "\(row.sample.quality)",
        "\(row.sample.ambientIntensityLumens?.bitPattern ?? 1)", "\(row.line)",
      ])
    }
  }

  private func readPeers(_ path: String, into outcome: inout Outcome) throws(RecordingError) {
    var reader = try TruthPeersReader(path: path)
    while let row = try reader.next() {
      let place = row.positionInWorld
      outcome.rows.append(
        [place.x, place.y, place.z].map { "\($0.bitPattern)" } + [
          "\(row.timestamp.nanoseconds)", "\(Array(row.peer.utf8))", "\(row.line)",
        ])
    }
  }

  private func readRanging(_ path: String, into outcome: inout Outcome) throws(RecordingError) {
    var reader = try RangingReader(path: path)
    while let row = try reader.next() {
      let values = [
        row.distance, row.azimuthRadians, row.elevationRadians, row.distanceSigma,
        row.azimuthSigmaRadians, row.elevationSigmaRadians, row.azimuthFigureOfMerit,
        row.elevationFigureOfMerit, row.rssi, row.heightDifference, row.heightDifferenceSigma,
      ]
      // The bits of NaN are not compared, since they are unspecified.
      let bits = values.map { $0.map { $0.isNaN ? "nan" : "\($0.bitPattern)" } ?? "" }
      outcome.rows.append(
        bits + [
          "\(row.timestamp.nanoseconds)", "\(Array(row.peer.utf8))", "\(row.peerIndex)",
          "\(String(describing: row.isNonLineOfSight))", "\(row.line)",
        ])
    }
    outcome.peers = reader.peers
  }

  private static let oddNumbers = [
    "nan", "-inf", "+1.5", ".5", "5.", "-", "+", ".", "1e5", "-2.5E-3", "4.9e-324", "5e-324",
    "0.000000000000000000000000000123", "9007199254740993", "9007199254740993.5", "00.25", "-0",
    "18446744073709551615", "18446744073709551616", "0.30000000000000004", "1.2345678901234567890",
    "12345678.12345678", "1.1234567812345678", "123456789012.12345678", "0x1", "1 2", "1_0", "--1",
    " 2.5", "2.5 ", "\t2.5\t", "\"2.5\"", "\" 2.5\"", "\"2.5", "2\"5", "\"2.5\"x", "1.2.3", "é",
  ]
  private static let names = [
    "a", "b", "ab", "a-long-name-1", "a-long-name-2", "a-long-n", "é", "1.5", "\"a,b\"", "\" a\"",
    "\"a \"", "\"\"\"a\"", "\"a\"\"b\"", "a\"\"b", "\"a\"", " a ", "#", "-",
  ]

  private func field(_ column: String, _ index: Int, _ random: inout SeededGenerator) -> String {
    let isOdd = UInt8.random(in: 0..<30, using: &random) == 0
    let decimals = Int.random(in: 0...10, using: &random)
    switch column {
    case "timestamp":
      if isOdd { return Self.oddNumbers.randomElement(using: &random) ?? "" }
      return String(format: "%.*f", decimals, Double(index) * 0.2 + 1)
    case "peer":
      // Some are what a name in quotes holds, and another name or none without them.
      let odd = ["", " ", "\"\"", "\"a", "a,b", " a", "a ", "\"\"a"]
      if isOdd { return odd.randomElement(using: &random) ?? "" }
      return Self.names.randomElement(using: &random) ?? ""
    case "nlos":
      let usual = ["", "0", "1"], others = ["true", "False", "00", "1.0", "-0", "2", "0 ", "\"1\""]
      return (isOdd ? others : usual).randomElement(using: &random) ?? ""
    case "state":
      let usual = ["normal", "limited", "notAvailable"]
      let others = ["", "Normal", "\"normal\"", "\"limited\"", " normal", "limited ", "x", "norma"]
      return (isOdd ? others : usual).randomElement(using: &random) ?? ""
    case "reason":
      let usual = ["", "initializing", "relocalizing", "excessiveMotion", "unspecified"]
      let others = [" ", "x", "\"initializing\"", "initializin", "\"\"", "initializing "]
      return (isOdd ? others : usual).randomElement(using: &random) ?? ""
    case "ambient_intensity":
      if isOdd {
        return (Self.oddNumbers + ["-1", "1e9", "1000000001"]).randomElement(using: &random) ?? ""
      }
      return Bool.random(using: &random) ? "" : "\(index * 250).\(decimals)"
    case "x", "y", "z":
      if isOdd {
        return (Self.oddNumbers + ["", "1e7", "10000001"]).randomElement(using: &random) ?? ""
      }
      return String(format: "%.*f", decimals, Double.random(in: -100...100, using: &random))
    default:
      if isOdd { return Self.oddNumbers.randomElement(using: &random) ?? "" }
      if Bool.random(using: &random) { return "" }
      let size = pow(10, Double.random(in: -4...9, using: &random))
      return String(format: "%.*f", decimals, Double.random(in: -size...size, using: &random))
    }
  }

  /// An additional column that is not a number forces every row to be read field by field.
  @Test("are read as field by field", arguments: Table.allCases, 1...8 as ClosedRange<UInt64>)
  func rowsAreReadAsFieldByField(table: Table, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let recording = try TemporaryRecording()
    var (readWhole, faulty) = (0, 0)
    for file in 0..<Self.files {
      var columns = table.required
      columns += table.optional.filter { _ in Bool.random(using: &random) }
      if Bool.random(using: &random) { columns.shuffle(using: &random) }
      let ending = Bool.random(using: &random) ? "\n" : "\r\n"
      var plain = columns.joined(separator: ",")
      var longer = plain + ",note"
      for index in 0..<Int.random(in: 1...9, using: &random) {
        var fields = columns.map { field($0, index, &random) }
        switch UInt8.random(in: 0..<60, using: &random) {
        case 0: fields.removeLast()
        case 1: fields.append("")
        case 2: fields = ["  "]
        default: break
        }
        let line = fields.joined(separator: ",")
        plain += ending + line
        longer += ending + (line == "  " ? line : line + ",x")
      }
      if Bool.random(using: &random) {
        plain += ending
        longer += ending
      }
      let (one, other) = (
        try outcome(table, plain, in: recording), try outcome(table, longer, in: recording)
      )
      if one != other {
        Issue.record("seed \(seed), file \(file): \(plain)\n\(one)\n\(other)")
        return
      }
      if one.fault.isEmpty { readWhole += 1 } else { faulty += 1 }
    }
    // Both kinds of files must have occurred.
    #expect(readWhole > Self.files / 10 && faulty > Self.files / 10, "\(readWhole) \(faulty)")
  }

  #if DEBUG
    private static let files = 100
  #else
    private static let files = 600
  #endif

  /// The file ends anywhere in a line.
  @Test func cutRowsAreReadAsFieldByField() throws {
    let recording = try TemporaryRecording()
    let row = "1403636579.758555584,anchor-12,12.345678,-0.25,,1"
    let header = "timestamp,peer,distance,azimuth,elevation,nlos"
    for length in 0...row.utf8.count {
      let rows = length == 0 ? [row] : [row, String(row.prefix(length))]
      let plain = header + rows.map { "\n" + $0 }.joined()
      let longer = header + ",note" + rows.map { "\n" + $0 + ",x" }.joined()
      #expect(
        try outcome(.ranging, plain, in: recording)
          == outcome(.ranging, longer, in: recording), "cut to \(length)")
    }
  }

  @Test("Optionals are kept, and equality and hashes are those of the parts")
  func rowsAreEqualInTheirParts() {
    let stamp = Timestamp(nanoseconds: 1)
    var row = RangingRow(timestamp: stamp, peer: "a")
    let empty = row
    #expect(row.distance == nil && row.rssi == nil && row.isNonLineOfSight == nil)
    row.distance = 0
    row.isNonLineOfSight = false
    #expect(row.distance == 0 && row.azimuthRadians == nil && row.isNonLineOfSight == false)
    #expect(row != empty && row.hashValue != empty.hashValue)
    var negative = row
    negative.distance = -0.0
    #expect(row == negative && row.hashValue == negative.hashValue)
    row.distance = .nan
    #expect(row != row)
    row.distance = nil
    row.isNonLineOfSight = nil
    #expect(row == empty && row.hashValue == empty.hashValue)
  }
}
