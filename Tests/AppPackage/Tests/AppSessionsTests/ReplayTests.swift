// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyInteraction
import NearbyRecordings
import Testing

extension Apps {
  /// An app against a recording instead of a world.
  @MainActor @Suite("Replays") struct ReplayTests {
    private let environment: ReplayEnvironment
    private let peer: String

    init() throws {
      let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../Datasets/plaza2").standardized
      let recording = try RecordingReader(folder: folder.path)
      environment = try ReplayEnvironment(recording)
      peer = try #require(recording.manifest.peers.first).id
      NearbyEnvironments.current = environment
    }

    /// Lets the callbacks on the main queue run.
    private func settle() async {
      await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }

    @Test("a recording's ranges come to a session that names the peer")
    func ranges() async throws {
      let (session, log) = (NISession(), Log())
      session.delegate = log
      let token = NIDiscoveryToken(peer: peer, of: environment)
      session.run(NINearbyPeerConfiguration(peerToken: token))
      for _ in 0..<60 {
        environment.advance(bySeconds: 1)
        await settle()
      }
      #expect(log.summary.prefix(2) == ["start", "update"] && log.objects.count > 10)
      #expect(log.objects.allSatisfy { $0.discoveryToken == token })
      #expect(log.objects.contains { ($0.distance ?? 0) > 1 })
    }

    @Test("after a recording's end the session is silent, and it can be ended")
    func end() async throws {
      let (session, log) = (NISession(), Log())
      session.delegate = log
      session.run(
        NINearbyPeerConfiguration(peerToken: NIDiscoveryToken(peer: peer, of: environment)))
      environment.advanceToEnd()
      await settle()
      let heard = log.calls.count
      environment.advance(bySeconds: 5)
      await settle()
      #expect(environment.hasEnded && environment.failure == nil && heard > 100)
      #expect(log.objects.count == log.calls.count { $0 == "update" })
      session.invalidate()
      #expect(session.discoveryToken == nil)
    }
  }
}
