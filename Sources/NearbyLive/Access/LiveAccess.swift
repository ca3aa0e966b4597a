// SPDX-License-Identifier: Apache-2.0

/// Decides which requests the page's server answers.
///
/// The server listens on the loopback interface, where every program and, through a browser, every web page can
/// reach it. So a request needs the token of the address, a `Host` that is this server (no rebound name), and, where
/// a browser states one, an `Origin` that is this server.
package struct LiveAccess: Sendable {
  /// What can be asked for.
  package enum Resource: Hashable, Sendable {
    /// A file of the page.
    case file(LivePage.File)
    /// The stream of events.
    case events
    /// An input for the world.
    case input
    /// Saving what has come in.
    case save
  }

  /// The answer to a request.
  package enum Verdict: Hashable, Sendable {
    /// It is answered.
    case granted(Resource)
    /// It comes from elsewhere: 403.
    case forbidden
    /// There is no such thing: 404.
    case unknown
    /// It is asked for in another way: 405.
    case wrongMethod
  }

  /// The token, 32 hexadecimal digits.
  package let token: String
  /// The server's port.
  package let port: UInt16

  /// Makes the rules of a server.
  package init(token: String, port: UInt16) {
    self.token = token
    self.port = port
  }

  /// An access token of 128 random bits from the system's generator.
  package static func newToken() -> String {
    var system = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(system.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// The page's address.
  package var address: String { "http://127.0.0.1:\(port)/\(token)/" }

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - path: Its path, without the query.
  ///   - host: Its `Host` header.
  ///   - origin: Its `Origin` header.
  /// - Returns: Whether and how it is answered.
  package func verdict(method: String, path: String, host: String?, origin: String?) -> Verdict {
    guard let host, host == "127.0.0.1:\(port)" || host == "localhost:\(port)" else {
      return .forbidden
    }
    if let origin, origin != "http://\(host)" { return .forbidden }
    let parts = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).last?
      .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let parts, path.hasPrefix("/"), let first = parts.first, Self.isEqual(first, token) else {
      return .forbidden
    }
    guard parts.count == 2 else { return .unknown }
    let resource: Resource
    switch parts[1] {
    case "events": resource = .events
    case "input": resource = .input
    case "save": resource = .save
    default:
      guard let file = LivePage.File(rawValue: parts[1].isEmpty ? "live.html" : String(parts[1]))
      else { return .unknown }
      resource = .file(file)
    }
    let needed = resource == .input || resource == .save ? "POST" : "GET"
    return method == needed ? .granted(resource) : .wrongMethod
  }

  /// Compares in a time that does not tell where the first difference is.
  private static func isEqual(_ text: Substring, _ token: String) -> Bool {
    guard text.utf8.count == token.utf8.count else { return false }
    return zip(text.utf8, token.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
