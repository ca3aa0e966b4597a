// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What is replaced is replaced as a whole, and nothing else is touched.
@Suite("Replacing results and recordings")
struct ReplacementTests {
  private let folder: TemporaryFolder
  private let walk: String

  init() throws {
    folder = try TemporaryFolder()
    walk = try WalkRecording().write(to: folder)
  }

  private func run(_ arguments: String...) throws -> CommandLineTool.Result {
    let result = try CommandLineTool.run(arguments)
    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
    return result
  }

  private func write(_ text: String, to name: String) throws {
    let url = folder.url.appending(path: name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  // MARK: Results of runs

  @Test("a run without --smooth leaves nothing of an earlier run with it")
  func staleSmoothed() throws {
    _ = try run("run", walk, "--smooth", "-q", "-o", folder.path("out"))
    try write("mine", to: "out/notes.txt")
    _ = try run("run", walk, "-q", "-o", folder.path("out"))
    #expect(
      try folder.contents(of: "out") == [
        "configuration.json", "estimates.csv", "modes.csv", "notes.txt", "summary.json",
        "trajectory-corrected.txt",
      ])
    #expect(!(try run("evaluate", folder.path("out")).output.contains("smoothed")))
  }

  @Test(
    "a run of which one file cannot appear leaves no mixture",
    arguments: [
      "configuration.json", "estimates.csv", "modes.csv", "summary.json",
      "trajectory-corrected.txt",
    ])
  func failure(name: String) throws {
    _ = try run("run", walk, "-q", "-o", folder.path("out"))
    try FileManager.default.removeItem(atPath: folder.path("out/\(name)"))
    try write("mine", to: "out/\(name)/notes.txt")
    let others = try folder.contents(of: "out").filter { $0 != name }
    let before = try others.map { try folder.text(of: "out/\($0)") }
    try write(#"{ "ranging": { "rangeSigma": 0.5 } }"#, to: "c.json")
    let result = try CommandLineTool.run(
      "run", walk, "-q", "-o", folder.path("out"), "--config", folder.path("c.json"))
    #expect(result.exitCode == 74)
    expectOneLine(result.errors, containing: folder.path("out/\(name)"))
    #expect(try others.map { try folder.text(of: "out/\($0)") } == before)
  }

  // MARK: Results of batches

  @Test(
    "a resumed batch restores whatever file of a result is lost or damaged",
    arguments: [
      "configuration.json", "estimates.csv", "evaluation.json", "smoothed.csv", "summary.json",
      "trajectory-corrected.txt", "trajectory-smoothed.txt",
    ])
  func resumed(name: String) throws {
    let arguments = ["batch", walk, "--smooth", "--evaluate", "-q", "-o", folder.path("b")]
    #expect(try CommandLineTool.run(arguments).exitCode == 0)
    let file = "b/results/walk/\(name)"
    let whole = try folder.text(of: file)
    try FileManager.default.removeItem(atPath: folder.path(file))
    #expect(try CommandLineTool.run(arguments + ["--resume"]).exitCode == 0)
    #expect((try? folder.text(of: file)) == whole)
    try write(whole + "garbage\n", to: file)
    #expect(try CommandLineTool.run(arguments + ["--resume"]).exitCode == 0)
    #expect(try folder.text(of: file) == whole)
  }

  @Test("a resumed batch keeps somebody's notes in the folder of a result that it makes again")
  func notesInResult() throws {
    _ = try run("batch", walk, "-q", "-o", folder.path("b"))
    try write("mine", to: "b/results/walk/notes.txt")
    _ = try run("batch", walk, "-q", "--resume", "--smooth", "-o", folder.path("b"))
    #expect(folder.has("b/results/walk/smoothed.csv"))
    #expect(try folder.text(of: "b/results/walk/notes.txt") == "mine")
    _ = try run("batch", walk, "-q", "--resume", "-o", folder.path("b"))
    #expect(!folder.has("b/results/walk/smoothed.csv"))
    #expect(try folder.text(of: "b/results/walk/notes.txt") == "mine")
  }

  @Test("a second dataset with recordings of the same names leaves the first one's results")
  func secondDataset() throws {
    _ = try run("simulate", "find", "--seed", "1", "-q", "-o", folder.path("a/data/walk"))
    _ = try run("simulate", "find", "--seed", "2", "-q", "-o", folder.path("z/data/walk"))
    _ = try run("batch", folder.path("a/data"), "-q", "-o", folder.path("b"))
    let first = try folder.text(of: "b/results/data/walk/estimates.csv")
    let second = try CommandLineTool.run(
      "batch", folder.path("z/data"), "-q", "--resume", "-o", folder.path("b"))
    #expect(second.exitCode == 65)
    expectOneLine(
      second.errors, containing: "the result of another recording, \(folder.path("a/data/walk"))")
    #expect(try folder.text(of: "b/results/data/walk/estimates.csv") == first)
    // A dataset that was moved is the same one.
    try FileManager.default.moveItem(atPath: folder.path("a"), toPath: folder.path("c"))
    try write("{ \"odometry\": { \"positionDrift\": 0.02 } }", to: "c.json")
    _ = try run(
      "batch", folder.path("c/data"), "-q", "--resume", "--config", folder.path("c.json"), "-o",
      folder.path("b"))
  }

  @Test("results of another build of the engine are made again")
  func otherBuild() throws {
    _ = try run("batch", walk, "-q", "-o", folder.path("b"))
    #expect(
      try run("batch", walk, "--resume", "-o", folder.path("b")).output.contains("1 kept"))
    var program = try Data(contentsOf: CommandLineTool.executable)
    // The note of the build's identifier: lengths of name and content, kind, name.
    let note = Data([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 0x47, 0x4E, 0x55, 0])
    let place = try #require(program.firstRange(of: note)).upperBound
    program[place] ^= 1
    let other = folder.url.appending(path: "other")
    try program.write(to: other)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: other.path)
    let process = Process()
    process.executableURL = other
    process.arguments = ["batch", walk, "--resume", "-o", folder.path("b")]
    process.standardOutput = try FileHandle(forWritingTo: folder.empty("said"))
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(!(try folder.text(of: "said").contains("kept")))
  }

  // MARK: Recordings

  @Test("an import or a simulation over a recording leaves a user's other files")
  func notesInRecording() throws {
    try write("x", to: "walk/video/a.mp4")
    try write("mine", to: "walk/notes.txt")
    try write("mine", to: "walk/truth/notes.txt")
    _ = try run(
      "import", "tum", "\(walk)/trajectory.txt", "--ranging", "\(walk)/ranging.csv", "--overwrite",
      "-q", "-o", walk)
    #expect(
      try folder.contents(of: "walk")
        == ["notes.txt", "ranging.csv", "recording.json", "trajectory.txt", "truth", "video"])
    #expect(try folder.contents(of: "walk/truth") == ["notes.txt"])
    _ = try run("simulate", "find", "--overwrite", "-q", "-o", walk)
    #expect(
      try folder.contents(of: "walk/truth") == ["notes.txt", "peers.csv", "trajectory.txt"])
    #expect(try folder.text(of: "walk/video/a.mp4") == "x")
    #expect(try folder.contents() == ["walk"])
  }

  @Test("programs that overwrite one recording at once all do so, and one of them stays")
  func manyAtOnce() throws {
    for start in ["new", "walk"] {
      let processes = try (1...6).map { seed in
        let process = Process()
        process.executableURL = CommandLineTool.executable
        process.arguments = [
          "simulate", "find", "--set", "duration=5", "--seed", "\(seed)", "--overwrite", "-q", "-o",
          folder.path(start),
        ]
        try process.run()
        return process
      }
      for process in processes {
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
      }
      #expect(
        try folder.contents(of: start)
          == ["ranging.csv", "recording.json", "trajectory.txt", "truth"])
      _ = try run("info", folder.path(start))
    }
    #expect(try folder.contents() == ["new", "walk"])
  }
}
