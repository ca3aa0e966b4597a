// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyRecordings

/// Why a call failed: the status that it returns, and what `nearby_last_error` tells.
struct Failure: Error {
  var status: nearby_status
  /// The place, the fault and the remedy.
  var text: String
  var code: String
  var message: String
  var file = ""
  var line = 0
  var column = 0
  var remedy: String

  /// A failure of the caller's.
  init(_ status: nearby_status, code: String, _ message: String, remedy: String) {
    self.status = status
    self.code = code
    self.message = message
    self.remedy = remedy
    text = "\(message); \(remedy)"
  }

  /// A fault in a file, or in settings.
  init(_ error: RecordingError, _ status: nearby_status = NEARBY_INVALID_FILE) {
    self.status = status
    code = error.code.description
    message = error.message
    file = error.file
    line = error.line ?? 0
    column = error.column ?? 0
    remedy = error.remedy
    text = error.description
  }

  /// A run that was ended from another thread.
  static var interrupted: Failure {
    Failure(
      NEARBY_INTERRUPTED, code: "interrupted", "the call was interrupted",
      remedy: "the rows that it has taken stay; go on from there")
  }

  /// An argument that cannot be used.
  static func invalidArgument(_ message: String, remedy: String) -> Failure {
    Failure(NEARBY_INVALID_ARGUMENT, code: "invalidArgument", message, remedy: remedy)
  }
}

/// Runs the body of a function of the interface, and keeps what it throws for `nearby_last_error`.
@inline(__always)
func entry(_ body: () throws(Failure) -> Void) -> nearby_status {
  do {
    try body()
    return NEARBY_OK
  } catch {
    LastError.keep(error)
    return error.status
  }
}

/// Calls a function that reports faults of files.
@inline(__always)
func locating<Value>(
  _ status: nearby_status = NEARBY_INVALID_FILE, _ body: () throws(RecordingError) -> Value
) throws(Failure) -> Value {
  do { return try body() } catch { throw Failure(error, status) }
}
