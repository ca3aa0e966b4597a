// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// At which of several places a peer at rest is, by ranges that are direct, reflected or faulty.
@Suite("Mode chain")
struct ModeChainTests {
  private static let settings = Settings(FusionConfiguration())
  private static let place = Vector3(0, 1, -6)
  /// Farther away than the place from everywhere on the walk, as a mirror image is.
  private static let image = Vector3(1, 1, -9)
  /// Nearer than the place from everywhere on the walk.
  private static let near = Vector3(1, 1, -3.5)

  /// A walk of a metre a second.
  private func device(_ index: Int) -> TrajectoryPoint {
    let turn = 0.25 * Double(index)
    return TrajectoryPoint(
      worldFromDevice: RigidTransform(
        rotation: .identity,
        translation: Vector3(
          0.6 * turn, 0.3 * Double(index % 5), Double([0, 1, 2, 1][index / 4 % 4]))),
      timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: Double(index)),
      path: Double(index))
  }

  /// The chain after so many cells, each with the range to a place of its own.
  ///
  /// The device is where a walk has it by the cell, or else that of ``device(_:)``.
  private func chain(
    of places: [Vector3], cells count: Int, along walk: ((Int) -> Vector3)? = nil,
    ranging peer: (Int) -> Vector3
  ) -> ModeChain {
    let cells = (0..<count).map { index in
      var device = device(index)
      if let walk { device.worldFromDevice.translation = walk(index) }
      var cell = ObservationWindow.Cell(device: device)
      let range = (peer(index) - cell.device.worldFromDevice.translation).length
      cell.measurements[.range] = MeasuredValue(value: range, sigma: 0.1)
      return cell
    }
    let covariance = SymmetricMatrix3(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01)
    return ModeChain(
      of: places.map { Mode(place: $0, covariance: covariance, at: device(count - 1)) }, cells,
      now: device(count - 1),
      Self.settings)
  }

  /// So many metres away from the places and back, over and over.
  private func lane(_ metres: Int) -> (Int) -> Vector3 {
    { index in
      let (walk, step) = (index / metres, Double(index % metres))
      return Vector3(0, 0, walk % 2 == 0 ? step : Double(metres) - step)
    }
  }

  @Test("a place that ranges leave for a farther one is left only after a walk")
  func moveAway() {
    func probability(after metres: Int) -> Double {
      chain(of: [Self.place, Self.image], cells: 20 + metres, along: lane(20)) {
        $0 < 20 ? Self.place : Self.image
      }.probability(of: 1)
    }
    #expect(probability(after: 2) < ModeChain.decisive)
    #expect(probability(after: 20) >= ModeChain.decisive)
  }

  @Test("farther ranges where direct ones were measured before are more probably those of a move")
  func comingBackToDirectRanges() {
    func odds(along walk: @escaping (Int) -> Vector3) -> Double {
      let moved = chain(of: [Self.place, Self.image], cells: 35, along: walk) {
        $0 < 30 ? Self.place : Self.image
      }.probability(from: 0, to: 1)
      return moved / (1 - moved)
    }
    let old = odds(along: lane(10))
    let new = odds { $0 < 30 ? lane(10)($0) : Vector3(0, 0, Double($0 - 20)) }
    #expect(old > 10 * new, "\(old), \(new)")
  }

  @Test("a mirror that is there again on each visit is no move")
  func comingBackToReflections() {
    let walk = lane(20)
    let chain = chain(of: [Self.place, Self.image], cells: 80, along: walk) {
      walk($0).z < 10 ? Self.place : Self.image
    }
    #expect(chain.probability(from: 0, to: 0) >= ModeChain.decisive)
  }

  @Test("no reflection is nearer: a place that ranges leave for a nearer one is left at once")
  func moveNear() {
    let chain = chain(of: [Self.place, Self.near], cells: 11) { $0 < 8 ? Self.place : Self.near }
    #expect(chain.probability(of: 1) >= ModeChain.decisive)
    // It may have been there all along, and reflected until now.
    #expect(chain.probability(from: 0, to: 1) < ModeChain.decisive)
  }

  @Test("a move from where a peer was for long is certain, and dated")
  func arrival() throws {
    let chain = chain(of: [Self.place, Self.near], cells: 60) { $0 < 40 ? Self.place : Self.near }
    let arrival = try #require(chain.arrival(at: 1))
    #expect(abs(arrival.seconds(since: device(40).timestamp)) < 1)
    #expect(chain.probability(from: 0, to: 1) >= ModeChain.decisive)
    let resting = self.chain(of: [Self.place, Self.near], cells: 60) { _ in Self.place }
    #expect(resting.arrival(at: 0) == nil)
  }

  @Test("a peer that comes back was elsewhere before, and is there now")
  func comingBack() {
    let chain = chain(of: [Self.place, Self.near], cells: 120, along: lane(10)) {
      (40..<80).contains($0) ? Self.near : Self.place
    }
    #expect(chain.probability(from: 1, to: 0) > 0.9)
    #expect(chain.probability(of: 0) >= ModeChain.decisive)
  }

  @Test("a reflection that was heard first is no place, as direct ranges are shorter")
  func reflectionFirst() {
    let chain = chain(of: [Self.image, Self.place], cells: 30) {
      $0 < 20 ? Self.image : Self.place
    }
    // Either it was reflected or moved nearer; where it is now is certain.
    #expect(chain.probability(of: 1) >= ModeChain.decisive)
  }

  @Test("faults decide nothing")
  func faults() {
    let far = Vector3(0, 1, -40)
    let chain = chain(of: [Self.place, Self.image], cells: 40) { $0 < 20 ? Self.place : far }
    #expect(chain.probability(from: 0, to: 0) > 0.5)
    #expect(chain.probability(of: 1) < 0.5)
  }

  @Test(
    "the probabilities of all places add up to one, in whatever order they are asked for",
    arguments: [1, 2, 3])
  func order(count: Int) {
    let places = Array([Self.place, Self.image, Self.near].prefix(count))
    let peer = { (index: Int) in index < 20 ? Self.place : Self.image }
    let (forwards, backwards) = (
      chain(of: places, cells: 35, ranging: peer),
      chain(of: places.reversed(), cells: 35, ranging: peer)
    )
    let sum = places.indices.reduce(0) { $0 + forwards.probability(of: $1) }
    #expect(abs(sum - 1) < 1e-12)
    for index in places.indices {
      let other = count - 1 - index
      #expect(abs(forwards.probability(of: index) - backwards.probability(of: other)) < 1e-9)
      #expect(
        abs(
          forwards.probability(ofNowOrBefore: index)
            - backwards.probability(ofNowOrBefore: other)) < 1e-9)
    }
  }

  @Test("without cells all places are as probable")
  func nothing() {
    let chain = ModeChain(
      of: [Self.place, Self.image].map {
        Mode(
          place: $0, covariance: SymmetricMatrix3(xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1),
          at: device(0))
      }, [], now: device(0), Self.settings)
    #expect(abs(chain.probability(of: 0) - 0.5) < 1e-12)
    #expect(chain.arrival(at: 0) == nil)
  }
}
