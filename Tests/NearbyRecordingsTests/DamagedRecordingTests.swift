// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

@Suite struct DamagedRecordingTests {
  private static let files = [
    "recording.json": """
    { "format": "nearby-recording", "version": 1, "name": "n\\u00e9", "world": { "up": "z" },
      "device": { "antenna": [0.1, -2e-1, 0] }, "peers": [ { "id": "a", "motion": "moving" } ] }
    """,
    "trajectory.txt": "# t\n1.5 0 1e0 -2.5 0 0 0.6 0.8\r\n1.5 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n",
    "ranging.csv":
      "timestamp,peer,distance,azimuth,elevation,nlos\n1,\"a\"\"b\",1.25,-0.5,,1\n0.5,b,nan,,,\n2,a,,1e-3,0.25,false\n",
    "tracking.csv":
      "timestamp,state,reason,ambient_intensity\n1,limited,relocalizing,\n2,normal,,900.5\n",
    "truth/trajectory.txt": "1 0 0 0 0 0 0 1\n",
    "truth/peers.csv": "timestamp,peer,x,y,z\n0,a,1,2,3\n",
  ]

  /// A few bytes are changed, lost or added anywhere.
  ///
  /// The recording is read, or its fault is located in the file that was damaged. Nothing traps.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func damageIsReadOrLocated(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let names = Self.files.keys.sorted()
    let odd = Array("\0\"\\\n\r,.-+#eE09nN{}[]:\u{FEFF}é \t".utf8) + [0xFF, 0x80]
    let recording = try TemporaryRecording(others: Self.files)
    for (name, text) in Self.files { try recording.write(text, to: name) }
    var faults = 0
    for _ in 0..<80 {
      let name = try #require(names.randomElement(using: &generator))
      var bytes = Array(Self.files[name, default: ""].utf8)
      for _ in 0...UInt8.random(in: 0...2, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch UInt8.random(in: 0...3, using: &generator) {
        case 0: bytes[place] = odd.randomElement(using: &generator) ?? 0
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(odd.randomElement(using: &generator) ?? 0, at: place)
        default: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { break }
      }
      try Data(bytes).write(to: URL(filePath: "\(recording.path)/\(name)"))
      do throws(RecordingError) {
        _ = try RecordingReader(folder: recording.path).info()
      } catch {
        faults += 1
        #expect(error.file == name, "\(error), seed \(seed)")
        #expect(!error.description.contains("\n") && !error.remedy.isEmpty)
      }
      try recording.write(Self.files[name, default: ""], to: name)
    }
    #expect(faults > 8)
  }
}
