// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The places of peers at rest in a fixed frame and the errors of their ranges, with their joint covariance:
/// the result of one run, and the prior of another.
///
/// An engine that is given a map locates the device in it, and with it all peers of the map.
/// Surveyed anchors are a map whose covariance is small.
///
/// The frame is gravity aligned and y up, metres. That of a map that a run has made without one is the
/// odometry's world at the beginning of that run.
public struct PeerMap: Hashable, Sendable, Codable {
  /// A peer of the map.
  public struct Peer: Hashable, Sendable, Codable {
    /// Its name: a peer of this name in another run is the same (``FusionEngine/addPeer(_:named:)``).
    public var name: String
    /// Its position in the map's world, metres.
    public var positionInWorld: Vector3
    /// The constant error of its ranges, metres.
    public var rangeBias: Double
    /// The scale error of its ranges, a ratio.
    public var rangeScale: Double

    /// Makes one; ranges without errors unless said otherwise.
    public init(
      name: String, positionInWorld: Vector3, rangeBias: Double = 0, rangeScale: Double = 0
    ) {
      (self.name, self.positionInWorld) = (name, positionInWorld)
      (self.rangeBias, self.rangeScale) = (rangeBias, rangeScale)
    }
  }

  /// How many numbers are known of a peer: position (3), range bias and range scale.
  public static let numbersPerPeer = ChainLayout.peerSize

  /// The peers.
  public var peers: [Peer]
  /// The joint covariance of position, range bias and range scale of all peers, in their order: 5 n × 5 n,
  /// row by row.
  public var covariance: [Double]

  /// Makes a map.
  ///
  /// - Parameters:
  ///   - peers: The peers.
  ///   - covariance: Their joint covariance, 5 n × 5 n, row by row.
  public init(peers: [Peer], covariance: [Double]) {
    self.peers = peers
    self.covariance = covariance
  }

  /// Reads a map: its `peers` and their `covariance`.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws, and when the covariance has not 5 n × 5 n numbers. What an engine
  ///   needs besides is checked by ``validate()``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    peers = try container.decode([Peer].self, forKey: .peers)
    covariance = try container.decode([Double].self, forKey: .covariance)
    guard covariance.count == size * size else {
      throw DecodingError.dataCorruptedError(
        forKey: .covariance, in: container,
        debugDescription: "\(covariance.count) numbers, must be \(size * size)")
    }
  }

  /// The number of rows of the covariance.
  public var size: Int { Self.numbersPerPeer * peers.count }

  /// The covariance of a peer's position, m².
  ///
  /// - Parameter index: The peer's place in ``peers``.
  /// - Returns: The covariance.
  public func positionCovariance(of index: Int) -> SymmetricMatrix3 {
    let first = Self.numbersPerPeer * index
    func entry(_ row: Int, _ column: Int) -> Double {
      covariance[(first + row) * size + first + column]
    }
    return SymmetricMatrix3(
      xx: entry(0, 0), xy: entry(0, 1), xz: entry(0, 2), yy: entry(1, 1), yz: entry(1, 2),
      zz: entry(2, 2))
  }

  /// The map with some of the peers only.
  ///
  /// - Parameter chosen: Their places in ``peers``, in the order in which they are wanted.
  /// - Returns: The map, its covariance that of these peers.
  public func selecting(_ chosen: [Int]) -> PeerMap {
    let rows = chosen.flatMap { peer in
      (0..<Self.numbersPerPeer).map { Self.numbersPerPeer * peer + $0 }
    }
    return PeerMap(
      peers: chosen.map { peers[$0] },
      covariance: rows.flatMap { row in rows.map { covariance[row * size + $0] } })
  }

  /// The map in other axes.
  ///
  /// - Parameter rotation: From the map's axes to the others.
  /// - Returns: The same map there.
  public func turned(by rotation: Rotation) -> PeerMap {
    var turned = self
    for index in peers.indices {
      turned.peers[index].positionInWorld = rotation.act(peers[index].positionInWorld)
    }
    let axes = [rotation.xAxis, rotation.yAxis, rotation.zAxis]
    // Of each peer the first three rows are turned, and then, because it is symmetric, the columns.
    func turn(_ matrix: [Double]) -> [Double] {
      var result = matrix
      for peer in peers.indices {
        let first = Self.numbersPerPeer * peer
        for column in 0..<size {
          var sum = Vector3.zero
          for axis in 0..<3 { sum += matrix[(first + axis) * size + column] * axes[axis] }
          result[first * size + column] = sum.x
          result[(first + 1) * size + column] = sum.y
          result[(first + 2) * size + column] = sum.z
        }
      }
      return result
    }
    func transposed(_ matrix: [Double]) -> [Double] {
      (0..<matrix.count).map { matrix[$0 % size * size + $0 / size] }
    }
    turned.covariance = transposed(turn(transposed(turn(covariance))))
    return turned
  }

  /// Adds peers whose errors are independent of those that are there.
  public mutating func append(_ other: PeerMap) {
    let (old, added) = (size, other.size)
    var grown = [Double](repeating: 0, count: (old + added) * (old + added))
    for row in 0..<old {
      for column in 0..<old { grown[row * (old + added) + column] = covariance[row * old + column] }
    }
    for row in 0..<added {
      for column in 0..<added {
        grown[(old + row) * (old + added) + old + column] = other.covariance[row * added + column]
      }
    }
    peers += other.peers
    covariance = grown
  }

  /// Checks what an engine needs of a map.
  ///
  /// - Throws: The first thing that makes no sense.
  public func validate() throws(FusionConfigurationError) {
    func fault(_ setting: String, _ problem: String) -> FusionConfigurationError {
      FusionConfigurationError(setting: setting, problem: problem)
    }
    for (index, peer) in peers.enumerated() {
      guard peer.positionInWorld.isFinite, peer.positionInWorld.length < Self.farthest else {
        throw fault("map.peers[\(index)].position", "must be a place")
      }
      guard abs(peer.rangeBias) < Self.farthest, abs(peer.rangeScale) < 1 else {
        throw fault("map.peers[\(index)]", "must have a bias in metres and a scale below one")
      }
      guard !peers[..<index].contains(where: { $0.name == peer.name }) else {
        throw fault("map.peers[\(index)].name", "must be the only one of its name")
      }
    }
    guard covariance.count == size * size, covariance.allSatisfy(\.isFinite) else {
      throw fault("map.covariance", "must have \(size) rows and columns of numbers")
    }
    for row in 0..<size where covariance[row * size + row] < 0 {
      throw fault("map.covariance[\(row)]", "must not have a negative variance")
    }
    for row in 0..<size {
      for column in 0..<row {
        let (a, b) = (covariance[row * size + column], covariance[column * size + row])
        let scale = (covariance[row * size + row] * covariance[column * size + column]).squareRoot()
        guard abs(a - b) <= Self.asymmetry * scale else {
          throw fault("map.covariance[\(row)][\(column)]", "must be symmetric")
        }
      }
    }
    guard isPositiveDefinite(prior.covariance, size: size) else {
      throw fault("map.covariance", "must be positive definite: it contradicts itself")
    }
  }

  /// Rounding makes a difference of less, in products of two sigmas.
  private static let asymmetry = 1e-6

  private static let farthest = 1e6

  /// State and covariance as a prior takes them: nothing is known better than to these sigmas.
  var prior: (mean: [Double], covariance: [Double]) {
    let mean = peers.flatMap { peer in
      [
        peer.positionInWorld.x, peer.positionInWorld.y, peer.positionInWorld.z, peer.rangeBias,
        peer.rangeScale,
      ]
    }
    var floored = covariance
    for row in 0..<size {
      let least = Self.leastSigmas[row % Self.numbersPerPeer]
      floored[row * size + row] += least * least
    }
    return (mean, floored)
  }

  /// A millimetre of place and of bias, and a scale of 1e-5.
  private static let leastSigmas = [1e-3, 1e-3, 1e-3, 1e-3, 1e-5]
}
