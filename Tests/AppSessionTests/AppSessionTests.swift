// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyInteraction
import Testing

/// An app's session logic, unchanged, in the world that a program gets by default: real time.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5)))
struct AppSessionTests {
  /// The phones of these tests are swept by hands that stand still, and so have antenna arrays.
  init() { setenv("NEARBY_PHONE", "array", 1) }

  /// Lets the main queue run until a condition holds.
  // The timeout is long for busy machines; the function returns as soon as the condition holds.
  private func wait(_ seconds: Double = 100, until holds: () -> Bool) async throws {
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

  // MARK: Other authors

  @Test func aServiceOfTheMainActorRanges() async throws {
    let (a, b) = (RangingService(), RangingService())
    let (fromA, fromB) = (try #require(a.start()), try #require(b.start()))
    // Other data from the network is not a token, and must not end the program.
    a.receive(Data("hello".utf8))
    a.receive(
      try NSKeyedArchiver.archivedData(
        withRootObject: NSURL(string: "https://example.org") as Any, requiringSecureCoding: true))
    a.receive(fromB)
    b.receive(fromA)
    try await wait { a.place != nil && b.place != nil && a.bearing != nil }
    #expect(a.status == .ranging && b.status == .ranging)
    #expect(abs(try #require(a.distance) - (try #require(b.distance))) < 0.5)
    #expect(abs(try #require(a.bearing)) < 1)
    b.stop()
    try await wait { a.removals == [.peerEnded] }
    #expect(a.removals == [.peerEnded])
  }

  @Test(arguments: [2, 5])
  func aBookOfSessionsKeepsThemApart(_ count: Int) async throws {
    let (here, there) = (SessionBook(), SessionBook())
    let names = (0..<count).map { "peer \($0)" }
    for name in names {
      let (a, b) = (try #require(here.open(name)), try #require(there.open(name)))
      here.range(name, with: NINearbyPeerConfiguration(peerToken: b))
      there.range(name, with: NINearbyPeerConfiguration(peerToken: a))
    }
    try await wait { here.page.entries.values.allSatisfy { $0.distance != nil } }
    let page = here.page
    #expect(page.entries.count == count && page.wrongQueue == 0)
    #expect(page.entries.values.allSatisfy { $0.distance != nil && $0.failure == nil })
  }

  @Test func aSessionWithItselfEndsWithAConfigurationError() async throws {
    let book = SessionBook()
    let token = try #require(book.open("self"))
    book.range("self", with: NINearbyPeerConfiguration(peerToken: token))
    try await wait { book.page.entries["self"]?.failure != nil }
    #expect(book.page.entries["self"]?.failure == "configuration")
  }

  @Test func anchorsAreReportedAsUnsupported() async throws {
    let (polite, rash) = (AnchorListener(), AnchorListener())
    polite.start(evenUnsupported: false)
    rash.start(evenUnsupported: true)
    try await wait { rash.failure != nil }
    #expect(rash.failure == .unsupportedPlatform && rash.pseudoranges.isEmpty)
    #expect(polite.failure == nil)
  }

  @Test(arguments: [-2.5, -1, 0, 0.5, 1.5, 3] as [Float])
  func anOverlayTurnsTowardsAPeer(_ angle: Float) {
    let here = simd_float3(1, 1.4, -2)
    let camera = Overlay.facing(here + simd_float3(0, 0, -1), from: here)
    var peer = matrix_identity_float4x4
    peer.columns.3 = simd_float4(here + 3 * simd_float3(sin(angle), 0.2, -cos(angle)), 1)
    #expect(abs(Overlay.bearing(of: peer, from: camera) - angle) < 1e-5)
  }
}
