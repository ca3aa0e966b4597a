// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyInteraction

/// Finds another device.
///
/// Start it twice, each with the other's token file.
///
///     find-my-item /tmp/a.token /tmp/b.token &
///     find-my-item /tmp/b.token /tmp/a.token
///
/// It uses only Apple's interface, so that the same lines run on a phone.
final class Finder: NSObject, NISessionDelegate {
  private let session = NISession()
  private let peer: URL
  private var peerToken: NIDiscoveryToken?
  private var line = ""

  /// Why the peer's file is of no use.
  enum TokenFault: Error {
    case unreadable(any Error)
    case noToken
  }

  init(own: URL, peer: URL) throws {
    self.peer = peer
    super.init()
    session.delegate = self
    // A device that measures nothing says so at once, and not only when the peer's token is there: running the
    // session, with whatever token, ends it with the reason.
    if !NISession.deviceCapabilities.supportsPreciseDistanceMeasurement,
      let token = session.discoveryToken
    {
      session.run(NINearbyPeerConfiguration(peerToken: token))
      return
    }
    let token = try NSKeyedArchiver.archivedData(
      withRootObject: session.discoveryToken as Any, requiringSecureCoding: true)
    try token.write(to: own, options: .atomic)
    say("waiting for \(peer.path)")
  }

  /// Reads the peer's token file, where an app would use its network.
  ///
  /// A peer that starts again has a new token, and an old file holds a token without a session.
  ///
  /// - Throws: A `TokenFault`, when there is a file without a token, or one that cannot be read.
  func look() throws {
    guard FileManager.default.fileExists(atPath: peer.path) else { return }
    let data: Data
    do { data = try Data(contentsOf: peer) } catch { throw TokenFault.unreadable(error) }
    guard
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: data)
    else { throw TokenFault.noToken }
    guard token != peerToken else { return }
    peerToken = token
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first else { return }
    guard let distance = object.distance else { return say("out of reach") }
    var words = String(format: "%.1f m", distance)
    if let angle = object.horizontalAngle {
      let degrees = Int((angle * 180 / .pi).rounded())
      words += degrees == 0 ? ", ahead" : ", \(abs(degrees))° \(degrees > 0 ? "right" : "left")"
    }
    switch object.verticalDirectionEstimate {
    case .above: words += ", above you"
    case .below: words += ", below you"
    case .aboveOrBelow: words += ", on another level"
    default: break
    }
    if session.worldTransform(for: object) != nil { words += ", found" }
    say(words)
  }

  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    guard case .notConverged(let reasons) = convergence.status else { return }
    if let advice = reasons.first?.localizedDescription { say(advice) }
  }

  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    say("the item is gone")
    if reason == .timeout, let configuration = session.configuration { session.run(configuration) }
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    say(error.localizedDescription)
    exit(1)
  }

  private func say(_ words: String) {
    if words != line { write(words) }
    line = words
  }
}

/// Writes a line to standard output, or ends the program.
func write(_ line: String) {
  do {
    // Foundation's non-throwing method would end the program with a backtrace.
    try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
  } catch {
    fail(
      "standard output cannot be written (\(reason(error))); check that space is left where it leads",
      EX_IOERR)
  }
}

/// Ends the program with one line on standard error.
func fail(_ line: String, _ status: Int32) -> Never {
  try? FileHandle.standardError.write(contentsOf: Data("find-my-item: \(line)\n".utf8))
  exit(status)
}

/// The system's message why a file could not be written.
func reason(_ error: any Error) -> String {
  let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
  guard let cause = cause as NSError?, cause.domain == NSPOSIXErrorDomain else {
    return error.localizedDescription
  }
  return String(cString: strerror(Int32(cause.code)))
}

// If the reader of the output ends, this program ends silently, even if the parent ignores the
// signal.
signal(SIGPIPE, SIG_DFL)
let arguments = Array(CommandLine.arguments.dropFirst())
let usage = "usage: find-my-item OWN-TOKEN-FILE PEER-TOKEN-FILE"
if arguments == ["--help"] || arguments == ["-h"] {
  write(usage)
  exit(0)
}
guard arguments.count == 2 else {
  try? FileHandle.standardError.write(contentsOf: Data((usage + "\n").utf8))
  exit(EX_USAGE)
}
let (own, peer) = (URL(filePath: arguments[0]), URL(filePath: arguments[1]))
let finder: Finder
do {
  finder = try Finder(own: own, peer: peer)
} catch {
  fail(
    "\(own.path) cannot be written (\(reason(error))); name a file in a folder where you may write",
    EX_IOERR)
}
while true {
  do {
    try finder.look()
  } catch Finder.TokenFault.unreadable(let error) {
    fail(
      "\(peer.path) cannot be read (\(reason(error))); name a file that you may read", EX_NOINPUT)
  } catch {
    fail(
      "\(peer.path) holds no token; name the file that the peer's find-my-item writes", EX_DATAERR)
  }
  RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
}
