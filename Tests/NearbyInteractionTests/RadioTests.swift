// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// The dependence of the simulated radio on the distance, and its effect on the app.
struct RadioTests {
  /// Two devices at rest, facing each other.
  private static func pair(
    _ metres: Double, _ settings: SimulatedWorldSettings = SimulatedWorldSettings()
  ) -> SessionPair {
    let (here, there) = (Vector3(0, 1.4, 0), Vector3(0, 1.4, -metres))
    return SessionPair(
      settings,
      motions: [
        .resting(at: .init(standingAt: here, facing: there)),
        .resting(at: .init(standingAt: there, facing: here)),
      ])
  }

  private func moments(_ values: [Double]) -> (mean: Double, sigma: Double) {
    let mean = values.reduce(0, +) / Double(values.count)
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)
    return (mean, variance.squareRoot())
  }

  // MARK: Range dependence

  /// Within the validated range all exchanges succeed with the radio's noise; beyond it there are
  /// losses and more noise.
  @Test(arguments: [(4.0, 1.0, 1.0), (8.9, 1.0, 1.0), (18.0, 2.0, 0.816), (27.0, 3.0, 0.265)])
  func noiseAndAvailabilityDependOnTheRange(
    _ metres: Double, _ widening: Double, _ share: Double
  ) throws {
    let pair = Self.pair(metres)
    pair.run()
    pair.advance(120)
    let objects = pair.recorders[0].objects
    #expect(objects.count == 1200)
    let heard = objects.filter { $0.distance != nil }
    #expect(abs(Double(heard.count) / 1200 - share) < 0.05)
    let sigma = moments(heard.compactMap { $0.measurement?.distance }).sigma
    #expect(abs(sigma / (0.1 * widening) - 1) < 0.12)
    let azimuth = moments(heard.compactMap { $0.measurement?.azimuthRadians }).sigma
    #expect(abs(azimuth.radiansAsDegrees / (3 * widening) - 1) < 0.12)
    for object in heard {
      let stated = object.measurement?.distanceSigma
      if widening == 1 {
        #expect(stated == nil)
      } else {
        #expect(abs(try #require(stated) - 0.1 * widening) < 0.01)
      }
      #expect(object.isWithinValidatedRange == (widening == 1) || abs(metres - 9) < 0.6)
      #expect(object.advice.contains(.comeCloser) == (object.isWithinValidatedRange == false))
    }
    // Both ends lose the same exchanges.
    #expect(objects.map(\.distance) == pair.recorders[1].objects.map(\.distance))
  }

  @Test func theValidatedRangeIsTheDevices() {
    var settings = SimulatedWorldSettings()
    settings.limits.validatedRange = 3
    let pair = Self.pair(4, settings)
    pair.run()
    pair.advance(1)
    #expect(pair.recorders[0].objects.allSatisfy { $0.isWithinValidatedRange != true })
    #expect(pair.recorders[0].objects.contains { $0.advice == [.comeCloser] })
  }

  // MARK: What comes with a measurement

  @Test func addressStrengthAndClockReachTheApp() throws {
    var settings = SimulatedWorldSettings()
    func objects(_ metres: Double, usesCamera: Bool = false) throws -> [NINearbyObject] {
      let pair = Self.pair(metres, settings)
      pair.run(usesCamera: usesCamera)
      pair.advance(0.2)
      return try pair.recorders.map { try #require($0.objects.last) }
    }
    let near = try objects(3)
    let far = try objects(6, usesCamera: true)
    #expect(near.map { $0.measurement?.peerAddress } == ["00:01", "00:00"])
    let (strong, weak) = (
      try #require(near[0].measurement?.signalStrength),
      try #require(far[0].measurement?.signalStrength)
    )
    #expect(abs(strong - weak - 6.02) < 0.1)
    #expect(abs(strong - (-65 - 20 * log10(3.0))) < 0.2)
    let offsets = try near.map { try #require($0.measurement?.carrierFrequencyOffset) }
    #expect(offsets[0] != 0 && offsets[0] == -offsets[1] && abs(offsets[0]) < 5e-5)
    // With camera assistance there is a residual, too.
    #expect(far[0].report?.range.value == far[0].measurement?.distance)
    settings.obstacles = [SimulatedObstacle(Vector3(-1, 0, -2.2), Vector3(1, 3, -2))]
    let blocked = try #require(try objects(3)[0].measurement?.signalStrength)
    #expect(abs(strong - blocked - 10) < 0.01)
  }

  @Test func aRecordingsSignalStrengthReachesTheApp() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "n-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = [
      "recording.json": #"{ "format": "nearby-recording", "version": 1, "name": "walk" }"#,
      "trajectory.txt": "0 0 0 0 0 0 0 1\n1 0 0 0 0 0 0 1\n",
      "ranging.csv":
        "timestamp,peer,distance,azimuth,elevation,rssi\n0.5,2a:17,4.25,,,-81.5\n",
    ]
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    let environment = try ReplayEnvironment(RecordingReader(folder: folder.path))
    let recorder = SessionRecorder()
    let session = NISession(on: environment)
    recorder.attach(to: session)
    session.run(NINearbyPeerConfiguration(peerToken: NIDiscoveryToken(.random(on: .watch))))
    environment.advanceToEnd()
    recorder.drain()
    let measurement = try #require(recorder.objects.first?.measurement)
    #expect(measurement.peerAddress == "2a:17" && measurement.signalStrength == -81.5)
    #expect(measurement.carrierFrequencyOffset == nil)
    withExtendedLifetime(session) {}
  }

  // MARK: Distance only

  /// A peer approaches at 1 m/s for four seconds and then stands, measured by a watch.
  @Test func aWatchKnowsTheDistanceSmoothedAndItsRate() throws {
    let walker = SimulatedMotion { seconds in
      RigidTransform(standingAt: Vector3(0, 1.4, -8 + min(seconds, 4)), facing: Vector3(0, 1.4, 0))
    }
    let here = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -1))
    let pair = SessionPair(motions: [.resting(at: here), walker], capabilities: .watch)
    pair.run()
    var raw: [Double] = []
    var smoothed: [Double] = []
    for step in 1...100 {
      pair.advance(0.1)
      let seconds = 0.1 * Double(step)
      let object = try #require(pair.recorders[0].objects.last)
      let range = try #require(object.smoothedRange)
      #expect(object.direction == nil && object.estimate == nil)
      let truth = 8 - min(seconds, 4)
      #expect(abs(range.distance - truth) < 4 * range.distanceSigma)
      #expect(abs(range.rate - (seconds < 4 ? -1 : 0)) < 4 * range.rateSigma)
      guard step > 20 else { continue }
      #expect(range.rateSigma < 0.6)
      raw.append(try #require(object.measurement?.distance) - truth)
      smoothed.append(range.distance - truth)
    }
    #expect(moments(smoothed).sigma < 0.85 * moments(raw).sigma)
    // A peer that has been silent for long has no outputs.
    pair.devices[1].motion = .resting(
      at: .init(standingAt: Vector3(0, 1.4, -60), facing: Vector3(0, 1.4, 0)))
    pair.advance(1)
    #expect(pair.recorders[0].objects.last?.smoothedRange != nil)
    pair.advance(2)
    #expect(pair.recorders[0].objects.last?.smoothedRange == nil)
  }
}
