// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A thread that no other one waits for.
package enum BackgroundThread {
  /// Starts a thread.
  ///
  /// - Parameter body: What it runs.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let status = unsafe pthread_create(
      &thread, nil,
      { work in
        unsafe work.map { unsafe Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    if status == 0 { pthread_detach(thread) } else { unsafe work.release() }
  }

  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
