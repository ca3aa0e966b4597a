// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// How the odometry's world lies in a map at a device point.
struct MapPlacement: Sendable, Codable {
  /// The device's place in the map, metres.
  var place: Vector3
  /// The turn about gravity from the odometry's world to the map.
  var yawRadians: Double
}

/// Locates the device in the map that an engine was given, by the ranges to its peers, and examines
/// whether the map is right.
///
/// A hypothesis (``SurveyHypothesis``) places the device by the newest ranges (``AnchorWindow``); its evidence
/// is that of the joint fit of all samples (``JointEstimator/mode(of:peers:starts:mapFromWorld:at:_:_:)``).
struct MapLocalizer: Sendable, Codable {
  let map: PeerMap
  /// What the ranges say of the map.
  private(set) var verdict = SurveyVerdict.untested
  /// Where the device was in the map at the newest examination; `nil` where the map was not used.
  private(set) var finding: Finding?
  /// The map's place of each peer of the engine that is in it, by the peer's index.
  private var entries: [Int?] = []
  private var window: AnchorWindow
  /// The odometry's world and the device's path in it at the newest examination, metres.
  private var examined: PathPoint?
  /// The number of ranges of each peer of the map in the odometry's world as it is.
  private var rangeCounts: [Int] = []
  /// The path at the first range of the map in that world, metres.
  private var firstPath: PathPoint?

  /// A point of the device's path, and the odometry's world that it is in.
  private struct PathPoint: Codable {
    var world: Int
    var path: Double

    init(_ device: TrajectoryPoint) { (world, path) = (device.world, device.path) }
  }

  /// A peer by its index, with its place in the map.
  struct KnownPeer: Codable {
    var peer: Int
    var entry: Int
  }

  /// Where the device is in a map that is confirmed.
  struct Finding: Sendable, Codable {
    var faults: [SurveyFault]
    /// The peers that are where the map has them, by their indices, with their places in the map.
    var peers: [KnownPeer]
    /// Those whose places are taken as uncertain.
    var loose: [Int]
    /// The map with what is wrong corrected.
    var map: PeerMap
    var placement: MapPlacement

    /// Whether another finding uses the map in the same way.
    func isSame(as other: Finding?) -> Bool {
      guard let other else { return false }
      return faults == other.faults && loose == other.loose
        && peers.map(\.peer) == other.peers.map(\.peer)
    }
  }

  /// An examination is due when the walk has grown by this share, and by this many metres.
  private static let growth = 1.2
  private static let confirmedGrowth = 1.5
  /// Performance: the hypotheses grow in number with the peers, and each with them in size.
  private static let growthOfPeer = 0.04
  private static let leastWalk = 0.3
  /// A peer of the map takes part with this number of ranges.
  private static let leastRanges = 6

  init(_ map: PeerMap) {
    self.map = map
    window = AnchorWindow(
      anchors: map.peers.map(\.positionInWorld),
      errors: map.peers.indices.map { peer in
        let first = PeerMap.numbersPerPeer * peer
        func variance(_ row: Int) -> Double { map.covariance[(first + row) * (map.size + 1)] }
        return AnchorError(
          variance: map.positionCovariance(of: peer).trace / 3 + variance(3),
          scaleSigma: variance(4).squareRoot())
      })
  }

  /// Takes note of the next peer of the engine.
  mutating func add(peer motion: PeerMotion, named name: String?) {
    entries.append(
      motion == .stationary ? map.peers.firstIndex { $0.name == name } : nil)
  }

  /// Whether a restored localizer fits its map and a number of peers.
  func isConsistent(peerCount: Int) -> Bool {
    let (peers, anchors) = (0..<peerCount, map.peers.indices)
    let known = entries.compactMap(\.self)
    guard (try? map.validate()) != nil, entries.count == peerCount,
      known.allSatisfy(anchors.contains), Set(known).count == known.count,
      rangeCounts.count == (firstPath == nil ? 0 : anchors.count),
      window.isConsistent(anchorCount: anchors.count),
      verdict.faults.allSatisfy({ $0.isOf(anchors) })
    else { return false }
    guard let finding else { return true }
    return finding.peers.count == finding.map.peers.count
      && finding.peers.allSatisfy { peers.contains($0.peer) && anchors.contains($0.entry) }
      && Set(finding.peers.map(\.peer)).count == finding.peers.count
  }

  /// The map as it is used: with what is wrong corrected, and without displaced peers.
  var corrected: PeerMap {
    guard finding != nil else { return map }
    let hypothesis = verdict.faults.reduce(SurveyHypothesis()) { $0.adding($1) }
    let displaced = hypothesis.displaced
    return hypothesis.map(map).selecting(
      map.peers.indices.filter { !displaced.contains($0) })
  }

  /// Adds a range to a peer of the map.
  ///
  /// - Returns: Whether an examination is due.
  mutating func add(
    _ measurements: Measurements, of peer: Int, from device: TrajectoryPoint,
    _ configuration: FusionConfiguration
  ) -> Bool {
    guard let entry = entries[peer], let range = measurements[.range] else { return false }
    let radio = map.peers[entry]
    let isKept = window.add(
      (range.value - radio.rangeBias) / (1 + radio.rangeScale), to: entry, sigma: range.sigma,
      from: device,
      antennaInDevice: configuration.ranging.antennaInDevice)
    guard isKept else { return false }
    if firstPath?.world != device.world {
      firstPath = PathPoint(device)
      rangeCounts = [Int](repeating: 0, count: map.peers.count)
    }
    rangeCounts[entry] += 1
    guard heard.count >= SurveyExamination.leastAnchors else { return false }
    guard let examined, examined.world == device.world, let firstPath else { return true }
    let least = if case .confirmed = verdict { Self.confirmedGrowth } else { Self.growth }
    let growth = max(least, 1 + Self.growthOfPeer * Double(heard.count))
    let walk = examined.path - firstPath.path
    return device.path - examined.path >= max(Self.leastWalk, (growth - 1) * walk)
  }

  /// The peers of the map with enough ranges, with their places in it.
  private var heard: [KnownPeer] {
    let heard = entries.enumerated().compactMap { peer, entry in
      entry.flatMap {
        rangeCounts[$0] >= Self.leastRanges ? KnownPeer(peer: peer, entry: $0) : nil
      }
    }
    return Array(heard.prefix(JointEstimator.mostKnownPeers))
  }

  /// Examines the map.
  ///
  /// - Parameters:
  ///   - joint: The joint fit, with the samples.
  ///   - device: The device at the newest sample.
  ///   - filters: The peers' filters.
  ///   - settings: The settings.
  mutating func examine(
    _ joint: JointEstimator, at device: TrajectoryPoint, _ filters: [PeerFilter],
    _ settings: Settings
  ) {
    examined = PathPoint(device)
    let heard = self.heard
    let survey = map.selecting(heard.map(\.entry))
    var place = SurveyPlace(
      survey: survey, heard: heard, window: window, device: device, settings: settings)
    let examination = SurveyExamination(
      among: Array(heard.indices), measuresDifferences: false
    ) { place.evidence(of: $0, joint, filters) }
    // What has been excluded once is not doubted until something else is more likely.
    if finding != nil, examination.verdict == .untested { return }
    verdict = examination.verdict.renumbered { heard[$0].entry }
    let hypothesis = examination.hypothesis
    guard verdict.isUsed, let placement = place.placements[hypothesis.faults]
    else {
      finding = nil
      return
    }
    let displaced = hypothesis.displaced
    let kept = heard.indices.filter { !displaced.contains($0) }
    var used = hypothesis.map(survey)
    for anchor in examination.loose { used.widen(place: anchor, by: FaultSize.looseness) }
    finding = Finding(
      faults: hypothesis.faults, peers: kept.map { heard[$0] },
      loose: examination.loose.map { heard[$0].peer }.sorted(), map: used.selecting(kept),
      placement: placement)
  }

  /// Places the device under hypotheses, and says how probable these are.
  private struct SurveyPlace {
    let survey: PeerMap
    let heard: [KnownPeer]
    let window: AnchorWindow
    let device: TrajectoryPoint
    let settings: Settings
    /// Where the device is under each hypothesis so far.
    private(set) var placements: [[SurveyFault]: MapPlacement] = [:]
    private var solved: [[SurveyFault]: [AnchorSolution]] = [:]
    /// The cost of the newest ranges alone under the survey as it is (χ²), and its evidence.
    private var asSurveyed: (cost: Double, logEvidence: Double)?

    /// A hypothesis with so much more cost than the survey as it is needs no fit of all samples (χ²): it is
    /// excluded.
    private static let hopelessCost = 100.0

    init(
      survey: PeerMap, heard: [KnownPeer], window: AnchorWindow,
      device: TrajectoryPoint, settings: Settings
    ) {
      (self.survey, self.heard, self.window) = (survey, heard, window)
      (self.device, self.settings) = (device, settings)
    }

    mutating func evidence(
      of hypothesis: SurveyHypothesis, _ joint: JointEstimator, _ filters: [PeerFilter]
    ) -> SurveyExamination.Evidence? {
      let map = hypothesis.map(survey)
      let solutions = solutions(of: hypothesis, map)
      if let cost = solutions.first?.cost, let asSurveyed,
        cost > asSurveyed.cost + Self.hopelessCost
      {
        return SurveyExamination.Evidence(
          logEvidence: asSurveyed.logEvidence - 0.5 * (cost - asSurveyed.cost))
      }
      var found: [(mode: SurveyMode, placement: MapPlacement)] = []
      for solution in solutions {
        let placement = MapPlacement(
          place: solution.position, yawRadians: solution.turnRadians)
        for starts in starts(of: hypothesis.displaced, in: map, from: solution.position) {
          if let mode = joint.mode(
            of: map, peers: heard.map(\.peer), starts: starts, mapFromWorld: placement, at: device,
            filters, settings)
          {
            found.append(mode)
          }
        }
      }
      guard let best = found.max(by: { $0.mode.logEvidence < $1.mode.logEvidence }) else {
        return nil
      }
      placements[hypothesis.faults] = best.placement
      if hypothesis.faults.isEmpty {
        asSurveyed = (solutions.first?.cost ?? .infinity, best.mode.logEvidence)
      }
      return SurveyExamination.Evidence(of: hypothesis, survey, found.map(\.mode))
    }

    /// Where the device is under a hypothesis, by the newest ranges alone.
    private mutating func solutions(
      of hypothesis: SurveyHypothesis, _ map: PeerMap
    ) -> [AnchorSolution] {
      if let known = solved[hypothesis.faults] { return known }
      let displaced = hypothesis.displaced
      // Performance: of many anchors two that are exchanged move the device little.
      let isOnly =
        if case .exchanged = hypothesis.faults.last { heard.count >= Self.many } else { false }
      let found = window.solutions(
        at: device, settings.configuration,
        anchors: Dictionary(
          uniqueKeysWithValues: heard.indices.filter { !displaced.contains($0) }.map {
            (heard[$0].entry, map.peers[$0].positionInWorld)
          }), near: solved[Array(hypothesis.faults.dropLast())]?.first, isOnly: isOnly)
      solved[hypothesis.faults] = found
      return found
    }

    private static let many = 7

    /// Where displaced anchors are looked for: at their places, and mirrored at the device's height.
    private func starts(
      of displaced: Set<Int>, in map: PeerMap, from device: Vector3
    ) -> [[Int: Vector3]] {
      guard !displaced.isEmpty else { return [[:]] }
      let mirrored = displaced.map { anchor in
        let place = map.peers[anchor].positionInWorld
        return (anchor, Vector3(place.x, 2 * device.y - place.y, place.z))
      }
      return [[:], Dictionary(uniqueKeysWithValues: mirrored)]
    }
  }
}

extension SurveyFault {
  /// Whether the anchors that it names are among some.
  fileprivate func isOf(_ anchors: Range<Int>) -> Bool {
    switch self {
    case .displaced(let anchor): anchors.contains(anchor)
    case .exchanged(let a, let b): anchors.contains(a) && anchors.contains(b)
    case .upsideDown, .mirrored, .scaled, .reversed: true
    }
  }
}

extension SurveyVerdict {
  /// Whether the places are used.
  var isUsed: Bool {
    switch self {
    case .plausible, .confirmed: true
    case .untested, .contradicted: false
    }
  }

  /// The same with the anchors numbered otherwise.
  func renumbered(_ number: (Int) -> Int) -> SurveyVerdict {
    func renumbered(_ faults: [SurveyFault]) -> [SurveyFault] {
      faults.map { fault in
        switch fault {
        case .displaced(let anchor): .displaced(number(anchor))
        case .exchanged(let a, let b):
          .exchanged(min(number(a), number(b)), max(number(a), number(b)))
        default: fault
        }
      }
    }
    return switch self {
    case .untested: .untested
    case .plausible(let faults): .plausible(renumbered(faults))
    case .confirmed(let faults): .confirmed(renumbered(faults))
    case .contradicted(let faults): .contradicted(renumbered(faults))
    }
  }
}
