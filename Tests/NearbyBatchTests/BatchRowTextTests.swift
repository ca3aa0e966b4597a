// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import NearbyEvaluation
import NearbyRecordings
import Testing

@Suite("Rows of a batch as text")
struct BatchRowTextTests {
  @Test func theyAreThoseOfTheTable() async throws {
    let datasets = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Datasets").standardized
    let folder = datasets.appending(path: "plaza2").path
    let output = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: output) }
    _ = try await Batch(try BatchItem.find(in: [folder]), output: output.path).run()
    let table = try String(contentsOf: output.appending(path: "batch.csv"), encoding: .utf8)

    let recording = try RecordingReader(folder: folder)
    let calibrated = try RecordingCalibration(
      recording, .use, stated: recording.manifest.fusionConfiguration())
    let replay = try RecordingReplay(recording, configuration: calibrated.configuration)
    let summary = try replay.run { (_, _, _) throws(RecordingError) in }.summary
    #expect(BatchRow.header + BatchRow.lines(of: summary, id: "plaza2") == table)
  }
}
