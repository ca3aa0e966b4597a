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
/// there, which is the same place if it was not moved, and the channel of the radio: direct, by way of one of the other places, or faulty. A range by way
/// of a mirror is that to a mirror image, which is farther away than the peer. The forward algorithm gives the
/// probability of each state. It costs 48 cells × n² (n + 1) states for n places.
struct ModeChain {
  /// How many places there are.
  private let count: Int
  /// By the place before, the place now and the channel.
  private var probabilities: [Double]
  /// The probability of a state times the mean time at which the peer came to its place, seconds after the start.
  private var arrivals: [Double]
  private let start: Timestamp
  /// Of each place, that the peer is there.
  private var places: [Double]

  /// The probability from which on one of several places is that of the peer.
  static let decisive = 0.99
  /// The probability of a place that need not be weighed any longer.
  static let negligible = 1e-4
  /// The share of ranges by way of one mirror, the walk over which a channel lasts, metres, and the time for which
  /// things that can be carried stay where they are, seconds.
  ///
  /// With these 9 of 60 walks beside a reflector and 3 of 60 among walls report a move, 60 and 59 of 60 moves are
  /// reported, and so is each of 16 peers that are taken away among eight.
  private static let reflectedShare = 0.01
  private static let channelMetres = 5.0
  private static let restSeconds = 1000.0

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
    for cell in cells {
      predict(from: before, to: cell.device, faultShare)
      findLikelihoods(&likelihoods, of: cell, modes, dilution: dilution, settings)
      update(by: likelihoods)
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

  // MARK: The forward algorithm

  /// Lets channels end, and the peer be moved.
  private mutating func predict(
    from before: TrajectoryPoint, to device: TrajectoryPoint, _ faultShare: Double
  ) {
    let seconds = abs(device.timestamp.seconds(since: before.timestamp))
    let lasting = exp(-abs(device.path - before.path) / Self.channelMetres)
    let resting = exp(-seconds / Self.restSeconds)
    let leaving = count > 1 ? (1 - resting) / Double(count - 1) : 0
    let time = device.timestamp.seconds(since: start)
    for mode in 0..<count { places[mode] = probability(of: mode) }
    for previous in 0..<count {
      for mode in 0..<count {
        let coming = previous == mode ? 0 : leaving * places[previous]
        let here = channels.reduce(into: (probability: 0.0, arrival: 0.0)) {
          $0.probability += probabilities[state(previous, mode, $1)]
          $0.arrival += arrivals[state(previous, mode, $1)]
        }
        for channel in channels {
          let index = state(previous, mode, channel)
          let share = share(of: channel, at: mode, faultShare)
          let changed = (1 - lasting) * share
          probabilities[index] =
            resting * (lasting * probabilities[index] + changed * here.probability)
            + share * coming
          arrivals[index] =
            resting * (lasting * arrivals[index] + changed * here.arrival) + share * coming * time
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
