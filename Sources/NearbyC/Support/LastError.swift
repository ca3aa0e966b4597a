// SPDX-License-Identifier: Apache-2.0
public import CNearby
import Foundation

/// The newest failure of a thread, as texts of C.
@safe
final class LastError {
  private let record: nearby_error

  private init(_ failure: Failure) {
    unsafe record = nearby_error(
      status: failure.status, line: Int32(clamping: failure.line),
      column: Int32(clamping: failure.column), text: CText.copy(failure.text),
      code: CText.copy(failure.code), message: CText.copy(failure.message),
      file: CText.copy(failure.file), remedy: CText.copy(failure.remedy))
  }

  deinit {
    unsafe [record.text, record.code, record.message, record.file, record.remedy].forEach {
      unsafe free(UnsafeMutablePointer(mutating: $0))
    }
  }

  private static let key = "org.nearby.c.last-error"

  /// Keeps a failure until the thread's next one.
  static func keep(_ failure: Failure) {
    Thread.current.threadDictionary[key] = LastError(failure)
  }

  /// The newest failure of this thread.
  static var record: nearby_error? {
    unsafe (Thread.current.threadDictionary[key] as? LastError)?.record
  }
}

/// Texts in C's memory.
enum CText {
  /// A copy of a text, ended by zero; to be freed by `free`.
  static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? { unsafe strdup(text) }

  /// Of constant texts, which stay.
  nonisolated(unsafe) static let empty = unsafe UnsafePointer(copy(""))
}

/// Gives the newest failure of the calling thread.
@c @implementation
public func nearby_last_error(_ error: UnsafeMutablePointer<nearby_error>?) -> nearby_status {
  guard let error = unsafe error else { return NEARBY_INVALID_ARGUMENT }
  let none = unsafe nearby_error(
    status: NEARBY_OK, line: 0, column: 0, text: CText.empty, code: CText.empty,
    message: CText.empty, file: CText.empty, remedy: CText.empty)
  unsafe error.pointee = LastError.record ?? none
  return NEARBY_OK
}

/// Frees a text that the library made.
@c @implementation
public func nearby_text_free(_ text: UnsafeMutablePointer<CChar>?) { unsafe free(text) }
