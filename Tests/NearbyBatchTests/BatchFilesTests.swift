// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEvaluation
import NearbyRecordings
import NearbyTestSupport
import Testing

@testable import NearbyBatch

@Suite("Files of a batch")
struct BatchFilesTests {
  private func text<Value: Codable>(ofFilled type: Value.Type) throws -> (Value, String) {
    let value = try filled(type)
    return (value, CanonicalJSON.text(of: value))
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  @Test("every property of receipt.json is written and comes back")
  func receipt() throws {
    let (receipt, text) = try text(ofFilled: BatchReceipt.self)
    #expect(try propertiesLost(in: text, of: receipt) == [])
    #expect(try read(BatchReceipt.self, text) == receipt)
  }

  @Test("every property of evaluation.json")
  func evaluation() throws {
    let (evaluation, text) = try text(ofFilled: ResultEvaluation.self)
    #expect(try propertiesLost(in: text, of: evaluation) == [])
    #expect(CanonicalJSON.text(of: try read(ResultEvaluation.self, text)) == text)
  }

  @Test("every property of what a worker is told and answers")
  func messages() throws {
    let (item, text) = try text(ofFilled: BatchItem.self)
    #expect(try propertiesLost(in: text, of: item) == [])
    #expect(try read(BatchItem.self, text) == item)
    let (answer, reply) = try self.text(ofFilled: BatchWorker.Answer.self)
    #expect(try propertiesLost(in: reply, of: answer) == [])
    #expect(CanonicalJSON.text(of: try read(BatchWorker.Answer.self, reply)) == reply)
  }
}
