// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// Whether settings serve an engine on the end of a recording.
///
/// The evidence is that of a model. Where the model is wrong, as for an odometry that slips now and then
/// instead of drifting steadily, the most probable settings may be ones with which an engine goes astray.
/// An engine that does predicts the measurements badly, and that shows without the truth: the score of
/// settings is the logarithm of the density of each value of the end, predicted by what came before.
///
/// The engine is the one that is used, given all that it is given in a run. While each sample corrects it,
/// the next one says little about its drift and about what the samples so far leave open. So a second score
/// is that of the first values after silences: stretches of the end that the engine does not hear.
struct HeldOutTest {
  /// Settings that belong together, by the quantities that they come from.
  struct Group {
    var quantities: [TuningResult.Quantity]
    var settings: [WritableKeyPath<FusionConfiguration, Double>]
    /// Whether the group is that all is in one plane, which is no quantity.
    var isPlane = false
  }

  /// The groups, in the order in which they are tested.
  static var groups: [Group] {
    [
      Group(quantities: [.yawDrift], settings: [\.odometry.yawDriftRadians]),
      Group(quantities: [.positionDrift], settings: [\.odometry.positionDrift]),
      Group(
        quantities: [.rangeOutliers, .angleOutliers],
        settings: [\.faults.rangeOnset, \.faults.angleOnset]),
      Group(
        quantities: [.rangeSigma, .rangeWhiteShare],
        settings: [\.ranging.rangeSigma, \.ranging.rangeWhiteShare]),
      Group(
        quantities: [.azimuthSigma, .azimuthWhiteShare, .elevationSigma, .elevationWhiteShare],
        settings: [
          \.ranging.azimuthSigmaRadians, \.ranging.azimuthWhiteShare,
          \.ranging.elevationSigmaRadians, \.ranging.elevationWhiteShare,
        ]),
      Group(
        quantities: [.rangeBias, .rangeScale],
        settings: [\.ranging.rangeBiasSigma, \.ranging.rangeScaleSigma]),
      Group(
        quantities: [.turnRate, .odometryScale],
        settings: [\.odometry.turnRateSigmaRadians, \.odometry.scaleSigma]),
      Group(
        quantities: [.antennaX, .antennaY, .antennaZ],
        settings: [
          \.ranging.antennaInDevice.x, \.ranging.antennaInDevice.y, \.ranging.antennaInDevice.z,
        ]),
      Group(quantities: [.clockOffset], settings: [\.ranging.clockOffset]),
      Group(quantities: [], settings: [], isPlane: true),
    ]
  }

  /// The share of the samples that settings are found on.
  static let beginning = 2.0 / 3
  /// The largest number of samples that an engine is given; two thirds of them come before the end.
  private let mostSamples: Int
  /// The silences after which predictions are scored, too.
  private let silences: [Silence]

  /// What is predicted of the end, as logarithms of densities.
  struct Score {
    /// Of all values, each by all that came before it.
    var next = 0.0
    /// Of the first values after silences.
    var afterSilence = 0.0

    /// The margin by which this score is no worse than another one, nats; negative where it is worse.
    ///
    /// The first values after silences are few: chance may cost them ``TuningResult/contradiction``.
    func margin(over other: Score) -> Double {
      min(next - other.next, afterSilence - other.afterSilence + TuningResult.contradiction)
    }
  }

  /// A stretch that comes again and again, in which peers are not heard.
  struct Silence {
    /// How long it is, and how long all are heard after it.
    var seconds: Double
    /// Whether it is that of every other peer in turn, and not of all peers at once.
    var isInTurn: Bool
    /// Zero or one: which half of the time is silent.
    var half: Int

    static let all: [Silence] = [5, 20, 60].flatMap { seconds in
      [false, true].flatMap { isInTurn in
        [0, 1].map { Silence(seconds: seconds, isInTurn: isInTurn, half: $0) }
      }
    }

    /// Whether a peer is not heard; `seconds` is the time since the end began.
    func holds(_ peer: Int, after seconds: Double) -> Bool {
      let stretch = Int((seconds / self.seconds).rounded(.down))
      return (stretch + half + (isInTurn ? peer : 0)) % 2 == 1
    }
  }

  /// The events that an engine is given, in order.
  private struct Course {
    /// The events before the end of the recording, and those of the end.
    var before: ArraySlice<TuningData.Event>
    var end: ArraySlice<TuningData.Event>
    /// When the end begins, by the radio's clock.
    var start: Timestamp
  }

  private let data: TuningData
  private let stated: FusionConfiguration
  private let motions: [PeerMotion]
  private let faults: FaultModel
  private let excess: Double

  /// Makes the test of a recording with samples.
  init(_ data: TuningData, mostSamples: Int = 50_000, silences: [Silence] = Silence.all) {
    self.data = data
    self.mostSamples = mostSamples
    self.silences = silences
    stated = data.stated
    motions = data.eventMotions
    faults = FaultModel(stated)
    excess = faults.rangeExcess(sigma: stated.ranging.rangeSigma)
  }

  /// The events in their order with an offset of the radio's clock.
  private func course(clockOffset: Double) -> Course {
    let events = data.events(clockOffset: clockOffset)
    let places = events.indices.filter { events[$0].sampleTime != nil }
    let times = places.compactMap { events[$0].sampleTime }
    let start = times.sorted()[min(Int(Self.beginning * Double(times.count)), times.count - 1)]
    let split = times.firstIndex { $0 >= start } ?? 0
    let heard = Int(Self.beginning * Double(mostSamples))
    let first = split > heard ? places[split - heard] : 0
    let last = split + mostSamples - heard
    let middle = places[split]
    return Course(
      before: events[first..<middle],
      end: events[middle..<(last < places.count ? places[last] : events.endIndex)], start: start)
  }

  /// The groups that make the end less probable than it is without them, by more than chance does.
  ///
  /// - Parameter found: The settings that were found on the beginning.
  /// - Returns: Their numbers among ``groups``.
  func harmfulGroups(in found: FusionConfiguration) -> [Int] {
    var harmful: [Int] = []
    var kept = found
    var best = score(of: kept, silences: []).next
    for (index, group) in Self.groups.enumerated() {
      var without = kept
      without.restore(group, from: stated)
      guard without != kept else { continue }
      let other = score(of: without, silences: []).next
      guard other > best + TuningResult.contradiction else { continue }
      (kept, best) = (without, other)
      harmful.append(index)
    }
    return harmful
  }

  /// The groups that are to be left as stated, so that the rest predicts the end no worse than all as stated.
  ///
  /// While it does, the group goes without which the rest predicts the end best.
  ///
  /// - Parameters:
  ///   - written: All the settings that are to be written.
  ///   - base: The settings over which they must prove themselves; those that are stated when `nil`.
  /// - Returns: Their numbers among ``groups``.
  func unsupportedGroups(
    in written: FusionConfiguration, over base: FusionConfiguration? = nil
  ) -> [Int] {
    let stated = base ?? stated
    var unsupported: [Int] = []
    var kept = written
    guard kept != stated else { return [] }
    let least = score(of: stated)
    var margin = score(of: kept).margin(over: least)
    while margin < 0 {
      var best: (index: Int, settings: FusionConfiguration, margin: Double)?
      for (index, group) in Self.groups.enumerated() {
        var without = kept
        without.restore(group, from: stated)
        guard without != kept else { continue }
        let other = without == stated ? 0 : score(of: without).margin(over: least)
        if other > best?.margin ?? -.infinity { best = (index, without, other) }
      }
      guard let best else { break }
      (kept, margin) = (best.settings, best.margin)
      unsupported.append(best.index)
    }
    return unsupported
  }

  /// What an engine with some settings predicts of the end.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - silences: The silences after which predictions are scored; those of the test when `nil`.
  /// - Returns: The score.
  func score(
    of configuration: FusionConfiguration, silences: [Silence]? = nil
  ) -> Score {
    guard var engine = try? FusionEngine(configuration) else {
      return Score(next: -.infinity, afterSilence: -.infinity)
    }
    let course = course(clockOffset: configuration.ranging.clockOffset)
    for motion in motions { _ = engine.addPeer(motion) }
    for event in course.before { engine.add(event) }
    var score = Score()
    var listener = engine
    for event in course.end {
      if let report = listener.add(event) { score.next += logDensity(of: report) }
    }
    for silence in silences ?? self.silences {
      var listener = engine
      var silent = [Bool](repeating: false, count: motions.count)
      for event in course.end {
        if case .sample(let sample) = event {
          let peer = sample.peer.index
          if silence.holds(peer, after: max(0, sample.timestamp.seconds(since: course.start))) {
            silent[peer] = true
            continue
          }
          let report = listener.add(sample)
          if silent[peer] { score.afterSilence += logDensity(of: report) }
          silent[peer] = false
        } else {
          listener.add(event)
        }
      }
    }
    return score
  }

  /// The logarithm of the density of a sample's values.
  private func logDensity(of report: SampleReport) -> Double {
    var sum = 0.0
    for kind in MeasurementKind.allCases {
      let (component, outliers) = (report[kind], faults.outlierShare(of: kind))
      if case .absent = component.outcome { continue }
      var density =
        outliers
        * faults.outlierDensity(of: kind, innovation: component.innovation, excess: excess)
      if component.innovationVariance > 0 {
        let square =
          component.innovation * component.innovation / component.innovationVariance
        density +=
          (1 - outliers) * exp(-0.5 * square)
          / (2 * .pi * component.innovationVariance).squareRoot()
      }
      sum += log(density)
    }
    return sum
  }
}

extension TuningData.Event {
  /// When a sample was measured; `nil` for all else.
  fileprivate var sampleTime: Timestamp? {
    if case .sample(let sample) = self { sample.timestamp } else { nil }
  }
}

extension FusionEngine {
  /// Takes an event; the report of a sample.
  @discardableResult
  fileprivate mutating func add(_ event: TuningData.Event) -> SampleReport? {
    switch event {
    case .pose(let pose): add(pose)
    case .tracking(let tracking): add(tracking)
    case .sample(let sample): return add(sample)
    }
    return nil
  }
}

extension FusionConfiguration {
  /// Sets a group of settings to what they are in others.
  mutating func restore(_ group: HeldOutTest.Group, from stated: FusionConfiguration) {
    if group.isPlane { odometry.isPlanar = stated.odometry.isPlanar }
    for path in group.settings { self[keyPath: path] = stated[keyPath: path] }
    if group.quantities.contains(where: { $0.isWhiteShare }) {
      ranging.whiteSharesAreKnown = stated.ranging.whiteSharesAreKnown
    }
  }
}

extension TuningResult.Quantity {
  fileprivate var isWhiteShare: Bool {
    switch self {
    case .rangeWhiteShare, .azimuthWhiteShare, .elevationWhiteShare: true
    default: false
    }
  }
}
