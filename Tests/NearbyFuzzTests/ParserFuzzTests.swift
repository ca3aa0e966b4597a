// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyImports
import NearbyRecordings
import NearbySimulation
import NearbyTestSupport
import Testing

extension FuzzTests {
  /// Damaged files of every format that is read.
  @Suite("ParserFuzzTests")
  struct ParserFuzzTests {
    @Test("damage is an error in one line, never a trap")
    func damage() throws {
      let formats = try ForeignFormat.all()
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "nearby-fuzz-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      FuzzCampaign("ParserFuzzTests", share: 0.25).run { one in
        var generator = SeededGenerator(seed: one.seed, stream: 0xF4)
        // The formats take turns, so that a minute covers all of them equally.
        let format = formats[Int(one.seed % UInt64(formats.count))]
        var files = generator.one(of: format.files)
        let damaged = generator.one(of: files.keys.sorted())
        let other = generator.one(of: format.files).values.first ?? []
        let isDamaged = one.seed >= UInt64(formats.count)
        if isDamaged { Damage.apply(to: &files[damaged, default: []], with: other, &generator) }
        try Self.write(files, to: folder)
        do {
          try format.read(folder)
          one.count("\(format.name) read")
        } catch let error as RecordingError {
          one.count("\(format.name) refused")
          one.expect(isDamaged, "\(format.name) are refused: \(error)")
          one.expect(!error.file.isEmpty && !error.remedy.isEmpty, "\(format.name): \(error)")
          one.expect(!error.description.contains("\n"), "\(format.name): \(error)")
          if format.namesFiles {
            one.expect(error.file == damaged, "\(damaged) was damaged: \(error)")
          }
        } catch {
          // Tokens and receipts are refused with Foundation's errors.
          one.count("\(format.name) refused")
          one.expect(isDamaged, "\(format.name) are refused: \(error)")
        }
      }.expectNothingWrong()
    }

    /// Writes files to an empty folder.
    private static func write(_ files: [String: [UInt8]], to folder: String) throws {
      let manager = FileManager.default
      try? manager.removeItem(atPath: folder)
      for (name, bytes) in files {
        let file = URL(filePath: "\(folder)/\(name)")
        try manager.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
      }
    }
  }
}
