// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyLive
import NearbyRecordings
import NearbySimulation

/// `nearby live`: a map in the browser while samples arrive.
struct LiveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Show a map in the browser while samples arrive, or walk in a simulated world.",
    discussion: """
      Serves a page on this machine only, and prints its address: 127.0.0.1, a port that the system \
      chooses, and a random token without which every request is refused. The page shows the device, the peers \
      with their uncertainty and, while a peer is ambiguous, the places where it may be; what an app would \
      tell its user to do next; distance and sigma over the last minute, which can be paused and replayed. \
      Ctrl-C ends it.

      Without --scenario, JSON lines come from standard input, as for 'nearby run -' ('nearby import \
      jsonl --help' shows them). A faulty line is reported and skipped. --speed 1 takes the lines of a file at \
      the pace of their timestamps.

      With --scenario a world is simulated, and the phone is walked by hand: arrow keys or WASD, E and Q raise \
      and lower it, or hold the mouse button on the map. Peers can be dragged; walls make ranges too \
      long and take angles away; people make ranges a third of a metre too long. 'keys' is a flat with lost \
      keys that explains itself; otherwise the name is that of a scenario ('nearby simulate --list') or a JSON file, \
      whose sensors and peers are taken.

      "Save" on the page writes what has come in, ten minutes at most, as a recording: a \
      numbered folder below that of --save.

      The page's server is left out of ordinary builds. 'make live' makes a program that has it and \
      opens the scene 'keys'; so does
        swift build -c release --traits Live --scratch-path .build-live --product nearby

      EXAMPLES
        nearby live --scenario keys
        nearby live --scenario find --peers 10 --seed 4
        tail -f log.jsonl | nearby live
        nearby export jsonl living-room --output walk.jsonl
        nearby live --speed 1 < walk.jsonl
      """)

  @Option(
    name: .customLong("scenario"),
    help: ArgumentHelp("Simulate: keys, a scenario's name, or a JSON file.", valueName: "scenario"))
  var scenarioName: String?

  @Option(help: "The seed of the simulated world.")
  var seed: UInt64 = 1

  @Option(
    name: .customLong("peers"), help: "How many simulated peers (default: as the scenario says).")
  var peerCount: Int?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Change a setting of the scenario; may be given several times.", valueName: "key=value"))
  var assignments: [String] = []

  @Option(
    name: .customLong("peer"),
    help: ArgumentHelp(
      "Locate this peer only; may be given several times.", valueName: "name"))
  var peers: [String] = []

  @Option(
    name: .customLong("config"),
    help: ArgumentHelp("Settings of the engine, JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var configurationPath: String?

  @Option(
    help: ArgumentHelp("Take lines at this multiple of the pace of their times.", valueName: "x"))
  var speed: Double?

  @Option(
    help: ArgumentHelp(
      "The folder below which recordings are saved (default: ./live-recording-DATE).",
      valueName: "dir"),
    completion: .directory)
  var save: String?

  @Flag(help: "Open the page with xdg-open, if there is one.")
  var open = false

  @Flag(name: .customLong("exit-at-end"), help: "End when standard input ends.")
  var exitsAtEnd = false

  func validate() throws {
    if scenarioName != nil, speed != nil || exitsAtEnd {
      throw ValidationError(
        "--speed and --exit-at-end are for lines from standard input; leave them out, or leave out "
          + "--scenario")
    }
    if scenarioName == nil, peerCount != nil || !assignments.isEmpty {
      throw ValidationError("--peers and --set change a scenario; add --scenario")
    }
    if let peerCount, !(1...100).contains(peerCount) {
      throw ValidationError("--peers is \(peerCount), must be 1 to 100")
    }
    if let speed, !(speed >= 0.01 && speed <= 1000) {
      throw ValidationError("--speed is \(speed), must be 0.01 to 1000")
    }
    if save == "" { throw ValidationError("--save is empty; name a folder") }
  }

  func run() async throws {
    let source: LiveSource =
      if let scenarioName {
        .world(try scene(scenarioName))
      } else {
        .lines(LiveLineSource(speed: speed, exitsAtEnd: exitsAtEnd))
      }
    var options = LiveSession.Options()
    options.selection = Set(peers)
    options.configurationPath = configurationPath
    #if Live
      try await LiveRunner(
        source: source, options: options, saving: LiveSaving(folder: save), opensBrowser: open
      ).run()
    #else
      _ = (source, options)
      throw CommandFailure(
        .usage,
        "this program was built without the live page; 'make live' builds one that has it, and so does "
          + "'swift build -c release --traits Live --scratch-path .build-live --product nearby'")
    #endif
  }

  private func scene(_ name: String) throws -> LiveScene {
    let isKeys = name == KeysScene.name
    var scenario =
      isKeys && assignments.isEmpty
      ? KeysScene.scenario
      : try ScenarioArgument.scenario(isKeys ? "find" : name, setting: assignments)
    if isKeys {
      guard assignments.isEmpty, peerCount == nil else {
        throw CommandFailure(
          .usage, "the scene 'keys' is as it is; use --set and --peers with --scenario find")
      }
    }
    if let peerCount { scenario.peer.count = peerCount }
    // Only the sensors are taken from it, and they need no run.
    let known = SimulatedRecording(
      scenario: scenario, run: scenario.simulated(seed: seed, peerCount: scenario.peer.count),
      source: "nearby live --scenario \(name) --seed \(seed)")
    var manifest = known.manifest(name: name)
    if isKeys {
      manifest.peers = KeysScene.peers.map { RecordingPeer(id: $0) }
      return KeysScene.scene(seed: seed, manifest: manifest)
    }
    return LiveScene(scenario, seed: seed, manifest: manifest)
  }
}

/// Where the samples come from.
enum LiveSource {
  /// A simulated world.
  case world(LiveScene)
  /// Standard input.
  case lines(LiveLineSource)
}

/// Lines from standard input, and how they are taken.
struct LiveLineSource {
  /// At which multiple of the pace of their times; `nil` for as they come.
  var speed: Double?
  /// Whether the program ends with them.
  var exitsAtEnd: Bool
}
