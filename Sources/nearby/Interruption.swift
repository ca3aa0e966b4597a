// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings

/// Ends the program when it is told to, by Ctrl-C or by another program, and leaves nothing unfinished.
enum Interruption {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  /// The writing end of the pipe by which a signal reaches the thread that waits for it.
  nonisolated(unsafe) private static var pipe: CInt = -1

  /// Prepares for it; once, at the start.
  static func prepare() {
    var ends: (reading: CInt, writing: CInt) = (-1, -1)
    let isMade = unsafe withUnsafeMutableBytes(of: &ends) {
      unsafe Foundation.pipe($0.baseAddress?.assumingMemoryBound(to: CInt.self)) == 0
    }
    guard isMade else { return }
    for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    unsafe pipe = ends.writing
    for number in signals {
      // A handler and not a blocked signal, which programs that we start would inherit.
      let before = signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        // Of what a handler may do, this is enough: the rest is the thread's.
        _ = unsafe write(Interruption.pipe, &byte, 1)
      }
      // What the caller ignores stays ignored, as under nohup.
      if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        _ = signal(number, SIG_IGN)
      }
    }
    let reading = ends.reading
    Thread.detachNewThread { wait(at: reading) }
  }

  private static func wait(at pipe: CInt) {
    var number: UInt8 = 0
    while unsafe read(pipe, &number, 1) != 1 { if errno != EINTR { return } }
    let signalNumber = CInt(number)
    UnfinishedWork.removeAll {
      _ = signal(signalNumber, SIG_DFL)
      kill(getpid(), signalNumber)
      // Until it arrives.
      while true { pause() }
    }
  }
}
