// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A value that one thread at a time may use.
///
/// It has the system's lock, which the thread sanitizer knows. The standard library's `Mutex` waits by
/// system calls of its own on Linux, so that the sanitizer takes every use of its value for a race.
@safe
package final class Locked<Value>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  /// Makes a lock around a value.
  package init(_ value: sending Value) {
    self.value = value
    unsafe lock = .allocate(capacity: 1)
    unsafe lock.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(lock, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Calls a function with the value while no other thread has it.
  ///
  /// - Parameter body: The function; it may change the value.
  /// - Returns: What it returns.
  /// - Throws: What it throws.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return try body(&value)
  }
}
