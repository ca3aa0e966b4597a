// SPDX-License-Identifier: Apache-2.0
import CNearby
import Foundation
import NearbyC
import Testing

@Suite("C: results and simulation")
struct ResultCallTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Datasets/plaza2").standardized.path

  /// A text of the library's as Swift's.
  private func taken(_ text: UnsafeMutablePointer<CChar>?) -> String {
    defer { nearby_text_free(text) }
    return text.map { String(cString: $0) } ?? ""
  }

  @Test func rowsOfABatchBelongToItsHeader() {
    var recording: OpaquePointer?
    _ = nearby_recording_open(Self.folder, &recording)
    defer { _ = nearby_recording_destroy(recording) }
    let table = ArrowTable()
    var text: UnsafeMutablePointer<CChar>?
    _ = nearby_recording_run(recording, nil, &table.schema, &table.array, &text)
    let summary = taken(text)
    #expect(nearby_batch_rows(nil, nil, &text) == NEARBY_OK)
    let columns = taken(text).split(separator: ",", omittingEmptySubsequences: false)
    #expect(nearby_batch_rows("walks/a, b", summary, &text) == NEARBY_OK)
    let lines = taken(text).split(separator: "\n")
    #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("\"walks/a, b\",walks,beacon-") })
    let fields = lines[0].dropFirst("\"walks/a, b\"".count)
      .split(separator: ",", omittingEmptySubsequences: false)
    #expect(fields.count == columns.count, "the quoted name counts as the empty field before it")
    #expect(nearby_batch_rows("a", "{}", &text) == NEARBY_INVALID_ARGUMENT)
  }

  @Test func simulatedTablesBelongTogether() {
    let tables = [NEARBY_TABLE_POSES, NEARBY_TABLE_RANGING, NEARBY_TABLE_TRACKING].map { kind in
      let table = ArrowTable()
      #expect(
        nearby_simulate("indoor", nil, 5, 2, kind, &table.schema, &table.array, nil) == NEARBY_OK)
      return table
    }
    #expect(tables[0].rows > 500 && tables[1].rows > 100)
    #expect(Set(tables[1].words("peer").compactMap(\.self)) == ["peer1", "peer2"])
    #expect(tables[1].metadata("true_x") == ["unit", "m"])
    #expect(tables[1].numbers("distance_is_fault").contains { $0 == 1 })
    let again = ArrowTable()
    _ = nearby_simulate(
      "indoor", nil, 5, 2, NEARBY_TABLE_RANGING, &again.schema, &again.array, nil)
    #expect(again.contents == tables[1].contents)
  }

  @Test(
    arguments: [
      ("nowhere", nil, 1, NEARBY_TABLE_POSES), ("find", nil, 1001, NEARBY_TABLE_POSES),
      ("find", nil, -1, NEARBY_TABLE_POSES), ("find", nil, 1, NEARBY_TABLE_TRUE_PEERS),
      ("find", "{\"radio\": {\"rangeNoise\": -1}}", 1, NEARBY_TABLE_POSES),
      ("find", "{\"radio\": 1}", 1, NEARBY_TABLE_POSES),
    ] as [(String, String?, Int32, nearby_table)])
  func whatCannotBeSimulatedIsRefused(
    scenario: String, settings: String?, peers: Int32, kind: nearby_table
  ) {
    let table = ArrowTable()
    let status = nearby_simulate(
      scenario, settings, 1, peers, kind, &table.schema, &table.array, nil)
    #expect(
      status == (settings == nil ? NEARBY_INVALID_ARGUMENT : NEARBY_INVALID_CONFIGURATION))
    #expect(table.schema.release == nil)
  }
}
