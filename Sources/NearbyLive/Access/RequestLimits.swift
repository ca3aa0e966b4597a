// SPDX-License-Identifier: Apache-2.0

/// What the page's server takes and how long it waits, since anybody on the machine can connect to it.
package enum RequestLimits {
  /// The longest head of a request: its first line and its headers, bytes.
  package static let headBytes = 8192
  /// The longest body of a request, bytes.
  package static let bodyBytes = 4096
  /// The longest time from the first byte of a request, or from the connection's start, to its end.
  ///
  /// It does not begin anew with each byte, so that one who sends byte by byte gains nothing.
  package static let requestSeconds = 5
  /// How long a connection that has shown the token may rest between two requests.
  package static let idleSeconds = 60
  /// How long a page may leave an event untaken.
  package static let stalledSeconds = 60
  /// How long the rest of a refused request is read and dropped, so that the answer arrives.
  ///
  /// A connection that is closed with unread bytes is reset, and the other end may lose the answer.
  package static let drainSeconds = 1
  /// How much of it is read, bytes.
  package static let drainedBytes = 65_536
  /// The largest number of connections.
  package static let connections = 128
}

/// Counts the bytes of a request before they are parsed.
package struct RequestMeter: Sendable {
  /// The part of a request that bytes belong to.
  package enum Part: Hashable, Sendable {
    /// The first line and the headers.
    case head
    /// The body, with what frames it.
    case body
  }

  /// The part that is being sent.
  package private(set) var part = Part.head
  /// Whether nothing of the request has come.
  package private(set) var isAtStart = true
  private var left = RequestLimits.headBytes

  /// Makes a meter for a first request.
  package init() {}

  /// Takes bytes that have come.
  ///
  /// - Parameter count: How many.
  /// - Returns: How many of them may be parsed now; none when the request is too long.
  package mutating func admit(_ count: Int) -> Int {
    let admitted = min(count, left)
    left -= admitted
    isAtStart = false
    return admitted
  }

  /// Goes on with the body.
  package mutating func endHead() {
    part = .body
    // What the head left over is added, for what frames the body.
    left += RequestLimits.bodyBytes
  }

  /// Goes on with the next request.
  package mutating func endRequest() { self = RequestMeter() }
}
