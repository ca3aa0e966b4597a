// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyTestSupport
import Testing

@testable import NearbyRecordings

@Suite("Locks of files")
struct FileLockTests {
  @Test("those who change a file do so one after the other, and leave no lock")
  func oneAfterTheOther() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("count")
    try Data("0".utf8).write(to: URL(filePath: path))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<25 {
            let lock = FileLock(of: path)
            let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            let count = try #require(Int(text))
            try Data("\(count + 1)".utf8).write(to: URL(filePath: path), options: .atomic)
            withExtendedLifetime(lock) {}
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == "100")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["count"])
  }

  @Test("where nothing can be written beside it there is no lock, and no wait")
  func nowhere() throws {
    let (one, other) = (FileLock(of: "/proc/none/file"), FileLock(of: "/proc/none/file"))
    withExtendedLifetime((one, other)) {}
  }
}
