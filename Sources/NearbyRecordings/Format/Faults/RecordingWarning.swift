// SPDX-License-Identifier: Apache-2.0

/// Something odd in a recording that does not stop its reading.
public struct RecordingWarning: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The kinds of oddities.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
    /// A JSON key that the format does not know; ignored.
    case unknownKey
    /// A JSON key that is spelt as in the engine's settings; read.
    case otherSpelling
    /// A CSV column that the format does not know; ignored.
    case unknownColumn
    /// A pose with the stamp of the pose before it; skipped.
    case duplicateTimestamp
    /// A peer that the manifest, which lists peers, does not list; taken as stationary.
    case undeclaredPeer
  }

  /// The kind.
  public var kind: Kind
  /// The oddity, and how it was handled.
  public var message: String
  /// The file's name inside the recording.
  public var file: String
  /// The line, from 1.
  public var line: Int?
  /// The byte in the line, from 1.
  public var column: Int?

  /// Makes a warning.
  public init(
    _ kind: Kind, _ message: String, file: String, line: Int? = nil, column: Int? = nil
  ) {
    self.kind = kind
    self.message = message
    self.file = file
    self.line = line
    self.column = column
  }

  /// The place and the oddity in one line.
  public var description: String {
    let place = [line, column].compactMap(\.self).map { ":\($0)" }.joined()
    return "\(file.printable())\(place): \(message.printable(limit: RecordingError.longestMessage))"
  }
}
