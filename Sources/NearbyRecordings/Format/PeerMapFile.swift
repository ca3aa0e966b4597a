// SPDX-License-Identifier: Apache-2.0
internal import Glibc
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
/// then for readers only. What was known before any recording stands under `survey`, with keys of its own for
/// peers and covariance, in the same world: it is never lost. An unknown key is an error.
public struct PeerMapFile: Hashable, Sendable {
  /// The value of the key `format`.
  public static let format = "nearby-map"
  /// The value of the key `version`.
  public static let version = 1

  /// The map in the engine's axes.
  public var map: PeerMap
  /// The recordings that it holds: each counts once.
  public var recordings: [Recording] = []
  /// What was known before the first of them, in the engine's axes; `nil` where that is nothing.
  public var survey: PeerMap?

  /// What was known before any recording: all of a file that holds none.
  public var givenSurvey: PeerMap? { recordings.isEmpty ? map : survey }

  /// A recording that a map holds.
  public struct Recording: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// A digest of its `ranging.csv`.
    public var digest: String
    /// What tells its measurements from others; empty in a file of an earlier version.
    public var sketch: MeasurementSketch

    /// Makes one.
    public init(name: String, digest: String, sketch: MeasurementSketch = MeasurementSketch()) {
      (self.name, self.digest, self.sketch) = (name, digest, sketch)
    }
  }

  /// How surely a peer's place is known where a file does not say, one sigma, metres.
  public static let surveyedSigma = 0.01

  /// Makes a file.
  public init(map: PeerMap, recordings: [Recording] = [], survey: PeerMap? = nil) {
    (self.map, self.recordings, self.survey) = (map, recordings, survey)
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
          name: try object.requiredString("name"), digest: try object.requiredString("digest"),
          sketch: MeasurementSketch(
            try object.hexadecimals("sketch") ?? [],
            of: Int(try object.number("samples", in: 0...1e12) ?? 0))))
      object.finish(&warnings)
    }
    let world = FrameConvention(up: up, axes: .arkit)
    map = try Self.map(
      of: &root, configuration.ranging, world, isSurvey: recordings.isEmpty, file: file, &warnings)
    if var object = try root.object("survey") {
      survey = try Self.map(
        of: &object, configuration.ranging, world, isSurvey: true, file: file, &warnings)
      object.finish(&warnings)
    }
    root.finish(&warnings)
    if let unknown = warnings.kept.first {
      throw RecordingError(
        .unknownKey, unknown.message.replacing(" is ignored", with: ""), file: file,
        line: unknown.line, column: unknown.column,
        remedy: "keys are id, position, positionSigma, rangeBias, rangeBiasSigma, rangeScale and "
          + "rangeScaleSigma of a peer, and covariance")
    }
  }

  /// Reads peers and their covariance.
  private static func map(
    of root: inout ManifestObject, _ ranging: RangingConfiguration, _ world: FrameConvention,
    isSurvey: Bool, file: String, _ warnings: inout RecordingWarnings
  ) throws(RecordingError) -> PeerMap {
    var peers: [PeerMap.Peer] = []
    var sigmas: [Double] = []
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
    let map = PeerMap(peers: peers, covariance: covariance)
    do {
      try map.validate()
    } catch {
      throw RecordingError(
        .valueOutOfRange, error.description, file: file,
        remedy: "write it anew, or leave the covariance out and give each peer a positionSigma")
    }
    return (isSurvey ? map.rounded : map).turned(by: world.engineWorldFromWorld)
  }

  private static let farthest = 1e6

  // MARK: Writing

  /// The text of the file.
  ///
  /// - Parameter up: The axis of its world that points up.
  /// - Returns: JSON.
  public func json(up: WorldUp) -> String {
    let world = FrameConvention(up: up, axes: .arkit).engineWorldFromWorld.inverse
    return CanonicalJSON.text(
      of: Text(
        format: Self.format, version: Self.version, world: Text.World(up: up),
        recordings: recordings.map { Text.Recording($0) },
        survey: survey.map { Text.Peers($0.turned(by: world).rounded) },
        peers: Text.Peers(map.turned(by: world))))
  }

  /// The file as it is written.
  private struct Text: Encodable {
    var format: String
    var version: Int
    var world: World
    var recordings: [Recording]
    var survey: Peers?
    var peers: Peers

    enum Key: CodingKey { case format, version, world, recordings, survey }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(format, forKey: .format)
      try container.encode(version, forKey: .version)
      try container.encode(world, forKey: .world)
      try container.encode(recordings, forKey: .recordings)
      try container.encodeIfPresent(survey, forKey: .survey)
      try peers.encode(to: encoder)
    }

    struct World: Encodable { var up: WorldUp }

    struct Recording: Encodable {
      var name: String
      var digest: String
      var samples: Int
      var sketch: [String]

      init(_ recording: PeerMapFile.Recording) {
        (name, digest) = (recording.name, recording.digest)
        samples = recording.sketch.samples
        sketch = recording.sketch.hashes.map { String($0, radix: 16) }
      }
    }

    /// Peers and their covariance.
    struct Peers: Encodable {
      var peers: [Peer]
      var covariance: [[Double]]

      init(_ map: PeerMap) {
        let size = map.size
        func sigma(_ row: Int) -> Double { max(map.covariance[row * size + row], 0).squareRoot() }
        peers = map.peers.enumerated().map { index, peer in
          let first = PeerMap.numbersPerPeer * index
          return Peer(
            id: peer.name,
            position: [peer.positionInWorld.x, peer.positionInWorld.y, peer.positionInWorld.z],
            positionSigma: (map.positionCovariance(of: index).trace / 3).squareRoot(),
            rangeBias: peer.rangeBias, rangeBiasSigma: sigma(first + 3),
            rangeScale: peer.rangeScale, rangeScaleSigma: sigma(first + 4))
        }
        covariance = (0..<size).map { Array(map.covariance[($0 * size)..<(($0 + 1) * size)]) }
      }
    }

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

extension PeerMap {
  /// The map with twelve significant digits, so that turning it to other axes and back changes nothing.
  fileprivate var rounded: PeerMap {
    var map = self
    for index in peers.indices {
      let place = peers[index].positionInWorld
      let scale = place.length
      map.peers[index].positionInWorld = Vector3(
        Self.rounded(place.x, scale), Self.rounded(place.y, scale), Self.rounded(place.z, scale))
    }
    for row in 0..<size {
      for column in 0..<size {
        let variances = covariance[row * size + row] * covariance[column * size + column]
        map.covariance[row * size + column] = Self.rounded(
          covariance[row * size + column], max(variances, 0).squareRoot())
      }
    }
    return map
  }

  /// A number with twelve digits; nothing where it is rounding of numbers of a scale.
  private static func rounded(_ value: Double, _ scale: Double) -> Double {
    guard abs(value) > 1e-12 * scale else { return 0 }
    let power = pow(10, 11 - log10(abs(value)).rounded(.down))
    return (value * power).rounded() / power
  }
}
