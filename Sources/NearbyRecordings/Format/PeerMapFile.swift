// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// `map.json`: where peers at rest are in a building, which one run keeps for the next.
///
/// ```json
/// {
///   "format": "nearby-map", "version": 1, "world": { "up": "z" },
///   "peers": [
///     { "id": "door", "position": [0.2, 3.1, 2.2], "positionSigma": 0.01 },
///     { "id": "desk", "position": [4.0, 1.5, 0.8], "positionSigma": 0.01 }
///   ]
/// }
/// ```
///
/// Such a file is written by hand for surveyed anchors. A run adds the joint covariance of position, range
/// bias and range scale of all peers, `covariance`, whose rows stand in the peers' order; the sigmas are
/// then for readers only. An unknown key is an error.
public struct PeerMapFile: Hashable, Sendable {
  /// The value of the key `format`.
  public static let format = "nearby-map"
  /// The value of the key `version`.
  public static let version = 1

  /// The map in the engine's axes.
  public var map: PeerMap
  /// The recordings that it holds: each counts once.
  public var recordings: [Recording] = []

  /// A recording that a map holds.
  public struct Recording: Hashable, Sendable, Codable {
    /// Its name.
    public var name: String
    /// A digest of its `ranging.csv`.
    public var digest: String

    /// Makes one.
    public init(name: String, digest: String) { (self.name, self.digest) = (name, digest) }
  }

  /// How surely a peer's place is known where a file does not say, one sigma, metres.
  public static let surveyedSigma = 0.01

  /// Makes a file.
  public init(map: PeerMap, recordings: [Recording] = []) {
    (self.map, self.recordings) = (map, recordings)
  }

  // MARK: Reading

  /// Reads a map.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - configuration: What is known of ranges where the file does not say.
  /// - Throws: The first fault, with its place.
  public init(
    path: String, _ configuration: FusionConfiguration
  ) throws(RecordingError) {
    try self.init(json: FileBytes.read(path: path), file: path, configuration)
  }

  /// Reads a map from its JSON text.
  ///
  /// - Parameters:
  ///   - json: The text in UTF-8.
  ///   - file: The name for errors.
  ///   - configuration: What is known of ranges where the file does not say.
  /// - Throws: The first fault, with its place.
  public init(
    json: [UInt8], file: String, _ configuration: FusionConfiguration
  ) throws(RecordingError) {
    var root = try ManifestObject(LocatedJSON.parse(json, file: file), path: "", file: file)
    try root.checkFormat(
      Self.format, version: Self.version,
      remedy: "give a map that 'nearby run --map' has written, or one like it")
    var up = WorldUp.y
    var warnings = RecordingWarnings()
    if var world = try root.object("world") {
      up = try world.choice("up") ?? up
      world.finish(&warnings)
    }
    for var object in try root.objects("recordings") ?? [] {
      recordings.append(
        Recording(
          name: try object.requiredString("name"), digest: try object.requiredString("digest")))
      object.finish(&warnings)
    }
    var peers: [PeerMap.Peer] = []
    var sigmas: [Double] = []
    let ranging = configuration.ranging
    for var object in try root.objects("peers") ?? [] {
      let name = try object.requiredString("id")
      guard let position = try object.vector("position", within: Self.farthest) else {
        throw object.missing("position")
      }
      if name.isEmpty || peers.contains(where: { $0.name == name }) {
        throw object.outOfRange(
          "id", name.isEmpty ? "is empty" : "\"\(name)\" appears twice",
          remedy: "give each peer a name of its own")
      }
      let place = try object.number("positionSigma", in: 0...1e3) ?? Self.surveyedSigma
      let bias = try object.number("rangeBiasSigma", in: 0...1e3) ?? ranging.rangeBiasSigma
      let scale = try object.number("rangeScaleSigma", in: 0...1) ?? ranging.rangeScaleSigma
      sigmas += [place, place, place, bias, scale]
      peers.append(
        PeerMap.Peer(
          name: name, positionInWorld: position,
          rangeBias: try object.number("rangeBias", in: -1e3...1e3) ?? 0,
          rangeScale: try object.number("rangeScale", in: -0.9...0.9) ?? 0))
      object.finish(&warnings)
    }
    let size = sigmas.count
    var covariance = [Double](repeating: 0, count: size * size)
    for row in 0..<size { covariance[row * size + row] = sigmas[row] * sigmas[row] }
    covariance = try root.squareMatrix("covariance", size: size) ?? covariance
    root.finish(&warnings)
    if let unknown = warnings.kept.first {
      throw RecordingError(
        .unknownKey, unknown.message.replacing(" is ignored", with: ""), file: file,
        line: unknown.line, column: unknown.column,
        remedy: "keys are id, position, positionSigma, rangeBias, rangeBiasSigma, rangeScale and "
          + "rangeScaleSigma of a peer, and covariance")
    }
    let world = FrameConvention(up: up, axes: .arkit)
    map = PeerMap(peers: peers, covariance: covariance)
      .turned(by: world.engineWorldFromWorld)
    do {
      try map.validate()
    } catch {
      throw RecordingError(
        .valueOutOfRange, error.description, file: file, remedy: "write the map anew")
    }
  }

  private static let farthest = 1e6

  // MARK: Writing

  /// The text of the file.
  ///
  /// - Parameter up: The axis of its world that points up.
  /// - Returns: JSON.
  public func json(up: WorldUp) -> String {
    let world = FrameConvention(up: up, axes: .arkit)
    let map = map.turned(by: world.engineWorldFromWorld.inverse)
    let size = map.size
    func sigma(_ row: Int) -> Double { max(map.covariance[row * size + row], 0).squareRoot() }
    let peers = map.peers.enumerated().map { index, peer in
      let first = PeerMap.numbersPerPeer * index
      return Text.Peer(
        id: peer.name, position: [peer.position.x, peer.position.y, peer.position.z],
        positionSigma: (map.positionCovariance(of: index).trace / 3).squareRoot(),
        rangeBias: peer.rangeBias, rangeBiasSigma: sigma(first + 3),
        rangeScale: peer.rangeScale, rangeScaleSigma: sigma(first + 4))
    }
    return CanonicalJSON.text(
      of: Text(
        format: Self.format, version: Self.version, world: Text.World(up: up),
        recordings: recordings, peers: peers,
        covariance: (0..<size).map { Array(map.covariance[($0 * size)..<(($0 + 1) * size)]) }))
  }

  /// The file as it is written.
  private struct Text: Encodable {
    var format: String
    var version: Int
    var world: World
    var recordings: [Recording]
    var peers: [Peer]
    var covariance: [[Double]]

    struct World: Encodable { var up: WorldUp }
    struct Peer: Encodable {
      var id: String
      var position: [Double]
      var positionSigma: Double
      var rangeBias: Double
      var rangeBiasSigma: Double
      var rangeScale: Double
      var rangeScaleSigma: Double
    }
  }
}
