// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The probabilities of the places at which a peer at rest may be, by all that was measured of it.
///
/// A hidden Markov chain over the cells of a walk. Its state is the place where the peer is, that from which it came
/// there, which is the same place if it was not moved, and the channel of the radio: direct, by way of one of the
/// other places, or faulty. A range by way of a mirror is that to a mirror image, which is farther away than the peer.
///
/// The channel c follows from the one before, over a walk of m metres, and from that of the cell that was measured
/// nearest to this one on an earlier visit, at d metres:
///
///     p(c' | c) ∝ (λ δ(c, c') + (1 - λ) s(c')) M(c'),   M(c') = ν q(c') / s(c') + 1 - ν
///
/// with the shares s of the channels, their probabilities q at the earlier visit if the peer was at its place then,
/// `λ = exp(-m/L)` and `ν = (1 - r) exp(-d/L)`. What an obstacle or a mirror does to a range, it does again when the
/// device comes back; a peer that was moved is measured at other distances from the same place. Without this both are
/// as probable.
///
/// The forward algorithm gives the probability of each state. It costs 48 cells × n² (n + 1) states for n places.
struct ModeChain {
  /// How many places there are.
  private let count: Int
  /// By the place before, the place now and the channel.
  private var probabilities: [Double]
  /// The probability of a state times the mean time at which the peer came to its place, seconds after the start.
  private var arrivals: [Double]
  /// The probabilities after each cell, one cell after another.
  private var visits: [Double] = []
  private let start: Timestamp
  /// Of each place, that the peer is there.
  private var places: [Double]

  /// The probability from which on one of several places is that of the peer.
  static let decisive = 0.99
  /// The probability of a place that need not be weighed any longer.
  static let negligible = 1e-4
  /// The share r of ranges by way of one mirror, the length L over which channels are correlated, metres, and the time
  /// for which things that can be carried stay where they are, seconds.
  ///
  /// They decide little: with shares of 0.01 to 0.05, 5 to 8 m, and 1000 to 10 000 s, of 60 walks each 2 to 10 beside a
  /// reflector and 3 to 6 among walls report a move, 53 to 57 and 60 of 60 moves are reported, and 15 or all of 16
  /// peers that are taken away among eight.
  private static let reflectedShare = 0.02
  private static let channelMetres = 5.0
  private static let restSeconds = 10_000.0

  /// Passes through the cells of a walk.
  ///
  /// - Parameters:
  ///   - modes: The places; at least one.
  ///   - cells: What was measured of the peer, the oldest first.
  ///   - now: The device now.
  ///   - settings: The settings.
  init(
    of modes: [Mode], _ cells: [ObservationWindow.Cell], now: TrajectoryPoint, _ settings: Settings
  ) {
    count = modes.count
    start = cells.first?.device.timestamp ?? now.timestamp
    probabilities = [Double](repeating: 0, count: count * count * (count + 1))
    arrivals = probabilities
    places = [Double](repeating: 0, count: count)
    let faultShare = settings.faults.outlierShare(of: .range)
    for mode in 0..<count {
      for channel in channels {
        probabilities[state(mode, mode, channel)] =
          share(of: channel, at: mode, faultShare) / Double(count)
      }
    }
    var likelihoods = [Double](repeating: 1, count: count * (count + 1))
    let dilution = DriftInWindow.dilution(keyframes: cells.count, isFlat: false)
    var before = cells.first?.device ?? now
    visits.reserveCapacity(cells.count * probabilities.count)
    for (index, cell) in cells.enumerated() {
      predict(from: before, to: index, of: cells, faultShare)
      findLikelihoods(&likelihoods, of: cell, modes, dilution: dilution, settings)
      update(by: likelihoods)
      visits.append(contentsOf: probabilities)
      before = cell.device
    }
  }

  /// The probability that the peer is at a place now.
  func probability(of mode: Int) -> Double {
    (0..<count).reduce(0) { $0 + probability(from: $1, to: mode) }
  }

  /// The probability that it is at a place, or was before it was moved.
  func probability(ofNowOrBefore mode: Int) -> Double {
    (0..<count).reduce(probability(of: mode)) {
      $1 == mode ? $0 : $0 + probability(from: mode, to: $1)
    }
  }

  /// The probability that it was moved from one place to another, or that it was not moved from a place.
  func probability(from previous: Int, to mode: Int) -> Double {
    channels.reduce(0) { $0 + probabilities[state(previous, mode, $1)] }
  }

  /// When the peer came to a place, if it more probably came there than was there all along.
  func arrival(at mode: Int) -> Timestamp? {
    let others = (0..<count).filter { $0 != mode }
    let came = others.reduce(0) { $0 + probability(from: $1, to: mode) }
    guard came > probability(from: mode, to: mode) else { return nil }
    let sum = others.reduce(0) { sum, first in
      channels.reduce(sum) { $0 + arrivals[state(first, mode, $1)] }
    }
    return start.advanced(bySeconds: sum / came)
  }

  // MARK: States

  /// By way of each place, of which the peer's own is the direct one, and faulty.
  private var channels: Range<Int> { 0..<count + 1 }

  private func state(_ previous: Int, _ mode: Int, _ channel: Int) -> Int {
    (previous * count + mode) * (count + 1) + channel
  }

  /// The share of a channel in the long run.
  private func share(of channel: Int, at mode: Int, _ faultShare: Double) -> Double {
    if channel == count { return faultShare }
    return channel == mode
      ? 1 - faultShare - Double(count - 1) * Self.reflectedShare : Self.reflectedShare
  }

  // MARK: Earlier visits

  /// A cell that was measured near another one, a walk ago.
  private struct Visit {
    var cell: Int
    /// The factor ν by which its channel is that of now.
    var correlation: Double
    /// The probability of the pair of places of which it is.
    var probability: Double
  }

  /// The nearest cell before a walk that is longer than channels last, since the peer came to its place.
  ///
  /// - Parameters:
  ///   - index: The cell.
  ///   - pair: The states of the place and of that from which the peer came there.
  ///   - cells: All cells.
  /// - Returns: It; `nil` if there is none.
  private func earlierVisit(
    of index: Int, pair: Range<Int>, in cells: [ObservationWindow.Cell]
  ) -> Visit? {
    let here = cells[index].device
    let (now, arrival) = pair.reduce((0.0, 0.0)) {
      ($0.0 + probabilities[$1], $0.1 + arrivals[$1])
    }
    var nearest: (cell: Int, metres: Double)?
    for other in cells[..<index].indices {
      let device = cells[other].device
      guard here.path - device.path > Self.channelMetres else { break }
      guard now * device.timestamp.seconds(since: start) >= arrival else { continue }
      let metres = (device.worldFromDevice.translation - here.worldFromDevice.translation).length
      if metres < nearest?.metres ?? .infinity { nearest = (other, metres) }
    }
    guard let nearest else { return nil }
    let then = pair.reduce(0) { $0 + visits[nearest.cell * probabilities.count + $1] }
    guard then > .leastNormalMagnitude else { return nil }
    return Visit(
      cell: nearest.cell,
      correlation: (1 - Self.reflectedShare) * exp(-nearest.metres / Self.channelMetres),
      probability: then)
  }

  /// The factor M of a state with a share.
  private func memory(of visit: Visit?, _ state: Int, share: Double) -> Double {
    guard let visit, share > 0 else { return 1 }
    let then = visits[visit.cell * probabilities.count + state] / visit.probability
    return visit.correlation * then / share + 1 - visit.correlation
  }

  // MARK: The forward algorithm

  /// Lets channels end, and the peer be moved.
  private mutating func predict(
    from before: TrajectoryPoint, to index: Int, of cells: [ObservationWindow.Cell],
    _ faultShare: Double
  ) {
    let device = cells[index].device
    let seconds = abs(device.timestamp.seconds(since: before.timestamp))
    let lasting = exp(-abs(device.path - before.path) / Self.channelMetres)
    let resting = exp(-seconds / Self.restSeconds)
    let leaving = count > 1 ? (1 - resting) / Double(count - 1) : 0
    let time = device.timestamp.seconds(since: start)
    for mode in 0..<count { places[mode] = probability(of: mode) }
    for previous in 0..<count {
      for mode in 0..<count {
        let first = state(previous, mode, 0)
        let pair = first..<first + count + 1
        let visit = earlierVisit(of: index, pair: pair, in: cells)
        // As Σ s M = 1, the sum over c' is λ M(c) + 1 - λ.
        var here = (probability: 0.0, arrival: 0.0)
        for channel in channels {
          let state = first + channel
          let share = share(of: channel, at: mode, faultShare)
          let memory = memory(of: visit, state, share: share)
          let scale = resting / (lasting * memory + 1 - lasting)
          probabilities[state] *= scale
          arrivals[state] *= scale
          here.probability += probabilities[state]
          here.arrival += arrivals[state]
        }
        let coming = previous == mode ? 0 : leaving * places[previous]
        for channel in channels {
          let state = first + channel
          let share = share(of: channel, at: mode, faultShare)
          let memory = memory(of: visit, state, share: share)
          let changed = (1 - lasting) * share
          probabilities[state] =
            memory * (lasting * probabilities[state] + changed * here.probability)
            + share * coming
          arrivals[state] =
            memory * (lasting * arrivals[state] + changed * here.arrival) + share * coming * time
        }
      }
    }
  }

  /// Finds the likelihoods of a cell, by the place and the channel.
  private func findLikelihoods(
    _ likelihoods: inout [Double], of cell: ObservationWindow.Cell, _ modes: [Mode],
    dilution: Double, _ settings: Settings
  ) {
    for index in likelihoods.indices { likelihoods[index] = 1 }
    let device = cell.device.worldFromDevice.translation
    for kind in MeasurementKind.allCases {
      guard let measured = cell.measurements[kind] else { continue }
      let excess = kind == .range ? settings.faults.rangeExcess(sigma: measured.sigma) : 0
      for (place, mode) in modes.enumerated() {
        let innovation = mode.innovation(
          of: kind, measured, at: cell.device, dilution: dilution, settings)
        let density = innovation.density
        for other in 0..<count where other != place && kind.isOfRadio {
          // No mirror makes a way shorter.
          let isFarther = mode.distance(from: device) > modes[other].distance(from: device)
          likelihoods[other * (count + 1) + place] *= isFarther ? density : 0
        }
        let own = place * (count + 1)
        likelihoods[own + place] *= density
        // The heights of a peer do not depend on the radio.
        if !kind.isOfRadio {
          for channel in channels where channel != place { likelihoods[own + channel] *= density }
        } else {
          likelihoods[own + count] *= settings.faults.outlierDensity(
            of: kind, innovation: innovation.value, excess: excess)
        }
      }
    }
  }

  /// Takes a cell in.
  private mutating func update(by likelihoods: [Double]) {
    var sum = 0.0
    for index in probabilities.indices {
      probabilities[index] *= likelihoods[index % likelihoods.count]
      arrivals[index] *= likelihoods[index % likelihoods.count]
      sum += probabilities[index]
    }
    // A cell that nothing explains says nothing.
    guard sum > .leastNormalMagnitude else { return }
    for index in probabilities.indices {
      probabilities[index] /= sum
      arrivals[index] /= sum
    }
  }
}
