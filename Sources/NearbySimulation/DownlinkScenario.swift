// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// A walk among anchors whose messages a device only hears: the definition of simulated runs of range
/// differences.
///
/// Six anchors stand around the walk at different heights. In each round the device measures how much
/// farther each of them is than the first. Their clocks err as ``clocks`` says.
public struct DownlinkScenario: Hashable, Sendable {
  /// The name, for tables.
  public var name: String
  /// A description in one line.
  public var summary: String
  /// The walk, its duration, and the odometry that reports it.
  public var walk = Scenario(.wanderingWalk)
  /// The anchors, metres from the middle of the walk, y up.
  public var anchors = [
    Vector3(-6, 1.4, -5), Vector3(6, -0.9, -5), Vector3(6.5, 1.2, 5), Vector3(-6, -0.8, 5.5),
    Vector3(0, 1.6, -6), Vector3(0.5, -1, 6),
  ]
  /// Rounds per second.
  public var rate = 10.0
  /// The noise of a difference: one sigma, metres.
  public var noise = 0.14
  /// How the anchors' clocks err.
  public var clocks = AnchorClocks.free
  /// The probability that a difference is an outlier, of one anchor without line of sight.
  public var outlierShare = 0.0
  /// The mean excess of the range to that anchor, metres.
  public var outlierExcess = 1.5

  /// Makes a scenario with known anchors, free clocks and no outliers.
  public init(name: String, summary: String) {
    (self.name, self.summary) = (name, summary)
  }

  /// The scenarios of the proving ground.
  public static let presets = [
    DownlinkScenario(name: "downlink", summary: "six known anchors, free clocks"),
    preset("downlink-nlos", "the same, a tenth of the differences without line of sight") {
      $0.outlierShare = 0.1
    },
    preset("downlink-synchronized", "six known anchors, clocks kept together") {
      $0.clocks = .synchronized
    },
  ]

  private static func preset(
    _ name: String, _ summary: String, _ change: (inout DownlinkScenario) -> Void
  ) -> DownlinkScenario {
    var scenario = DownlinkScenario(name: name, summary: summary)
    change(&scenario)
    return scenario
  }

  /// What a user would know of the sensors.
  public var matchingConfiguration: FusionConfiguration {
    var configuration = walk.matchingConfiguration
    configuration.ranging.rangeSigma = noise / 2.0.squareRoot()
    configuration.faults.rangeExcess = outlierExcess
    return configuration
  }

  /// Draws a run.
  ///
  /// - Parameter seed: The seed.
  /// - Returns: The run.
  public func simulated(seed: UInt64) -> DownlinkRun {
    let walked = walk.simulated(seed: seed)
    var generator = SeededGenerator(seed: seed, stream: 40)
    let rounds = Int(walk.duration * rate)
    let places = (0..<rounds).map { walked.device.pose(at: Double($0) / rate).translation }
    let middle = places.reduce(.zero, +) / Double(max(rounds, 1))
    // The site lies anywhere to the odometry's world.
    let siteFromTruth = RigidTransform(
      rotation: Rotation(
        angleRadians: generator.uniform(in: -.pi...Double.pi), about: Vector3(0, 1, 0)),
      translation: generator.normalVector(sigma: 5))
    let sites = anchors.map { siteFromTruth.act(middle + $0) }
    var clocks = anchors.indices.map { anchor in
      DrawnClock(self.clocks, isReference: anchor == 0, &generator)
    }
    var run = DownlinkRun(poses: walked.poses, anchors: sites)
    for round in 0..<rounds {
      let seconds = Double(round) / rate
      let pose = siteFromTruth * walked.device.pose(at: seconds)
      let antenna = pose.act(walk.radio.antennaInDevice)
      run.rounds.append(
        DownlinkRun.Round(
          timestamp: SimulatedRun.timestamp(at: seconds), siteFromDevice: pose,
          clockErrors: clocks.map(\.error)))
      for anchor in anchors.indices.dropFirst() {
        var metres = (antenna - sites[anchor]).length - (antenna - sites[0]).length
        metres += clocks[anchor].error - clocks[0].error + generator.normal(sigma: noise)
        let (isOutlier, isFirst) = (generator.uniform() < outlierShare, generator.uniform() < 0.5)
        let excess = generator.exponential(mean: outlierExcess)
        if isOutlier { metres += isFirst ? -excess : excess }
        run.differences.append(
          RangeDifference(
            timestamp: SimulatedRun.timestamp(at: seconds), from: 0, to: anchor, metres: metres))
      }
      for anchor in anchors.indices.dropFirst() {
        clocks[anchor].advance(seconds: 1 / rate, walk: self.clocks.rateWalk, &generator)
      }
    }
    return run
  }

  /// The error of a clock, as a length, whose rate walks at random.
  private struct DrawnClock {
    var error = 0.0
    var rate = 0.0

    init(_ clocks: AnchorClocks, isReference: Bool, _ generator: inout SeededGenerator) {
      let draws = (
        generator.normal(sigma: clocks.offsetSigma), generator.normal(sigma: clocks.rateSigma)
      )
      if !isReference { (error, rate) = draws }
    }

    mutating func advance(seconds t: Double, walk: Double, _ generator: inout SeededGenerator) {
      let change = generator.normal(sigma: walk * t.squareRoot())
      let stray = generator.normal(sigma: walk * (t * t * t / 12).squareRoot())
      error += t * rate + 0.5 * t * change + stray
      rate += change
    }
  }
}

/// A simulated run of range differences, and the truth.
public struct DownlinkRun: Sendable {
  /// The truth at a round.
  public struct Round: Sendable {
    /// When.
    public var timestamp: Timestamp
    /// The device's true pose in the site.
    public var siteFromDevice: RigidTransform
    /// The errors of the anchors' clocks, metres.
    public var clockErrors: [Double]

    /// Makes one.
    public init(timestamp: Timestamp, siteFromDevice: RigidTransform, clockErrors: [Double]) {
      self.timestamp = timestamp
      self.siteFromDevice = siteFromDevice
      self.clockErrors = clockErrors
    }
  }

  /// The poses that the odometry reports.
  public var poses: [DevicePose]
  /// The anchors' true places in the site, metres.
  public var anchors: [Vector3]
  /// The rounds, in the order of their times.
  public var rounds: [Round] = []
  /// The differences, in the order of their times: as many of each round.
  public var differences: [RangeDifference] = []

  /// Feeds everything to a locator.
  ///
  /// - Parameters:
  ///   - locator: The locator.
  ///   - afterRound: Called after each round with its index in ``rounds``.
  public func feed(
    _ locator: inout RangeDifferenceLocator,
    afterRound: (_ round: Int, _ locator: inout RangeDifferenceLocator) -> Void
  ) {
    var (pose, difference) = (0, 0)
    for (index, round) in rounds.enumerated() {
      // The pose after the moment, too, so that it lies between two.
      while pose < poses.count, pose == 0 || poses[pose - 1].timestamp < round.timestamp {
        locator.add(poses[pose])
        pose += 1
      }
      while difference < differences.count, differences[difference].timestamp <= round.timestamp {
        locator.add(differences[difference])
        difference += 1
      }
      afterRound(index, &locator)
    }
  }
}
