// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

// MARK: - What UIKit and Multipeer Connectivity give an app

/// A screen, with the calls of UIKit's view controllers.
@MainActor package class ViewController: NSObject {
  package init(nibName: String?) { super.init() }
  package func viewDidLoad() {}
  package func viewWillDisappear(_ animated: Bool) {}
}

/// A text on a screen.
@MainActor package final class Label {
  package var text: String?
  package var isHidden = false
}

/// The receiver of what another phone sends.
@MainActor package protocol MultipeerSessionDelegate: AnyObject {
  func session(_ session: MultipeerSession, didConnect name: String)
  func session(_ session: MultipeerSession, didReceive data: Data, from name: String)
}

/// A connection to another phone, which takes a turn of the main queue for each message.
@MainActor package final class MultipeerSession {
  package let name: String
  package weak var delegate: (any MultipeerSessionDelegate)?
  private weak var other: MultipeerSession?

  package init(name: String) { self.name = name }

  package func connect(to other: MultipeerSession) {
    (self.other, other.other) = (other, self)
    delegate?.session(self, didConnect: other.name)
    other.delegate?.session(other, didConnect: name)
  }

  package func send(_ data: Data) {
    Task {
      guard let other else { return }
      other.delegate?.session(other, didReceive: data, from: name)
    }
  }
}

// MARK: - The app

/// A screen that is its session's delegate, and gets the token of the other phone over Multipeer Connectivity.
package final class FindViewController: ViewController {
  package let distanceLabel = Label()
  package let arrowLabel = Label()
  package let statusLabel = Label()
  /// The title of the alert that is shown.
  package private(set) var alert: String?

  package let multipeer: MultipeerSession
  private var session: NISession?
  private var peerToken: NIDiscoveryToken?
  private var peerName = ""
  private var sentToken = false

  package init(name: String) {
    multipeer = MultipeerSession(name: name)
    super.init(nibName: nil)
  }

  package override func viewDidLoad() {
    super.viewDidLoad()
    multipeer.delegate = self
    guard NISession.deviceCapabilities.supportsPreciseDistanceMeasurement else {
      statusLabel.text = "This phone cannot find others"
      return
    }
    startUp()
  }

  package override func viewWillDisappear(_ animated: Bool) {
    super.viewWillDisappear(animated)
    session?.invalidate()
    session = nil
  }

  private func startUp() {
    session = NISession()
    session?.delegate = self
    sentToken = false
    statusLabel.text = "Discovering…"
    arrowLabel.isHidden = true
    if !peerName.isEmpty { shareToken() }
  }

  private func shareToken() {
    guard !sentToken, let token = session?.discoveryToken,
      let data = try? NSKeyedArchiver.archivedData(
        withRootObject: token, requiringSecureCoding: true)
    else { return }
    multipeer.send(data)
    sentToken = true
  }
}

extension FindViewController: MultipeerSessionDelegate {
  package func session(_ session: MultipeerSession, didConnect name: String) {
    peerName = name
    guard self.session != nil else { return }
    statusLabel.text = "Connected to \(name)"
    shareToken()
  }

  package func session(_ session: MultipeerSession, didReceive data: Data, from name: String) {
    guard
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: NIDiscoveryToken.self, from: data)
    else {
      statusLabel.text = "\(name) sent something else"
      return
    }
    peerToken = token
    self.session?.run(NINearbyPeerConfiguration(peerToken: token))
  }
}

extension FindViewController: @preconcurrency NISessionDelegate {
  package func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let object = nearbyObjects.first(where: { $0.discoveryToken == peerToken }) else {
      return
    }
    statusLabel.text = peerName
    distanceLabel.text = object.distance.map { String(format: "%0.1f m", $0) } ?? "–"
    guard let direction = object.direction else {
      arrowLabel.isHidden = true
      return
    }
    arrowLabel.isHidden = false
    let azimuth = asin(direction.x)
    arrowLabel.text = abs(azimuth) < 0.3 ? "↑" : azimuth > 0 ? "→" : "←"
  }

  package func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    switch reason {
    case .peerEnded:
      peerToken = nil
      session.invalidate()
      startUp()
      statusLabel.text = "\(peerName) left"
    case .timeout:
      statusLabel.text = "\(peerName) timed out"
      if let configuration = session.configuration { session.run(configuration) }
    @unknown default: break
    }
  }

  package func sessionWasSuspended(_ session: NISession) { statusLabel.text = "Session suspended" }

  package func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration {
      session.run(configuration)
    } else {
      startUp()
    }
  }

  package func session(_ session: NISession, didInvalidateWith error: any Error) {
    if case NIError.userDidNotAllow = error {
      alert = "Nearby Interaction access required"
      statusLabel.text = "Open Settings"
      return
    }
    startUp()
  }
}
