// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// Maps with the faults that surveys have, over simulated walks.
@Suite("Surveys of maps", .enabled(if: BuildMode.isOptimized))
struct MapSurveyTests {
  /// A survey that is wrong.
  enum Case: String, CaseIterable, Sendable {
    case right, moved2, moved07, exchanged, scaled, upsideDown, mirrored

    /// Makes a right survey wrong.
    ///
    /// - Parameters:
    ///   - places: The places of the survey.
    ///   - generator: Chooses the anchors.
    /// - Returns: The fault; `nil` of a right one.
    func apply(to places: inout [Vector3], _ generator: inout SeededGenerator) -> SurveyFault? {
      let anchor = Int(generator.uniform(in: 0...0.999) * Double(places.count))
      let other = (anchor + 1) % places.count
      let way = generator.normalVector(sigma: 1)
      switch self {
      case .right: return nil
      case .moved2, .moved07:
        places[anchor] += (self == .moved2 ? 2 : 0.7) / way.length * way
        return .displaced(anchor)
      case .exchanged:
        places.swapAt(anchor, other)
        return .exchanged(min(anchor, other), max(anchor, other))
      case .scaled:
        for index in places.indices { places[index] = 1.1 * places[index] }
        return .scaled(by: 1.1)
      case .upsideDown:
        for index in places.indices { places[index].y.negate() }
        return .upsideDown
      case .mirrored:
        for index in places.indices { places[index].x.negate() }
        return .mirrored
      }
    }
  }

  /// What a walk with a survey has claimed.
  private struct Outcome {
    var converged = 0
    var wrong = 0
    var verdict = SurveyVerdict.untested
    var fault: SurveyFault?
    /// The sum of the squared errors of the converged samples of the second half.
    var squares = (sum: 0.0, count: 0)

    var faults: [SurveyFault] { verdict.faults }

    /// Whether the fault is the one that was made.
    var isNamed: Bool {
      guard faults.count == 1, let fault else { return false }
      if case .scaled(let factor) = faults[0] {
        return if case .scaled(let made) = fault { abs(factor - made) < 0.05 } else { false }
      }
      return faults[0] == fault
    }
  }

  private static func room(_ count: Int, _ generator: inout SeededGenerator) -> [Vector3] {
    var places: [Vector3] = []
    while places.count < count {
      let place = Vector3(
        generator.uniform(in: -6...6), generator.uniform(in: 0.1...2.7),
        generator.uniform(in: -6...6))
      let isAside = Vector3(place.x, 0, place.z).length > 3
      if isAside, places.allSatisfy({ ($0 - place).length > 3 }) { places.append(place) }
    }
    return places
  }

  /// A walk of a minute through a room, with an odometry that drifts as configured.
  private static func walk(_ survey: Case, anchors count: Int, seed: UInt64) throws -> Outcome {
    var generator = SeededGenerator(seed: seed, stream: 71)
    let places = room(count, &generator)
    let up = Vector3(0, 1, 0)
    let turn = Rotation(angleRadians: generator.uniform(in: -3...3), about: up)
    let shift = generator.normalVector(sigma: 5)
    var surveyed = places.map { turn.act($0) + shift }
    var outcome = Outcome()
    outcome.fault = survey.apply(to: &surveyed, &generator)
    let sigmas = [0.01, 0.01, 0.01, 0.15, 0.03]
    let size = 5 * count
    let map = PeerMap(
      peers: surveyed.enumerated().map { PeerMap.Peer(name: "\($0)", positionInWorld: $1) },
      covariance: (0..<(size * size)).map { element in
        element % (size + 1) == 0 ? sigmas[element / size % 5] * sigmas[element / size % 5] : 0
      })
    var configuration = FusionConfiguration()
    // The simulated odometry has no scale error: one of 3 % would explain a survey that is too large.
    configuration.odometry.scaleSigma = 0
    var engine = try FusionEngine(configuration, map: map)
    let peers = try (0..<count).map { try engine.addPeer(named: "\($0)") }
    let phases = (0..<3).map { _ in generator.uniform(in: -3...3) }
    func path(_ time: Double) -> Vector3 {
      Vector3(
        3.2 * sin(0.31 * time + phases[0]), 1.3 + 0.3 * sin(0.5 * time + phases[1]),
        3 * cos(0.43 * time + phases[2]))
    }
    var (yaw, place, before) = (generator.uniform(in: -3...3), Vector3.zero, path(0))
    for step in 0..<1200 {
      let time = 0.05 * Double(step)
      let truth = path(time)
      let way = Rotation(angleRadians: -yaw, about: up).act(truth - before)
      let walked = way.length.squareRoot()
      place += way + generator.normalVector(sigma: configuration.odometry.positionDrift * walked)
      yaw += generator.normal(sigma: configuration.odometry.yawDriftRadians * walked)
      before = truth
      let worldFromRoom = Rotation(angleRadians: -yaw, about: up)
      let timestamp = Timestamp(nanoseconds: 5_000_000_000).advanced(bySeconds: time)
      engine.add(
        DevicePose(
          timestamp: timestamp,
          worldFromDevice: RigidTransform(rotation: worldFromRoom, translation: place)))
      let heard = step % count
      let range = (places[heard] - truth).length + generator.normal(sigma: 0.1)
      engine.add(RangingSample(peer: peers[heard], timestamp: timestamp, distance: range))
      let estimate = engine.estimate(of: peers[heard])
      guard estimate.convergence == .converged, let mean = estimate.positionInWorld else {
        continue
      }
      let away = (mean - place - worldFromRoom.act(places[heard] - truth)).length
      outcome.converged += 1
      if away > 0.5, away > 3.4 * estimate.covarianceInWorld.trace.squareRoot() {
        outcome.wrong += 1
      }
      if step >= 600 {
        outcome.squares = (outcome.squares.sum + away * away, outcome.squares.count + 1)
      }
    }
    outcome.verdict = try #require(engine.mapVerdict)
    return outcome
  }

  /// Without the examination 13 to 73 % of the converged samples are wrong with five anchors, and 5 to 66 % with
  /// three.
  @Test(arguments: Case.allCases, [5, 3])
  func noFaultIsBelieved(_ survey: Case, _ anchors: Int) throws {
    var (converged, wrong, named, misnamed) = (0, 0, 0, 0)
    for seed in SeedCount.few.prefix(6) {
      let outcome = try Self.walk(survey, anchors: anchors, seed: seed)
      converged += outcome.converged
      wrong += outcome.wrong
      if outcome.isNamed {
        named += 1
      } else if !outcome.faults.isEmpty {
        misnamed += 1
      }
    }
    // Among three anchors two explain 0.7 m for a while: 1 to 2 % of the samples.
    let mostWrong = survey == .moved07 && anchors == 3 ? 0.04 : 0.005
    #expect(
      Double(wrong) <= mostWrong * Double(converged), "\(wrong) of \(converged) samples are wrong")
    #expect(converged > 1200)
    if survey == .right { #expect(misnamed == 0) }
    // With three anchors some faults have more than one explanation.
    if anchors == 5, survey != .right, survey != .moved07 {
      #expect(named >= 5, "named in \(named) runs, misnamed in \(misnamed)")
    }
  }

  /// Half a metre is excluded of all anchors within the first half.
  @Test func aRightSurveyIsUsed() throws {
    var squares = (sum: 0.0, count: 0)
    var untested = 0
    for seed in SeedCount.few {
      let outcome = try Self.walk(.right, anchors: 5, seed: seed)
      if case .untested = outcome.verdict { untested += 1 }
      squares = (squares.sum + outcome.squares.sum, squares.count + outcome.squares.count)
    }
    // With the map believed at once it is 0.10 m, without a map 0.21 m.
    #expect((squares.sum / Double(squares.count)).squareRoot() < 0.17)
    #expect(untested <= 1)
  }
}
