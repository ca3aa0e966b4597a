// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Decodes this package's own JSON files.
package enum JSONFile {
  /// Reads a value.
  ///
  /// - Parameters:
  ///   - type: The value's type.
  ///   - path: The file's path.
  ///   - remedy: What to do when the file holds something else.
  /// - Returns: The value.
  /// - Throws: When the file is missing, too large or cannot be read, or holds something else.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, path: String, remedy: String
  ) throws(RecordingError) -> Value {
    let bytes = try FileBytes.read(path: path)
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      let reason = (error as? DecodingError).map(words) ?? "\(error)"
      throw RecordingError(
        .malformedManifest, "it cannot be read (\(reason))", file: path, remedy: remedy)
    }
  }

  private static func words(for error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
      return path.isEmpty ? context.debugDescription : path.joined(separator: ".")
    }
    return switch error {
    case .keyNotFound(let key, let context): "\(place(context)) lacks \(key.stringValue)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      place(context)
    @unknown default: "\(error)"
    }
  }
}
