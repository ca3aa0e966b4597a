// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyInteraction
import Testing

/// An app's session logic, unchanged, in the world that a program gets by default: real time.
@MainActor @Suite(.serialized, .timeLimit(.minutes(2)))
struct AppSessionTests {
  /// Lets the main queue run until something holds.
  private func wait(_ seconds: Double = 30, until holds: () -> Bool) async throws {
    let end = Date().addingTimeInterval(seconds)
    while !holds(), Date() < end { try await Task.sleep(for: .milliseconds(20)) }
  }

  @Test func twoSessionsOfOneProgramFindEachOther() async throws {
    let (a, b) = (FindingController(), FindingController())
    a.start()
    b.start()
    let (fromA, fromB) = (try #require(a.tokenData), try #require(b.tokenData))
    a.connect(with: fromB, sharesCamera: true)
    b.connect(with: fromA, sharesCamera: false)

    try await wait { a.distances.count > 10 && a.places.count > 3 && b.places.count > 3 }
    #expect(a.phase == .running)
    #expect(b.phase == .running)
    #expect(a.distances.count > 10)
    let (near, far) = (try #require(a.distances.min()), try #require(a.distances.max()))
    #expect(near > 2 && far < 6)
    let distance = try #require(b.distances.last)
    #expect(abs(try #require(a.distances.last) - distance) < 0.5)
    #expect(try #require(a.directions.last).z < -0.7)
    #expect(abs(try #require(a.angles.last)) < 0.8)
    #expect(a.statuses.contains(.converged))
    #expect(b.statuses.contains(.converged))
    // The AR session's own world holds the device and the peer.
    let place = try #require(a.places.last)
    let camera = try #require(a.cameraPlace)
    #expect(abs(simd_distance(place, camera) - distance) < 0.7)

    b.session?.invalidate()
    #expect(b.session?.discoveryToken == nil)
    try await wait { a.phase == .lost }
    #expect(a.phase == .lost)
    let heard = b.distances.count
    try await Task.sleep(for: .milliseconds(300))
    #expect(b.distances.count == heard)
  }

  @Test func theReadmesExampleIsTheFileThatIsCompiled() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let readme = try String(
      contentsOf: tests.appending(path: "../../README.md"), encoding: .utf8)
    let file = try String(contentsOf: tests.appending(path: "ReadmeFinder.swift"), encoding: .utf8)
    let program = file.split(separator: "\n", maxSplits: 1)[1]
    #expect(readme.contains("```swift\n\(program)```"))
    let (finder, other) = (Finder(), NISession())
    finder.find(try #require(other.discoveryToken))
    #expect(finder.session.configuration?.isCameraAssistanceEnabled == true)
  }

  @Test func aSubsetOfTheMethodsIsEnough() async throws {
    let label = DistanceLabel()
    let (a, b) = (NISession(), NISession())
    a.delegate = label
    a.run(NINearbyPeerConfiguration(peerToken: try #require(b.discoveryToken)))
    b.run(NINearbyPeerConfiguration(peerToken: try #require(a.discoveryToken)))
    try await wait { label.text.hasSuffix(" m") }
    #expect(label.text.hasSuffix(" m"))
  }
}
