// SPDX-License-Identifier: Apache-2.0
public import CNearby
import Glibc

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

  /// The place of a thread's newest failure, which is freed when the thread ends.
  private static let key = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { kept in
      unsafe kept.map { unsafe Unmanaged<LastError>.fromOpaque($0).release() }
    }
    return key
  }()

  /// Keeps a failure until the thread's next one.
  static func keep(_ failure: Failure) {
    let before = unsafe pthread_getspecific(key)
    let new = unsafe Unmanaged.passRetained(LastError(failure))
    if unsafe pthread_setspecific(key, new.toOpaque()) != 0 {
      // No memory is left for it, so the failure before stays.
      unsafe new.release()
    } else {
      unsafe before.map { unsafe Unmanaged<LastError>.fromOpaque($0).release() }
    }
  }

  /// The newest failure of this thread.
  static var record: nearby_error? {
    unsafe pthread_getspecific(key).map {
      unsafe Unmanaged<LastError>.fromOpaque($0).takeUnretainedValue().record
    }
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
