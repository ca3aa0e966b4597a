// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

extension RecordingManifest {
  /// Reads a manifest from its JSON text.
  ///
  /// Optional values take the defaults of ``init(name:)``, except that the drift is by default the one
  /// that is usual for the kind of odometry. Unknown keys become warnings.
  ///
  /// - Parameters:
  ///   - json: The text in UTF-8.
  ///   - file: The name for errors and warnings.
  ///   - warnings: Where warnings go.
  /// - Throws: The first fault, with its place.
  public init(
    json: [UInt8], file: String = fileName, warnings: inout RecordingWarnings
  ) throws(RecordingError) {
    var root = try ManifestObject(LocatedJSON.parse(json, file: file), path: "", file: file)
    try root.checkFormat(
      Self.format, version: Self.version, remedy: "convert the data to a nearby recording first")

    name = try root.requiredString("name")
    if name.isEmpty {
      throw root.outOfRange("name", "is empty", remedy: "give the recording a name")
    }
    description = try root.string("description")
    source = try root.string("source")
    license = try root.string("license")

    if var world = try root.object("world") {
      worldUp = try world.choice("up") ?? worldUp
      world.finish(&warnings)
    }
    if var object = try root.object("device") {
      device.axes = try object.choice("axes") ?? device.axes
      device.antenna = try object.vector("antenna", within: 10) ?? device.antenna
      device.fieldOfViewDegrees =
        try object.degrees("fieldOfView", in: 1...360, &warnings) ?? device.fieldOfViewDegrees
      object.finish(&warnings)
    }
    if var object = try root.object("trajectory") {
      trajectory = Trajectory(kind: try object.choice("kind") ?? trajectory.kind)
      trajectory.positionDrift =
        try object.number("positionDrift", in: 0...10) ?? trajectory.positionDrift
      trajectory.yawDriftDegrees =
        try object.degrees("yawDrift", in: 0...180, &warnings) ?? trajectory.yawDriftDegrees
      trajectory.turnRateSigmaDegrees =
        try object.degrees("turnRateSigma", in: 0...10, &warnings)
        ?? trajectory.turnRateSigmaDegrees
      object.rename("isPlanar", to: "planar", &warnings)
      trajectory.isPlanar = try object.bool("planar") ?? trajectory.isPlanar
      object.finish(&warnings)
    }
    if var object = try root.object("ranging") {
      ranging.rangeSigma = try object.number("rangeSigma", in: 1e-4...1e3) ?? ranging.rangeSigma
      ranging.azimuthSigmaDegrees =
        try object.degrees("azimuthSigma", in: 1e-3...180, &warnings) ?? ranging.azimuthSigmaDegrees
      ranging.elevationSigmaDegrees =
        try object.degrees("elevationSigma", in: 1e-3...180, &warnings)
        ?? ranging.elevationSigmaDegrees
      ranging.latency = try object.number("latency", in: 0...10) ?? ranging.latency
      object.finish(&warnings)
    }
    if var object = try root.object("tdoa") {
      differences.sigma = try object.number("sigma", in: 1e-4...1e3)
      differences.clocks.offsetSigma =
        try object.number("clockOffsetSigma", in: 0...1e6) ?? differences.clocks.offsetSigma
      differences.clocks.rateSigma =
        try object.number("clockRateSigma", in: 0...1e6) ?? differences.clocks.rateSigma
      differences.clocks.rateWalk =
        try object.number("clockRateWalk", in: 0...1e4) ?? differences.clocks.rateWalk
      object.finish(&warnings)
    }
    for var object in try root.objects("peers") ?? [] {
      var peer = RecordingPeer(id: try object.requiredString("id"))
      if peer.id.isEmpty {
        throw object.outOfRange(
          "id", "is empty", remedy: "give the peer the name it has in ranging.csv")
      }
      if peers.contains(where: { $0.id == peer.id }) {
        throw object.outOfRange(
          "id", "\"\(peer.id)\" is declared twice", remedy: "declare each peer once")
      }
      peer.motion = try object.choice("motion") ?? peer.motion
      peers.append(peer)
      object.finish(&warnings)
    }
    root.finish(&warnings)
  }
}

extension Double {
  /// The shortest text that reads back the same, whole numbers without a point.
  package var shortText: String {
    self == rounded() && abs(self) < 1e15 ? "\(Int64(self))" : "\(self)"
  }
}
