// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite struct RecordingManifestTests {
  static let minimal = #"{ "format": "nearby-recording", "version": 1, "name": "n" }"#

  private func read(
    _ json: String
  ) throws(RecordingError) -> (manifest: RecordingManifest, warnings: RecordingWarnings) {
    var warnings = RecordingWarnings()
    let manifest = try RecordingManifest(json: Array(json.utf8), warnings: &warnings)
    return (manifest, warnings)
  }

  @Test func defaultsAreThoseOfTheFormat() throws {
    let (manifest, warnings) = try read(Self.minimal)
    #expect(manifest == RecordingManifest(name: "n"))
    #expect(warnings.isEmpty)
    #expect(manifest.worldUp == .y)
    #expect(manifest.device.axes == .arkit)
    #expect(manifest.device.antenna == .zero)
    #expect(manifest.device.fieldOfViewDegrees == 120)
    #expect(manifest.trajectory.kind == .visualInertial)
    #expect(!manifest.trajectory.isPlanar)
    #expect(manifest.ranging.rangeSigma == 0.10)
    #expect(manifest.ranging.azimuthSigmaDegrees == 3.5)
    #expect(manifest.ranging.elevationSigmaDegrees == 5)
    #expect(manifest.peers.isEmpty)
    #expect(manifest.fusionConfiguration() == FusionConfiguration())
  }

  @Test func everyValueReachesTheEngine() throws {
    let (manifest, warnings) = try read(
      """
      { "format": "nearby-recording", "version": 1, "name": "n",
        "description": "d", "source": "s", "license": "l",
        "world": { "up": "z" },
        "device": { "axes": "ros", "antenna": [0.1, 0.2, 0.3], "fieldOfViewDegrees": 90 },
        "trajectory": { "kind": "odometry", "positionDrift": 0.5, "yawDriftDegrees": 180,
                        "planar": true },
        "ranging": { "rangeSigma": 0.25, "azimuthSigmaDegrees": 90, "elevationSigmaDegrees": 45 },
        "peers": [ { "id": "a", "motion": "moving" }, { "id": "b" } ] }
      """)
    #expect(warnings.isEmpty)
    #expect(manifest.description == "d" && manifest.source == "s" && manifest.license == "l")
    #expect(manifest.frames == FrameConvention(up: .z, axes: .ros))
    #expect(manifest.peers == [RecordingPeer(id: "a", motion: .moving), RecordingPeer(id: "b")])

    let configuration = manifest.fusionConfiguration()
    // Forward 0.1, left 0.2, up 0.3 is right -0.2, up 0.3, back -0.1.
    let antenna = configuration.ranging.antennaInDevice
    #expect((antenna - Vector3(-0.2, 0.3, -0.1)).length < 1e-15)
    #expect(configuration.ranging.fieldOfViewRadians == .pi / 2)
    #expect(configuration.ranging.rangeSigma == 0.25)
    #expect(configuration.ranging.azimuthSigmaRadians == .pi / 2)
    #expect(configuration.ranging.elevationSigmaRadians == .pi / 4)
    #expect(configuration.odometry.positionDrift == 0.5)
    #expect(configuration.odometry.yawDriftRadians == .pi)
    #expect(configuration.odometry.isPlanar)
    try configuration.validate()
  }

  @Test func aLatencyIsAClockThatIsAhead() throws {
    let head = #"{ "format": "nearby-recording", "version": 1, "name": "n", "ranging": "#
    let manifest = try read(head + #"{"latency": 0.08}}"#).manifest
    #expect(manifest.fusionConfiguration().ranging.clockOffset == 0.08)
    #expect(try read(head + "{}}").manifest.fusionConfiguration().ranging.clockOffset == 0)
    #expect(!RecordingManifest(name: "n").json.contains("latency"))
    #expect(throws: RecordingError.self) { try read(head + #"{"latency": -0.1}}"#) }
  }

  @Test func trueTrajectoryDoesNotDriftUnlessItSaysSo() throws {
    let head = #"{ "format": "nearby-recording", "version": 1, "name": "n", "trajectory": "#
    #expect(try read(head + #"{"kind": "groundTruth"}}"#).manifest.trajectory.positionDrift == 0)
    #expect(try read(head + #"{"kind": "groundTruth"}}"#).manifest.trajectory.yawDriftDegrees == 0)
    let turning = try read(head + #"{"kind": "wheel"}}"#).manifest
    #expect(turning.trajectory.turnRateSigmaDegrees == 0.2)
    let radians = turning.fusionConfiguration().odometry.turnRateSigmaRadians
    #expect(abs(radians - 0.2 * .pi / 180) < 1e-15)
    let told = try read(head + #"{"kind": "wheel", "turnRateSigmaDegrees": 0}}"#).manifest
    #expect(told.fusionConfiguration().odometry.turnRateSigmaRadians == 0)
    #expect(
      try read(head + #"{"kind": "groundTruth", "positionDrift": 0.3}}"#).manifest.trajectory
        .positionDrift == 0.3)
  }

  @Test func unknownKeysAreWarnings() throws {
    let (_, warnings) = try read(
      """
      { "format": "nearby-recording", "version": 1, "name": "n", "colour": "red",
        "device": { "wheels": 4 }, "peers": [ { "id": "a", "height": 2 } ] }
      """)
    #expect(
      warnings.kept.map(\.description) == [
        "recording.json:2:15: unknown key \"device.wheels\" is ignored",
        "recording.json:2:54: unknown key \"peers[0].height\" is ignored",
        "recording.json:1:60: unknown key \"colour\" is ignored",
      ])
    #expect(warnings.count(of: .unknownKey) == 3)
  }

  @Test func byteOrderMarkCRLFAndEscapesAreRead() throws {
    let json =
      "\u{FEFF}{\"format\":\"nearby-recording\",\r\n\"version\":1.0,\r\n\"name\":\"a\\u00e9\\ud83d\\ude00\\n\"}\r\n"
    #expect(try read(json).manifest.name == "aé😀\n")
  }

  @Test(arguments: [
    ("", RecordingError.Code.malformedManifest, "recording.json:1:1: the file is empty"),
    ("{\n \"format\": ", .malformedManifest, "recording.json:2:12: the file ends in the middle"),
    ("{\n \"a\": 1,\n }", .malformedManifest, "recording.json:3:2: expected a key"),
    ("{\"a\": [1 2]}", .malformedManifest, "recording.json:1:10: expected \",\" or \"]\""),
    ("{\"a\": tru}", .malformedManifest, "recording.json:1:7: expected a JSON value"),
    ("{\"a\": 01}", .malformedManifest, "recording.json:1:7: expected a JSON value"),
    ("{\"a\": .5}", .malformedManifest, "recording.json:1:7: expected a JSON value"),
    ("{\"a\": \"\\ud800\"}", .malformedManifest, "recording.json:1:14: half of a surrogate pair"),
    ("{\"a\": 1} x", .malformedManifest, "recording.json:1:10: there is text after"),
    ("{\"a\": 1, \"a\": 2}", .malformedManifest, "recording.json:1:10: key \"a\" appears twice"),
    ("[]", .wrongType, "recording.json:1:1: the manifest is an array, not an object"),
    (
      String(repeating: "[", count: 100_000), .malformedManifest,
      "recording.json:1:66: values are nested too deeply"
    ),
    ("{}", .missingValue, "recording.json:1:1: format is missing; add \"format\""),
    ("{\"format\": \"rosbag\"}", .unsupportedFormat, "recording.json:1:12: format is \"rosbag\""),
  ])
  func faultsAreLocated(json: String, code: RecordingError.Code, message: String) {
    let error = #expect(throws: RecordingError.self) { try read(json) }
    #expect(error?.code == code)
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    (
      #""version": 2, "name": "n""#, RecordingError.Code.unsupportedVersion,
      "version 2 is not supported"
    ),
    (#""version": 1.5, "name": "n""#, .unsupportedVersion, "version 1.5 is not supported"),
    (#""version": "1", "name": "n""#, .wrongType, "version is a string, not a number"),
    (#""name": "n""#, .missingValue, "version is missing"),
    (#""version": 1"#, .missingValue, "name is missing"),
    (#""version": 1, "name": null"#, .missingValue, "name is missing"),
    (#""version": 1, "name": """#, .valueOutOfRange, "name is empty"),
    (#""version": 1, "name": 7"#, .wrongType, "name is a number, not a string"),
    (#""version": 1, "name": "n", "world": "y""#, .wrongType, "world is a string, not an object"),
    (
      #""version": 1, "name": "n", "world": {"up": "x"}"#, .valueOutOfRange,
      "world.up \"x\" is unknown; must be one of \"y\", \"z\""
    ),
    (
      #""version": 1, "name": "n", "device": {"antenna": [0, 1]}"#, .wrongType,
      "device.antenna is an array, not an array of three numbers"
    ),
    (
      #""version": 1, "name": "n", "device": {"antenna": [0, "1", 2]}"#, .wrongType,
      "device.antenna is an array, not an array of three numbers"
    ),
    (
      #""version": 1, "name": "n", "device": {"antenna": [0, 1e3, 2]}"#, .valueOutOfRange,
      "device.antenna is"
    ),
    (
      #""version": 1, "name": "n", "device": {"fieldOfViewDegrees": 0}"#, .valueOutOfRange,
      "device.fieldOfViewDegrees 0 is out of range; must be 1 to 360"
    ),
    (
      #""version": 1, "name": "n", "ranging": {"rangeSigma": -1}"#, .valueOutOfRange,
      "ranging.rangeSigma -1 is out of range"
    ),
    (
      #""version": 1, "name": "n", "ranging": {"rangeSigma": 1e999}"#, .valueOutOfRange,
      "ranging.rangeSigma inf is out of range"
    ),
    (
      #""version": 1, "name": "n", "trajectory": {"planar": 1}"#, .wrongType,
      "trajectory.planar is a number, not true or false"
    ),
    (
      #""version": 1, "name": "n", "peers": [{"id": "a"}, {"id": "a"}]"#, .valueOutOfRange,
      "peers[1].id \"a\" is declared twice"
    ),
    (
      #""version": 1, "name": "n", "tdoa": {"clockRateWalk": -1}"#, .valueOutOfRange,
      "tdoa.clockRateWalk -1 is out of range"
    ),
    (#""version": 1, "name": "n", "peers": [{}]"#, .missingValue, "peers[0].id is missing"),
    (#""version": 1, "name": "n", "peers": ["a"]"#, .wrongType, "peers[0] is a string"),
    (
      #""version": 1, "name": "n", "peers": [{"id": "a", "motion": "fast"}]"#, .valueOutOfRange,
      "peers[0].motion \"fast\" is unknown"
    ),
  ])
  func valuesAreChecked(members: String, code: RecordingError.Code, message: String) {
    let json = "{ \"format\": \"nearby-recording\", \(members) }"
    let error = #expect(throws: RecordingError.self) { try read(json) }
    #expect(error?.code == code)
    #expect(error?.line == 1 && error?.column != nil)
    let text = "\(error?.message ?? ""); \(error?.remedy ?? "")"
    #expect(text.hasPrefix(message))
  }

  @Test func writtenManifestReadsBackEqual() throws {
    var manifest = RecordingManifest(name: "quote \" slash \\ line \n bell \u{7} é")
    manifest.description = "d"
    manifest.source = "s"
    manifest.license = "l"
    manifest.worldUp = .z
    manifest.device.axes = .camera
    manifest.device.antenna = Vector3(0.1, -1.0 / 3, 1e-7)
    manifest.device.fieldOfViewDegrees = 77.7
    manifest.trajectory.kind = .groundTruth
    manifest.trajectory.positionDrift = 0.1
    manifest.trajectory.yawDriftDegrees = 0.7
    manifest.trajectory.turnRateSigmaDegrees = 0.05
    manifest.trajectory.isPlanar = true
    manifest.ranging.rangeSigma = 0.123456789012345678
    manifest.ranging.azimuthSigmaDegrees = 1.5
    manifest.ranging.elevationSigmaDegrees = 2.5
    manifest.ranging.latency = 0.0625
    manifest.differences.sigma = 0.2
    manifest.differences.clocks = .free
    manifest.peers = [RecordingPeer(id: "a\tb", motion: .unknown), RecordingPeer(id: "c")]
    #expect(try read(manifest.json).manifest == manifest)
    #expect(try read(RecordingManifest(name: "n").json).manifest == RecordingManifest(name: "n"))
    // A property that is added later has to be given a value here, too.
    for (value, usual) in zip(leaves(of: manifest), leaves(of: RecordingManifest(name: "n"))) {
      #expect(value != usual)
    }
  }

  /// All stored properties as text, nested ones included.
  private func leaves(of value: Any, path: String = "") -> [String] {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .struct, !(value is Vector3) else { return ["\(path) = \(value)"] }
    return mirror.children.flatMap { leaves(of: $0.value, path: "\(path).\($0.label ?? "")") }
  }
}
