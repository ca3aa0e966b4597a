// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyBatch
import NearbyRecordings
import Testing

@Suite("Content digest")
struct ContentDigestTests {
  @Test(
    "digests are those of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func knownAnswers(text: String, digits: String) {
    #expect(ContentDigest(text.utf8).description == digits)
  }

  @Test("a file of many pieces has the digest of its bytes")
  func file() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "digest-\(UUID())")
    defer { try? FileManager.default.removeItem(at: url) }
    let bytes = (0..<2_500_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try Data(bytes).write(to: url)
    #expect(try ContentDigest(ofFile: url.path) == ContentDigest(bytes))
    try Data(bytes.dropLast()).write(to: url)
    #expect(try ContentDigest(ofFile: url.path) != ContentDigest(bytes))
  }

  @Test("a file that is missing and one that is a folder are errors with their path")
  func unreadable() throws {
    let folder = FileManager.default.temporaryDirectory.path
    for path in [folder + "/there-is-no-such-file", folder] {
      let error = #expect(throws: RecordingError.self) { try ContentDigest(ofFile: path) }
      #expect(error?.file == path)
    }
  }
}
