// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyRecordings

@Suite("Text from files in messages")
struct SingleLineTextTests {
  @Test(
    "What a terminal takes for a command is escaped",
    arguments: [
      ("plain", "plain"), ("Küche 東 🙂", "Küche 東 🙂"), ("a\nb", "a\\u{a}b"),
      ("\u{1B}[2J", "\\u{1b}[2J"), ("\u{9B}2J", "\\u{9b}2J"), ("a\u{7F}", "a\\u{7f}"),
      ("\u{202E}txt", "\\u{202e}txt"), ("a\u{2028}b", "a\\u{2028}b"), ("a\r\nb", "a\\u{d}\\u{a}b"),
    ])
  func escapes(text: String, shown: String) {
    #expect(text.printable() == shown)
  }

  @Test("Tables keep line ends, and no other control characters")
  func lines() {
    #expect("a\tb\nc\u{1B}\r".printable(keepsLines: true) == "a\tb\nc\\u{1b}\\u{d}")
  }

  @Test("Long texts lose their middle")
  func limit() {
    let long = String(repeating: "a", count: 300) + String(repeating: "z", count: 300)
    let shown = long.printable(limit: 101)
    #expect(shown.count == 101)
    #expect(shown.hasPrefix("aaa") && shown.contains("…") && shown.hasSuffix("zzz"))
    #expect("short".printable(limit: 101) == "short")
  }

  @Test("Errors and warnings are one line of bounded length for any file")
  func messages() {
    let hostile = "\u{1B}]0;gone\u{7}\n" + String(repeating: "x", count: 5000)
    let error = RecordingError(
      .malformedField, hostile, file: "a\nb", line: 3, remedy: hostile)
    let warning = RecordingWarning(.unknownKey, hostile, file: "a\nb")
    for text in [error.description, warning.description] {
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
      #expect(text.hasPrefix("a\\u{a}b"))
      #expect(text.utf8.count < 1200)
    }
  }
}
