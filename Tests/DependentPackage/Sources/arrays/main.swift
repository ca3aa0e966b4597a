// What `nearby run` does, from arrays and in memory: see the page "From arrays".
import Foundation
import NearbyBatch
import NearbyEvaluation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyReport

// Arrays, as an app or a robot has them: times, poses, ranges; here also the truth.
let keys = Vector3(2, 0.5, -3)
let times = (0..<600).map { Timestamp(nanoseconds: Int64($0) * 100_000_000) }
let poses = (0..<600).map { step -> RigidTransform in
  let angle = 0.03 * Double(step)
  return RigidTransform(
    rotation: .identity, translation: Vector3(3 * sin(angle), 0.4 * sin(3 * angle), 2 * cos(angle)))
}
let ranges = poses.enumerated().map { (keys - $1.translation).length + 0.1 * sin(7.3 * Double($0)) }
// A recording in memory.
let memory = MemoryFolder()
var manifest = RecordingManifest(name: "walk")
manifest.peers = [RecordingPeer(id: "keys")]
do {
  var walk = try RecordingWriter(path: memory.path("walk"), manifest: manifest)
  for (step, time) in times.enumerated() {
    try walk.append(PoseRow(timestamp: time, worldFromDevice: poses[step]))
    try walk.append(RangingRow(timestamp: time, peer: "keys", distance: ranges[step]))
    try walk.appendTruth(PoseRow(timestamp: time, worldFromDevice: poses[step]))
  }
  try walk.appendTruth(TruthPeerRow(timestamp: times[0], peer: "keys", positionInWorld: keys))
  try walk.finish()
}
// Calibration, estimates, findings, figures and a report.
let outcome = try RecordingRun(folder: memory.path("walk")).write(into: memory.path("result"))
let peer = outcome.summary.peers[0]
print(peer.status, peer.positionInWorld ?? .zero, outcome.summary.findings ?? [])
let figures = try ResultEvaluation.evaluate(folder: memory.path("result"))[0].all.errors
print("wrongly published:", figures.wronglyPublishedShare ?? 1)
do {
  var page = try AtomicFile(path: memory.path("report.html"))
  try ReportPage(Report.gather(results: [memory.path("result")])).write(to: &page)
  try page.commit()
}
print(memory.files, memory.bytes(of: "report.html")?.count ?? 0)
// The same live, by names, with the calibrated settings; modes have angles.
let recording = try RecordingReader(folder: memory.path("walk"))
let stated = manifest.fusionConfiguration()
let calibrated = try RecordingCalibration(recording, .use, stated: stated).configuration
var live = try LiveRun(manifest: manifest, configuration: calibrated)
for step in 0..<100 {
  live.add(PoseRow(timestamp: times[step], worldFromDevice: poses[step]))
  live.add(RangingRow(timestamp: times[step], peer: "keys", distance: ranges[step]))
}
let mode = live.modes(of: "keys", at: times[99])[0]
print(mode.probability, mode.horizontalAngleRadians(from: poses[99]))
// An engine that ends goes on.
var engine = try FusionEngine(calibrated)
_ = try engine.addPeer(.stationary, named: "keys")
let restored = try FusionEngine(restoring: engine.saved())
print(restored.name(of: restored.peerIDs[0]) ?? "")
