// SPDX-License-Identifier: Apache-2.0

/// A file of text that is to be read: from the disk, or from memory that already holds it.
struct TextFile: Sendable {
  /// Its path.
  var path: String
  /// Its name, for errors.
  var name: String
  /// Its bytes; `nil` when they are streamed from the disk.
  var bytes: [UInt8]?

  /// Refers to a file on the disk.
  init(path: String, name: String) {
    self.path = path
    self.name = name
    bytes = MemoryPlace(path)?.bytes
  }
}
