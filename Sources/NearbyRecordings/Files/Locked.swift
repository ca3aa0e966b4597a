// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A value that one thread at a time may use.
///
/// It has Foundation's lock, which the thread sanitizer knows. The standard library's `Mutex` waits by
/// system calls of its own on Linux, so that the sanitizer takes every use of its value for a race.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  /// Makes a lock around a value.
  package init(_ value: sending Value) { self.value = value }

  /// Calls a function with the value while no other thread has it.
  ///
  /// - Parameter body: The function; it may change the value.
  /// - Returns: What it returns.
  /// - Throws: What it throws.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
