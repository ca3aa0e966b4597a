// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbySimulation
import Testing

/// `nearby run` and `nearby info` on recordings with range differences.
@Suite("Range differences on the command line")
struct DownlinkCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // A simulated walk among six anchors with free clocks as a recording with its truth; so many of the
  // anchors have a place in its map.
  private func recording(mapped: Int) throws -> String {
    var scenario = DownlinkScenario.presets[0]
    scenario.walk.duration = 40
    let run = scenario.simulated(seed: 7)
    let path = folder.url.appending(path: "walk").path
    var manifest = RecordingManifest(name: "walk")
    manifest.worldUp = .z
    manifest.device.axes = .ros
    manifest.differences.sigma = scenario.noise
    manifest.differences.clocks = scenario.clocks
    let frames = manifest.frames
    manifest.device.antenna = frames.deviceVector(
      fromEngine: scenario.matchingConfiguration.ranging.antennaInDevice)
    var writer = try RecordingWriter(path: path, manifest: manifest)
    func world(_ pose: RigidTransform) -> RigidTransform {
      frames.worldFromDevice(fromEngine: pose)
    }
    for pose in run.poses {
      try writer.append(
        PoseRow(timestamp: pose.timestamp, worldFromDevice: world(pose.worldFromDevice)))
    }
    for row in run.differences {
      try writer.append(
        DifferenceRow(
          timestamp: row.timestamp, from: "anchor \(row.from)", to: "anchor \(row.to)",
          metres: row.metres))
    }
    for round in run.rounds {
      try writer.appendTruth(
        PoseRow(timestamp: round.timestamp, worldFromDevice: world(round.siteFromDevice)))
    }
    for (index, place) in run.anchors.enumerated() {
      try writer.appendTruth(
        TruthPeerRow(
          timestamp: run.rounds[0].timestamp, peer: "anchor \(index)",
          positionInWorld: frames.worldVector(fromEngine: place)))
    }
    let peers = run.anchors.prefix(mapped).enumerated().map { index, place in
      PeerMap.Peer(name: "anchor \(index)", positionInWorld: place)
    }
    let size = PeerMap.numbersPerPeer * peers.count
    var covariance = [Double](repeating: 0, count: size * size)
    for row in 0..<size { covariance[row * (size + 1)] = 1e-4 }
    if mapped > 0 {
      try writer.write(anchors: PeerMap(peers: peers, covariance: covariance), up: .z)
    }
    try writer.finish()
    return path
  }

  private func run(_ recording: String) throws -> (
    result: CommandLineTool.Result, summary: RunSummary, output: URL
  ) {
    let output = folder.url.appending(path: "out")
    let result = try CommandLineTool.run("run", recording, "-o", output.path)
    let summary = try JSONDecoder().decode(
      RunSummary.self, from: Data(contentsOf: output.appending(path: "summary.json")))
    return (result, summary, output)
  }

  @Test func theDeviceIsLocated() throws {
    let (result, summary, output) = try run(recording(mapped: 6))
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.errors.isEmpty)
    let located = try #require(summary.located)
    #expect(located.differences == 2000 && located.differencesUsed == 2000)
    #expect(located.anchors.map(\.id) == (0..<6).map { "anchor \($0)" })
    #expect(located.anchors.map(\.isInMap) == [Bool](repeating: true, count: 6))
    #expect(located.located > 40)
    let errors = try #require(located.errors)
    #expect(errors.alignment == "anchors")
    #expect(errors.rmse < 0.8 && errors.consistency < 3)
    #expect(result.output.contains("The device, by 2000 of 2000 range differences to 6 anchors"))
    #expect(result.output.contains("located.csv"))
    let table = try String(contentsOf: output.appending(path: "located.csv"), encoding: .utf8)
    let lines = table.split(separator: "\n")
    #expect(lines[0] == LocatedWriter.columns.joined(separator: ","))
    #expect(lines.count == located.moments + 1)
    // Unknown at first: no place, and a sigma that says so.
    #expect(lines[1].contains(",,,,"))
    let last = lines[lines.count - 1].split(separator: ",", omittingEmptySubsequences: false)
    #expect(last.count == LocatedWriter.columns.count)
    #expect(last[1...3].compactMap { Double($0) }.count == 3)
  }

  @Test func anAnchorWithoutAPlaceIsLocatedToo() throws {
    let (result, summary, _) = try run(recording(mapped: 5))
    #expect(result.exitCode == 0)
    #expect(result.errors.contains("anchor \"anchor 5\" is not in the map; it is located, too"))
    let located = try #require(summary.located)
    #expect(located.anchors.map(\.isInMap) == [true, true, true, true, true, false])
    #expect(located.errors?.alignment == "anchors")
  }

  @Test func theContentsAreCounted() throws {
    let result = try CommandLineTool.run("info", try recording(mapped: 6))
    #expect(result.exitCode == 0)
    #expect(result.output.contains("2000 range differences, 50.1 a second"))
    #expect(result.output.contains("6 anchors, 6 with a place: anchor 0, anchor 1, anchor 2"))
  }

  @Test func aFaultIsLocated() throws {
    let path = try recording(mapped: 6)
    let file = URL(fileURLWithPath: path).appending(path: "tdoa.csv")
    let text = try String(contentsOf: file, encoding: .utf8)
    try Data((text + "1999,anchor 0,anchor 9,nan,\n").utf8).write(to: file)
    let output = folder.url.appending(path: "out").path
    let result = try CommandLineTool.run("run", path, "-o", output)
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("tdoa.csv:2002:24: difference \"nan\" is not finite"))
    #expect(!FileManager.default.fileExists(atPath: output + "/summary.json"))
  }
}
