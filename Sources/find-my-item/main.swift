// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyInteraction

/// Finds another device: start it twice, each with the other's token file, and read where it is.
///
///     find-my-item /tmp/a.token /tmp/b.token &
///     find-my-item /tmp/b.token /tmp/a.token
///
/// All of it is Apple's interface: the same lines run on a phone.
final class Finder: NSObject, NISessionDelegate {
  private let session = NISession()
  private let peer: URL
  private var peerToken: NIDiscoveryToken?
  private var line = ""

  init(own: URL, peer: URL) throws {
    self.peer = peer
    super.init()
    session.delegate = self
    let token = try NSKeyedArchiver.archivedData(
      withRootObject: session.discoveryToken as Any, requiringSecureCoding: true)
    try token.write(to: own, options: .atomic)
    say("waiting for \(peer.path)")
  }

  /// Looks into the peer's file, where an app would listen to its network.
  ///
  /// A peer that starts again has another token; a file of yesterday has one that nobody answers to.
  func look() {
    guard let data = try? Data(contentsOf: peer),
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: data),
      token != peerToken
    else { return }
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
    if words != line { FileHandle.standardOutput.write(Data((words + "\n").utf8)) }
    line = words
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let asksForHelp = arguments == ["--help"] || arguments == ["-h"]
guard arguments.count == 2 else {
  let output = asksForHelp ? FileHandle.standardOutput : .standardError
  output.write(Data("usage: find-my-item OWN-TOKEN-FILE PEER-TOKEN-FILE\n".utf8))
  exit(asksForHelp ? 0 : 64)
}
let finder = try Finder(own: URL(filePath: arguments[0]), peer: URL(filePath: arguments[1]))
while true {
  finder.look()
  RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
}
