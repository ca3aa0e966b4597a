// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// The kernels of a chain in which radio and odometry err as they do.
@Suite("Error chain")
struct ErrorChainTests {
  /// A short walk past two peers with all kinds of measurements, exact but for a noise.
  private struct Walk {
    var chain: ErrorChain
    var state: [Double]

    init(noise: Double, seed: UInt64) {
      var draw = SeededGenerator(seed: seed)
      let places = (0..<4).map { Vector3(2 * Double($0), 0.3 * sin(Double($0)), cos(Double($0))) }
      let knots = places.indices.map { index in
        var knot = ErrorChain.Knot(
          place: places[index],
          step: places[min(index + 1, places.count - 1)] - places[index], seconds: 2)
        knot.horizontalVariance = 0.01
        knot.verticalVariance = 0.01
        knot.yawVariance = 1e-3
        knot.placeCorrelation = 0.5
        knot.placeInnovation = 0.01
        knot.commonVariance = 0.01
        return knot
      }
      let peers = [Vector3(3, 1.5, -4), Vector3(-1, 0.5, 5)]
      let antenna = Vector3(0.05, 0.1, -0.03)
      var cells: [ErrorChain.Cell] = []
      for step in 0..<60 {
        let (knot, share) = (step / 20, Double(step % 20) / 20)
        let place = places[knot] + share * (places[knot + 1] - places[knot])
        let yaw = Rotation(angleRadians: 0.11 * Double(step), about: Vector3(0, 1, 0))
        let pitch = Rotation(angleRadians: 0.4 * sin(Double(step)), about: Vector3(1, 0, 0))
        let pose = RigidTransform(rotation: yaw * pitch, translation: place)
        let peer = step % 2
        let offset = pose.rotation.inverse.act(peers[peer] - place) - antenna
        let angles = ArrivalAngles(ofDirection: offset)
        cells.append(
          ErrorChain.Cell(
            worldFromDevice: pose, velocity: Vector3(1, 0.1, -0.4), turnRate: Vector3(0, 1.1, 0.2),
            values: (
              offset.length + draw.normal(sigma: noise),
              angles.azimuthRadians + draw.normal(sigma: noise),
              angles.elevationRadians + draw.normal(sigma: noise)
            ), variances: (0.01, 0.01, 0.01), knot: knot, share: share, peer: peer))
      }
      chain = ErrorChain(knots: knots, cells: cells, peerCount: peers.count)
      chain.firstPlaceVariance = 0.01
      let layout = chain.layout
      for index in chain.priors.indices { chain.priors[index] = .init(sigma: 0.1) }
      // The poses of cells are taken at an offset of the clock, which the cost at a state does not know, and the
      // steps leave out that a harmonic changes with the azimuth.
      chain.priors[layout.clockOffset] = .init(sigma: 1e-6)
      for index in layout.harmonics { chain.priors[index] = .init(sigma: 1e-6) }
      state = [Double](repeating: 0, count: layout.stateCount)
      for (index, place) in places.enumerated() { set(layout.blockSize * index, place) }
      for (index, place) in peers.enumerated() {
        set(layout.border + layout.peer(index), place)
        for (axis, value) in [place.x, place.y, place.z].enumerated() {
          chain.priors[layout.peer(index) + axis] = .init(mean: value, sigma: 3)
        }
      }
      set(layout.border + layout.antenna, antenna)
    }

    private mutating func set(_ first: Int, _ vector: Vector3) {
      (state[first], state[first + 1], state[first + 2]) = (vector.x, vector.y, vector.z)
    }

    /// The derivative of the cost by an unknown, by differences.
    func slope(_ index: Int, _ workspace: inout [Double]) -> Double {
      let step = 1e-5
      var (above, below) = (state, state)
      above[index] += step
      below[index] -= step
      return (chain.cost(at: above, &workspace) - chain.cost(at: below, &workspace)) / (2 * step)
    }
  }

  @Test(
    "Gauss and Newton's method ends where the cost has no slope, by differences", arguments: 1...3)
  func mode(seed: Int) throws {
    var walk = Walk(noise: 0.1, seed: UInt64(seed))
    walk.chain.outlierShares = (0.05, 0.05, 0.05)
    var workspace: [Double] = []
    var none: ErrorChain.Moments?
    let layout = walk.chain.layout
    let fixed = Set(
      [layout.clockOffset].map { layout.border + $0 } + layout.harmonics.map { layout.border + $0 })
    for index in walk.state.indices where !fixed.contains(index) {
      walk.state[index] += 0.02 * sin(Double(7 * index))
    }
    for _ in 0..<60 {
      let (step, _) = try #require(walk.chain.step(from: walk.state, moments: &none, &workspace))
      for index in step.indices { walk.state[index] += step[index] }
    }
    let held = fixed.union(Set(0..<4)).union([layout.commonError])
    for index in walk.state.indices where !held.contains(index) {
      // Of slopes of 10 and more beside the mode.
      #expect(abs(walk.slope(index, &workspace)) < 0.02, "unknown \(index)")
    }
  }

  @Test("covariances are the inverse of the cost's second derivatives, by differences")
  func covariances() throws {
    // With exact measurements the second derivatives of the predictions do not count.
    let walk = Walk(noise: 0, seed: 1)
    let layout = walk.chain.layout
    var workspace: [Double] = []
    var moments: ErrorChain.Moments? = walk.chain.noMoments
    _ = try #require(walk.chain.step(from: walk.state, moments: &moments, &workspace))
    let found = try #require(moments)
    let count = layout.stateCount
    var curvature = [Double](repeating: 0, count: count * count)
    let step = 1e-4
    for column in 0..<count {
      var (above, below) = (walk, walk)
      above.state[column] += step
      below.state[column] -= step
      for row in 0..<count {
        let difference = above.slope(row, &workspace) - below.slope(row, &workspace)
        curvature[column * count + row] = difference / (2 * step)
      }
    }
    for index in 0..<count { curvature[index * count + index] += 1e-9 }
    let inverse = try #require(positiveDefiniteInverse(of: curvature, order: count))
    func exact(_ row: Int, _ column: Int) -> Double { inverse[column * count + row] }
    for index in 0..<layout.borderSize
    where index != layout.clockOffset && !layout.harmonics.contains(index) {
      let exact = exact(layout.border + index, layout.border + index)
      let variance = found.covariance[index * layout.borderSize + index]
      #expect(abs(variance - exact) < 0.02 * exact, "unknown \(index): \(variance) \(exact)")
    }
    // The drift of yaw between the second and the third knot.
    let (a, b) = (layout.blockSize + 3, 2 * layout.blockSize + 3)
    let turn = layout.border + layout.turnRate
    let gradient = [(a, -1.0), (b, 1.0), (turn, -2.0)]
    var variance = 0.0
    for (row, x) in gradient {
      for (column, y) in gradient { variance += x * exact(row, column) * y }
    }
    let moment = found.innovations[layout.blockSize + 3]
    #expect(abs(moment.variance - variance) < 0.02 * variance)
  }
}
