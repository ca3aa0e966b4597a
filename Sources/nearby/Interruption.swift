// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyRecordings

/// Ends the program on Ctrl-C or a termination signal, and removes unfinished files.
enum Interruption {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  /// The writing end of the pipe through which the signal handler wakes the waiting thread.
  nonisolated(unsafe) private static var pipe: CInt = -1

  /// Installs the handlers; called once, at the start.
  static func prepare() {
    var ends: (reading: CInt, writing: CInt) = (-1, -1)
    let isMade = unsafe withUnsafeMutableBytes(of: &ends) {
      unsafe Glibc.pipe($0.baseAddress?.assumingMemoryBound(to: CInt.self)) == 0
    }
    guard isMade else { return }
    for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    unsafe pipe = ends.writing
    for number in signals {
      // A handler, because child processes would inherit a blocked signal.
      let before = signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        // A signal handler may do little more than this; the thread does the rest.
        _ = unsafe write(Interruption.pipe, &byte, 1)
      }
      // A signal that the caller ignores stays ignored, as under nohup.
      if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        _ = signal(number, SIG_IGN)
      }
    }
    let reading = ends.reading
    BackgroundThread.start { wait(at: reading) }
  }

  private static func wait(at pipe: CInt) {
    var number: UInt8 = 0
    while unsafe read(pipe, &number, 1) != 1 { if errno != EINTR { return } }
    let signalNumber = CInt(number)
    UnfinishedWork.removeAll {
      _ = signal(signalNumber, SIG_DFL)
      kill(getpid(), signalNumber)
      // Waits for the signal.
      while true { pause() }
    }
  }
}
