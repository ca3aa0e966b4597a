// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbySmoothing

@Suite("Smoother")
struct SmootherTests {
  /// What tells the smoother the truth about a walk.
  private static func configuration(_ walk: SimulatedWalk) -> FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = max(walk.rangeNoise, 0.002)
    configuration.ranging.azimuthSigmaRadians = max(walk.angleNoise, 0.002)
    configuration.ranging.elevationSigmaRadians = max(walk.angleNoise, 0.002)
    configuration.odometry.positionDrift = walk.positionDrift
    configuration.odometry.yawDriftRadians = walk.yawDrift
    configuration.odometry.isPlanar = walk.isPlanar
    return configuration
  }

  private static func errors(_ track: SmoothedTrack, _ truth: [Vector3]) -> [Double] {
    zip(track.positions, truth).map { ($0.positionInWorld - $1).length }
  }

  private static func rootMeanSquare(_ errors: [Double]) -> Double {
    (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
  }

  /// Feeds a run, each of its samples as some.
  private static func feed(
    _ run: SimulatedRun, _ smoother: inout Smoother, _ samples: (Int) -> [RangingSample]
  ) {
    for event in run.events {
      switch event {
      case .pose(let index): smoother.add(run.poses[index])
      case .tracking(let index): smoother.add(run.tracking[index])
      case .sample(let index): for sample in samples(index) { smoother.add(sample) }
      }
    }
  }

  // MARK: Height differences

  @Test(
    "height differences choose between mirror images that ranges leave open",
    arguments: 0..<6 as Range<UInt64>)
  func heightDifferences(seed: UInt64) throws {
    var scenario = try #require(Scenario.preset(named: "ranges-level-heights"))
    for (hasHeights, probabilities) in [(true, 0.99...1), (false, 0.2...0.8)] {
      scenario.barometers.arePresent = hasHeights
      let run = scenario.simulated(seed: seed)
      var smoother = try Smoother(scenario.matchingConfiguration)
      let peer = smoother.addPeer()
      Self.feed(run, &smoother) { [run.rangingSample($0, of: peer)] }
      let truth = try #require(run.samples.last).peerInOdometry
      let track = smoother.solve().tracks[0]
      let right = track.modes.filter { ($0.positionInWorld - truth).length < 1.7 }
      let probability = right.reduce(0) { $0 + $1.probability }
      #expect(probabilities.contains(probability), "seed \(seed), heights \(hasHeights)")
    }
  }

  @Test("a height difference counts the same in a row of its own", arguments: [1, 4] as [UInt64])
  func heightRows(seed: UInt64) throws {
    var scenario = try #require(Scenario.preset(named: "ranges-level-heights"))
    scenario.barometers.arePresent = true
    let run = scenario.simulated(seed: seed)
    // The odometry's scale is right.
    var configuration = scenario.matchingConfiguration
    configuration.odometry.scaleSigma = 0
    func place(split: Bool) throws -> Vector3 {
      var smoother = try Smoother(configuration)
      let peer = smoother.addPeer()
      Self.feed(run, &smoother) { index in
        var sample = run.rangingSample(index, of: peer)
        guard split, sample.heightDifference != nil else { return [sample] }
        var heights = sample
        heights.distance = nil
        sample.heightDifference = nil
        return [heights, sample]
      }
      return try #require(smoother.solve().tracks[0].final).positionInWorld
    }
    let truth = try #require(run.samples.last).peerInOdometry
    let (together, apart) = (try place(split: false), try place(split: true))
    #expect((together - apart).length < 0.1, "\(together) or \(apart), truth \(truth)")
    #expect((apart - truth).length < 0.7)
  }

  // MARK: Exact

  @Test("without noise the answer is exact", arguments: [false, true])
  func noiseless(isPlanar: Bool) throws {
    var walk = SimulatedWalk()
    walk.isPlanar = isPlanar
    if isPlanar { for index in walk.peers.indices { walk.peers[index].place.y = 0 } }
    var configuration = Self.configuration(walk)
    configuration.ranging.rangeSigma = 1e-3
    let run = try walk.run(configuration)
    let smoothed = run.smoother.solve()
    for (peer, track) in smoothed.tracks.enumerated() {
      #expect(track.positions.count == run.truth[peer].count)
      #expect(try #require(Self.errors(track, run.truth[peer]).max()) < 1e-6, "peer \(peer)")
      #expect(abs(track.rangeBias.value) < 1e-6 && abs(track.rangeScale.value) < 1e-6)
      let final = try #require(track.final)
      #expect((final.positionInWorld - run.final[peer]).length < 1e-6)
    }
  }

  @Test("what the device sees is given with the place")
  func seenFromTheDevice() throws {
    let walk = SimulatedWalk()
    let run = try walk.run(Self.configuration(walk))
    let position = try #require(run.smoother.solve().tracks[0].positions.last)
    let device = try #require(position.worldFromDevice)
    let truth = walk.truth(walk.duration)
    #expect((device.translation - truth.translation).length < 1e-9)
    let seen = truth.inverse.act(walk.peers[0].place)
    #expect(abs(try #require(position.distance) - seen.length) < 1e-4)
    #expect((try #require(position.direction) - seen.normalized).length < 1e-4)
    #expect(try #require(position.horizontalAngleRadians).magnitude <= .pi)
  }

  // MARK: Drift

  @Test("drift that all peers share is found, and the answer follows it")
  func sharedDrift() throws {
    var walk = SimulatedWalk()
    walk.duration = 60
    walk.rangeNoise = 0.03
    walk.angleNoise = 0.03
    walk.positionDrift = 0.05
    walk.yawDrift = 0.04
    var configuration = Self.configuration(walk)
    configuration.odometry.scaleSigma = 0
    let run = try walk.run(configuration)
    let smoothed = run.smoother.solve()
    for (peer, track) in smoothed.tracks.enumerated() {
      let truth = run.truth[peer]
      let error = Self.rootMeanSquare(Self.errors(track, truth))
      // A place that did not follow the drift would be off by as much as that strays.
      let mean = (1 / Double(truth.count)) * truth.reduce(.zero, +)
      let strayed = Self.rootMeanSquare(truth.map { ($0 - mean).length })
      #expect(error < 0.2 && error < 0.5 * strayed, "peer \(peer): \(error) of \(strayed)")
    }
  }

  @Test("a jump of the odometry's world is bridged")
  func jump() throws {
    var walk = SimulatedWalk()
    walk.duration = 40
    walk.rangeNoise = 0.03
    walk.angleNoise = 0.03
    walk.positionDrift = 0.01
    walk.yawDrift = 0.005
    walk.jump = (20, Vector3(2, 0.3, -1))
    let run = try walk.run(Self.configuration(walk))
    for (peer, track) in run.smoother.solve().tracks.enumerated() {
      let errors = Self.errors(track, run.truth[peer])
      #expect(Self.rootMeanSquare(errors) < 0.2, "peer \(peer): \(Self.rootMeanSquare(errors))")
    }
  }

  // MARK: Motion

  @Test("a moving peer is followed", arguments: [PeerMotion.moving, .unknown])
  func movingPeer(motion: PeerMotion) throws {
    var walk = SimulatedWalk()
    walk.rangeNoise = 0.05
    walk.angleNoise = 0.05
    walk.peers[0] = SimulatedWalk.Peer(
      place: Vector3(-3, 0.5, -4), velocity: Vector3(0.4, 0, 0.1), motion: motion)
    let run = try walk.run(Self.configuration(walk))
    let track = run.smoother.solve().tracks[0]
    #expect(track.motion == .moving)
    let errors = Self.errors(track, run.truth[0])
    #expect(Self.rootMeanSquare(errors) < 0.3, "\(Self.rootMeanSquare(errors))")
  }

  @Test("of a peer that rests, and of which that is not known, it is found out")
  func restingPeer() throws {
    var walk = SimulatedWalk()
    walk.rangeNoise = 0.05
    walk.angleNoise = 0.05
    walk.peers[0].motion = .unknown
    let run = try walk.run(Self.configuration(walk))
    let track = run.smoother.solve().tracks[0]
    #expect(track.motion == .stationary)
    #expect(Self.rootMeanSquare(Self.errors(track, run.truth[0])) < 0.15)
  }

  // MARK: Modes

  @Test("started at the mirror image, it finds the other side")
  func mirroredStart() throws {
    var walk = SimulatedWalk()
    walk.rangeNoise = 0.03
    walk.peers = [SimulatedWalk.Peer(place: Vector3(2, 0.7, -3), hasAngles: false)]
    let run = try walk.run(Self.configuration(walk))
    let smoothed = run.smoother.solve(startingFrom: [run.peers[0]: Vector3(2, -0.7, -3)])
    let final = try #require(smoothed.tracks[0].final)
    #expect((final.positionInWorld - run.final[0]).length < 0.2)
  }

  @Test("ranges along a line leave a mirror image, and both are said")
  func mirrorImages() throws {
    var configuration = FusionConfiguration()
    configuration.odometry.isPlanar = true
    configuration.odometry.positionDrift = 0
    configuration.odometry.yawDriftRadians = 0
    var smoother = try Smoother(configuration)
    let peer = smoother.addPeer()
    let place = Vector3(2, 0, -3)
    for step in 0...100 {
      let t = 0.1 * Double(step)
      let device = Vector3(0.4 * t, 0, 0)
      smoother.add(
        DevicePose(
          timestamp: SimulatedWalk.time(t),
          worldFromDevice: RigidTransform(rotation: .identity, translation: device)))
      smoother.add(
        RangingSample(
          peer: peer, timestamp: SimulatedWalk.time(t), distance: (place - device).length))
    }
    let track = smoother.solve().tracks[0]
    #expect(track.modes.count == 2)
    let sides = track.modes.map(\.positionInWorld.z).sorted()
    #expect(abs(try #require(sides.first) + 3) < 0.3)
    #expect(abs(try #require(sides.last) - 3) < 0.3)
    #expect(track.modes.allSatisfy { abs($0.probability - 0.5) < 0.1 })
    // The spread between the two is in the covariance.
    #expect(try #require(track.final).covarianceInWorld.zz > 7)
  }

  // MARK: Little to go by

  @Test("nothing in, nothing out")
  func empty() throws {
    var smoother = try Smoother()
    #expect(smoother.solve().tracks.isEmpty)
    let peer = smoother.addPeer()
    let track = try #require(smoother.solve().tracks.first)
    #expect(track.peer == peer && track.positions.isEmpty && track.final == nil)
    // A sample without a pose cannot be used either.
    smoother.add(
      RangingSample(peer: peer, timestamp: SimulatedWalk.time(0), distance: 3))
    #expect(smoother.solve().tracks[0].positions.isEmpty)
  }

  @Test("one sample leaves the place as open as it is")
  func oneSample() throws {
    var smoother = try Smoother()
    let peer = smoother.addPeer()
    smoother.add(DevicePose(timestamp: SimulatedWalk.time(0), worldFromDevice: .identity))
    smoother.add(
      RangingSample(peer: peer, timestamp: SimulatedWalk.time(0), distance: 3))
    let track = smoother.solve().tracks[0]
    #expect(track.positions.count == 1)
    let final = try #require(track.final)
    #expect(final.positionInWorld.isFinite)
    #expect(final.covarianceInWorld.trace.squareRoot() > 2)
  }

  @Test("samples that are no measurements change nothing but have their rows")
  func garbage() throws {
    var walk = SimulatedWalk()
    walk.rangeNoise = 0.03
    walk.angleNoise = 0.03
    let run = try walk.run(Self.configuration(walk))
    var other = run.smoother
    for value in [-1, .nan, 1e9] {
      other.add(
        RangingSample(
          peer: run.peers[0], timestamp: SimulatedWalk.time(walk.duration), distance: value))
    }
    let (clean, dirty) = (run.smoother.solve(), other.solve())
    #expect(dirty.tracks[0].positions.count == clean.tracks[0].positions.count + 3)
    #expect(dirty.tracks[0].final?.positionInWorld == clean.tracks[0].final?.positionInWorld)
  }

  @Test("the same input gives the same output, and progress ends at one")
  func determinism() throws {
    var walk = SimulatedWalk()
    walk.rangeNoise = 0.05
    walk.angleNoise = 0.05
    walk.positionDrift = 0.02
    let run = try walk.run(Self.configuration(walk))
    var shares: [Double] = []
    let first = run.smoother.solve { shares.append($0) }
    #expect(first == run.smoother.solve())
    #expect(shares.last == 1 && shares == shares.sorted())
  }

  @Test("while it takes a recording, it says what an engine says")
  func sequentialEstimates() throws {
    let scenario = try #require(Scenario.preset(named: "ranges-level"))
    let run = scenario.simulated(seed: 5, peerCount: 2)
    var engine = try FusionEngine(scenario.matchingConfiguration)
    var smoother = try Smoother(scenario.matchingConfiguration)
    // Handles that both take.
    let peers = (0..<2).map { _ in PeerID(index: engine.addPeer().index) }
    #expect(peers == (0..<2).map { _ in smoother.addPeer() })
    var hasMap = false
    for event in run.events {
      switch event {
      case .pose(let index):
        #expect(engine.add(run.poses[index]) == smoother.add(run.poses[index]))
        #expect(engine.mapAlignment == smoother.mapAlignment)
        hasMap = hasMap || smoother.mapAlignment != nil
      case .tracking(let index):
        engine.add(run.tracking[index])
        smoother.add(run.tracking[index])
      case .sample(let index):
        let sample = run.rangingSample(index, of: peers[run.samples[index].peer])
        #expect(engine.add(sample) == smoother.add(sample))
        #expect(
          engine.estimate(of: sample.peer, at: sample.timestamp)
            == smoother.estimate(of: sample.peer, at: sample.timestamp))
      }
    }
    #expect(hasMap)
  }

  @Test("settings that make no sense are refused")
  func badConfiguration() {
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = -1
    #expect(throws: FusionConfigurationError.self) { try Smoother(configuration) }
  }
}
