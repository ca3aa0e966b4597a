// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyRecordings
import NearbySimulation

/// `nearby simulate`: recordings of scenarios, drawn from seeds, with the truth.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Make recordings of simulated scenarios, with the truth.",
    discussion: """
      A scenario is a device that moves, an odometry, radios and peers, each with its faults. \
      Everything random comes from the seed: the same scenario and seed make the same files, byte \
      for byte. Each recording is a folder that appears whole or not at all.

      EXAMPLES
        nearby simulate --list                        which scenarios are there?
        nearby simulate find -o out/find              one recording
        nearby run out/find -o out/find-run           where is the peer?
        nearby simulate indoor --count 20 -o out/in   out/in/indoor-0001 to -0020
        nearby simulate find --set radio.rangeNoise=0.3 -o out/noisy
        nearby simulate find --set peer.distance=2...5 --peers 3 -o out/near
        nearby simulate find --show > mine.json       a scenario as JSON
        nearby simulate mine.json --seed 7 -o out/mine

      With --trajectory peers and radios are simulated around a recorded motion:
        nearby simulate find --trajectory Datasets/plaza2 -o out/peers

      A JSON file overrides settings of the scenario find:
        { "motion": "wanderingWalk", "radio": { "measuresAzimuth": false } }
      """)

  @Argument(
    help: ArgumentHelp("A scenario's name, or a JSON file.", valueName: "scenario"),
    completion: .list(Scenario.presets.map(\.name)))
  var scenarioName: String?

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The folder to make.", valueName: "dir"),
    completion: .directory)
  var output: String?

  @Option(help: "The seed of the first recording.")
  var seed: UInt64 = 1

  @Option(help: "How many recordings, of as many seeds.")
  var count = 1

  @Option(help: "How many peers the device measures (default: as the scenario says).")
  var peers: Int?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Change a setting of the scenario; may be given several times.", valueName: "key=value"))
  var assignments: [String] = []

  @Option(
    help: ArgumentHelp(
      "Take the device's motion and odometry from a recording.", valueName: "recording"),
    completion: .directory)
  var trajectory: String?

  @Flag(help: "List the scenarios.")
  var list = false

  @Flag(help: "Print the scenario as JSON, changes included.")
  var show = false

  @Flag(help: "Replace recordings that are already there.")
  var overwrite = false

  @Flag(name: .shortAndLong, help: "Print nothing unless something is wrong.")
  var quiet = false

  func validate() throws {
    if list { return }
    guard scenarioName != nil else {
      throw ValidationError("no scenario is named; 'nearby simulate --list' lists them")
    }
    if show { return }
    guard let output, !output.isEmpty else {
      throw ValidationError("there is no --output; name the folder to make")
    }
    if !(1...1_000_000).contains(count) {
      throw ValidationError("--count is \(count), must be 1 to 1000000")
    }
    if let peers, !(1...1000).contains(peers) {
      throw ValidationError("--peers is \(peers), must be 1 to 1000")
    }
    if seed > UInt64.max - UInt64(count) { throw ValidationError("--seed is too large") }
  }

  func run() throws {
    if list { return try StandardOutput.print(Self.table, terminator: "") }
    let scenario = try ScenarioArgument.scenario(scenarioName ?? "", setting: assignments)
    if show { return try StandardOutput.write(CanonicalJSON.text(of: scenario)) }
    try simulate(scenario, into: output ?? "")
  }

  /// The presets as readable text.
  static var table: String {
    var table = TextTable(header: ["name", "seconds", "expected", "what it is"], left: [0, 2, 3])
    for scenario in Scenario.presets {
      table.add([
        scenario.name, scenario.duration.text(decimals: 0), scenario.expectation.text,
        scenario.summary,
      ])
    }
    return table.lines.joined(separator: "\n") + "\n"
  }

  // MARK: Simulating

  private func simulate(_ scenario: Scenario, into output: String) throws {
    let progress = ProgressLine(isQuiet: quiet)
    defer { progress.finish() }
    var scenario = scenario
    var recorded: RecordedTrajectory?
    var odometry: RecordingManifest.Trajectory?
    if let trajectory {
      let recording = try locating(trajectory) { try RecordingReader(folder: trajectory) }
      recorded = try locating(trajectory) { try RecordedTrajectory(of: recording) }
      odometry = recording.manifest.trajectory
      // A planar recording has no heights.
      if odometry?.isPlanar == true { scenario.peer.heightDifference = 0...0 }
    }
    let peerCount = peers ?? scenario.peer.count
    var samples = 0
    for (index, seed) in (seed..<seed + UInt64(count)).enumerated() {
      let run =
        if let recorded {
          scenario.simulated(seed: seed, peerCount: peerCount, over: recorded)
        } else {
          scenario.simulated(seed: seed, peerCount: peerCount)
        }
      samples += run.samples.count
      let name = Self.name(of: scenario, seed: seed)
      let recording = SimulatedRecording(
        scenario: scenario, run: run, source: source(of: scenario, seed: seed), odometry: odometry)
      do {
        try recording.write(
          to: count == 1 ? output : "\(output)/\(name)", name: name, replacing: overwrite)
      } catch {
        var error = error.ofRow(in: scenarioName ?? scenario.name)
        if !error.isOfOutput { error.message = "seed \(seed): \(error.message)" }
        throw error
      }
      progress.update(fraction: Double(index + 1) / Double(count), samples: samples)
    }
    progress.finish()
    if !quiet { try StandardOutput.print(summary(of: scenario, samples: samples, output: output)) }
  }

  private func locating<Value>(_ recording: String, _ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch let error as RecordingError {
      throw error.located(in: recording)
    }
  }

  /// The command that makes the same recording again.
  private func source(of scenario: Scenario, seed: UInt64) -> String {
    var words = ["nearby simulate", scenario.name, "--seed \(seed)"]
    if let peers, peers != scenario.peer.count { words.append("--peers \(peers)") }
    words += assignments.map { "--set \($0)" }
    if trajectory != nil { words.append("--trajectory …") }
    return words.joined(separator: " ")
  }

  private static func name(of scenario: Scenario, seed: UInt64) -> String {
    let digits = "\(seed)"
    return "\(scenario.name)-" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private func summary(of scenario: Scenario, samples: Int, output: String) -> String {
    let first = Self.name(of: scenario, seed: seed)
    if count == 1 { return "\(first): \(samples) samples -> \(output)" }
    let last = Self.name(of: scenario, seed: seed + UInt64(count) - 1)
    return "\(first) to \(last): \(samples) samples in all -> \(output)"
  }
}

extension Scenario.Expectation {
  /// The expectation in a few words.
  var text: String {
    switch self {
    case .converges: "converges"
    case .neverConverges: "never converges"
    case .recovers(let seconds): "recovers after \(seconds.text(decimals: 0)) s"
    case .follows: "follows the peer"
    case .mayConverge: "may converge"
    }
  }
}
