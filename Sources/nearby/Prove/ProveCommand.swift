// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyEvaluation
import NearbyFusion
import NearbyRecordings
import NearbySimulation

/// `nearby prove`: compares the engine with its goals in simulated scenarios.
struct ProveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prove",
    abstract: "Compare the engine with its goals in simulated scenarios.",
    discussion: """
      Simulates every scenario with many seeds, runs the engine on it, and compares its output \
      against the truth and against the posterior Cramér-Rao bound of the same samples. The engine \
      is told the truth about the sensors, changed by --config and --set. The figures do not \
      depend on the number of jobs.

      A row for each scenario: runs that converged, RMSE over the bound, NEES/3, NIS of range, \
      azimuth, elevation and height difference, runs with a false convergence (over 0.5 m and 3.4 sigma), the share \
      of converged samples that were (wrong %), the share of all samples after which a published distance or \
      angle was off by over 0.5 m or 15° and 4 sigma (out %), the median \
      time to converge and its ratio to the bound's; after an event, how long a false \
      convergence was kept (away) and the time to converge again over that of a fresh start \
      (back). Missed goals are marked with ! and explained below with the seeds to look at \
      first:

        nearby prove find --seed 17 --trace find-17.csv

      With --reference the engine's posterior is compared with the exact one, which is sampled, at \
      some moments of each run: by how many exact sigmas the mean is off (per axis; median and 95th \
      percentile over moments and runs), its height, its horizontal part, and sigma over the exact \
      one; then the same over the moments at which the engine had converged. Scenarios with faults or \
      with several or moving peers are left out of this table. --details adds the moments at which \
      the engine still fitted its hypotheses to all samples (searching), those at which it only \
      filtered, and each time by itself.

      A second table, of all scenarios, compares with the smoother on prefixes: at twelve moments of \
      each run it estimates everything anew from all samples until then, and none after. A peer is \
      claimable at a moment when that estimate meets the engine's rule of convergence (sigma at most \
      max(0.35 m, 7 % of the distance), one place with 99 % of the probability, or as configured) and \
      the peer is at rest. The columns:

        claimable %  claimable moments of all moments of all peers
        wrong        of these, how many: error over 0.5 m and 3.4 smoother's sigma
        claimed %    of the claimable, moments at which the engine had converged
        wrong        of these, how many: error over 0.5 m and 3.4 engine's sigma
        beyond       moments not claimable at which the engine had converged
        wrong        of these, how many
        late s, m    from a peer's first claimable moment to the engine's first
                     claim, seconds and metres of the device's path: median over
                     the claimable peers; - when infinite
        never        peers that the engine never claims, of the claimable ones
        RMSE m       the engine's error, the smoother's, and the ratio: at all
                     moments, then behind the bar at the claimable ones

      This table has no goals. It costs seven times the smoothing of each run, a minute for a run \
      with eight peers: choose few seeds.

      With --downlink a device is located that only listens: by range differences (DL-TDoA) to six \
      anchors, once a second. Compared is the second half of each run: moments with a claimed place, its \
      RMSE, the bound, their ratio (at most 1.15), NEES/3 (0.8 to 1.25); then runs with a wrong claim at \
      any time (over 0.5 m and 3.4 sigma) and the median time to the first fix. The scenarios: \
      \(DownlinkScenario.presets.map(\.name).joined(separator: ", ")).

      Each run is calibrated first, as 'nearby run' does it; the second row of a scenario, marked off, has the \
      figures without that. The goals are those of the first row. --calibration chooses one of the two. \
      --ablate and --reference compare engines that are told, without a calibration.

      Where a scenario only may converge, NEES/3 and false convergences are its goals. Each peer of a \
      run counts as a run.

      The scenarios are those of "nearby simulate --list".

      EXAMPLES
        nearby prove --seeds 50
        nearby prove find ranges-line --never-seeds 10000
        nearby prove find --set faults.rangeOnset=0.1 --json
        nearby prove --seeds 100 --ablate
        nearby prove level-office level-hall --reference --seeds 4
        nearby prove --downlink --seeds 100

      EXIT STATUS
        1   a goal was missed
      """)

  @Argument(
    help: ArgumentHelp(
      "Scenarios by name, or JSON files; all presets when none is named.", valueName: "scenario"),
    completion: .list(Scenario.presets.map(\.name)))
  var scenarioNames: [String] = []

  @Option(help: ArgumentHelp("How many seeds for each scenario.", valueName: "n"))
  var seeds = 500

  @Option(
    help: ArgumentHelp(
      "How many for each scenario that must never converge (default: as --seeds).", valueName: "n"))
  var neverSeeds: Int?

  @Option(
    help: ArgumentHelp("How many runs at a time (default: as many as cores).", valueName: "n"))
  var jobs: Int?

  @Option(help: ArgumentHelp("Run this seed only, without checking goals.", valueName: "k"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp("Write that run here: estimate, truth and bound, CSV.", valueName: "file"),
    completion: .file(extensions: ["csv"]))
  var trace: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Set one setting of the engine; may be given several times.", valueName: "key=value"))
  var settings: [String] = []

  @Option(
    name: .customLong("config"),
    help: ArgumentHelp("Settings of the engine, JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var configurationPath: String?

  /// Which of a proof's figures are computed.
  enum Calibrations: String, ExpressibleByArgument, CaseIterable {
    case both, use, off
  }

  @Option(help: ArgumentHelp("Calibrate the runs: use, off or both.", valueName: "mode"))
  var calibration = Calibrations.both

  @Flag(help: "Switch features off one by one and compare.")
  var ablate = false

  @Flag(
    help: """
      Compare with the exact posterior, for scenarios with one peer at rest, and with the smoother on \
      what had come by then.
      """)
  var reference = false

  @Flag(help: "Compare the locator of range differences with its bound.")
  var downlink = false

  @Flag(help: "Also print the outputs, their errors, and the cost of convergence.")
  var details = false

  @Flag(help: "Print JSON instead of tables.")
  var json = false

  /// More runs would take weeks.
  private static let seedCounts = 1...10_000_000

  func validate() throws {
    guard Self.seedCounts.contains(seeds) else {
      throw ValidationError("--seeds must be 1 to \(Self.seedCounts.upperBound)")
    }
    guard Self.seedCounts.contains(neverSeeds ?? seeds) else {
      throw ValidationError("--never-seeds must be 1 to \(Self.seedCounts.upperBound)")
    }
    if seed == .max { throw ValidationError("--seed must be below \(UInt64.max)") }
    if let jobs, jobs < 1 { throw ValidationError("--jobs must be at least 1") }
    if trace != nil && (seed == nil || scenarioNames.count != 1) {
      throw ValidationError("--trace needs --seed and one scenario")
    }
    if ablate && (seed != nil || trace != nil) {
      throw ValidationError("--ablate takes many seeds; leave out --seed and --trace")
    }
    if reference && (ablate || trace != nil) {
      throw ValidationError("--reference excludes --ablate and --trace")
    }
    if downlink && (ablate || reference || details || trace != nil || neverSeeds != nil) {
      throw ValidationError(
        "--downlink excludes --ablate, --reference, --details, --trace and --never-seeds")
    }
  }

  func run() async throws {
    if downlink { return try await proveDownlink() }
    let scenarios =
      try scenarioNames.isEmpty
      ? Scenario.presets : scenarioNames.map { try ScenarioArgument.scenario($0) }
    let proof = try proof()
    if let trace, let seed {
      try RunTrace(path: trace).write(proof.run(of: scenarios[0]), seed: seed)
      return
    }
    if ablate { return try await printAblation(of: scenarios, proof) }
    if reference {
      let isMissed = try await ReferenceProof(
        proof: proof, isQuiet: json, printsTimes: details || seed != nil
      ).run(scenarios, namesEach: !scenarioNames.isEmpty)
      if seed == nil, isMissed { throw ExitCode.failure }
      return
    }
    let figures = try await prove(scenarios, proof)
    if seed == nil, figures.contains(where: { !$0.misses.isEmpty }) { throw ExitCode.failure }
  }

  // MARK: Parts

  /// Runs scenario by scenario, and prints each row as soon as it is available.
  private func prove(_ scenarios: [Scenario], _ proof: Proof) async throws -> [ScenarioFigures] {
    let progress = ProgressLine(isQuiet: false)
    defer { progress.finish() }
    let table = ProofTable(names: scenarios.map(\.name))
    if !json { try StandardOutput.print(table.header) }
    let modes: [CalibrationMode] =
      switch calibration {
      case .both: [.use, .off]
      case .use: [.use]
      case .off: [.off]
      }
    let total = modes.count * scenarios.reduce(0) { $0 + proof.seeds(of: $1).count }
    var runs = 0
    var (all, without): ([ScenarioFigures], [ScenarioFigures]) = ([], [])
    for scenario in scenarios {
      for mode in modes {
        let start = ContinuousClock.now
        var proof = proof
        proof.calibration = mode
        let figures = try await proof.figures(of: scenario) {
          runs += 1
          progress.update(
            fraction: Double(runs) / Double(total),
            what: "\(scenario.name)  \(runs) of \(total) runs")
        }
        let isSecond = mode != modes[0]
        if isSecond { without.append(figures) } else { all.append(figures) }
        progress.finish()
        if !json {
          let seconds = start.duration(to: .now).inSeconds
          try StandardOutput.print(table.row(figures, seconds: seconds, isWithout: isSecond))
        }
      }
    }
    if json {
      try StandardOutput.write(
        CanonicalJSON.text(of: ProofResult(scenarios: all, withoutCalibration: without)))
    } else {
      if details { try StandardOutput.print(ProofTable.details(all), terminator: "") }
      if seed == nil { try StandardOutput.print(ProofTable.verdict(all), terminator: "") }
    }
    return all
  }

  private func proveDownlink() async throws {
    let presets = DownlinkScenario.presets
    let scenarios =
      try scenarioNames.isEmpty
      ? presets
      : scenarioNames.map { name in
        guard let scenario = presets.first(where: { $0.name == name }) else {
          throw ValidationError(
            "no downlink scenario '\(name)'; there are \(presets.map(\.name).joined(separator: ", "))"
          )
        }
        return scenario
      }
    let general = try proof()
    var proof = DownlinkProof(seeds: general.seeds)
    proof.jobs = general.jobs
    proof.change = general.change
    let progress = ProgressLine(isQuiet: false)
    defer { progress.finish() }
    let table = DownlinkTable(names: scenarios.map(\.name))
    if !json { try StandardOutput.print(table.header) }
    let total = scenarios.count * proof.seeds.count
    var (runs, all) = (0, [DownlinkProof.Figures]())
    for scenario in scenarios {
      let start = ContinuousClock.now
      let figures = try await proof.figures(of: scenario) {
        runs += 1
        progress.update(
          fraction: Double(runs) / Double(total), what: "\(scenario.name)  \(runs) of \(total) runs"
        )
      }
      all.append(figures)
      progress.finish()
      if !json {
        try StandardOutput.print(table.row(figures, seconds: start.duration(to: .now).inSeconds))
      }
    }
    if json { try StandardOutput.write(CanonicalJSON.text(of: DownlinkResult(scenarios: all))) }
    guard seed == nil else { return }
    for figures in all where !json {
      for miss in figures.misses { try StandardOutput.print("\(figures.scenario): \(miss)") }
    }
    if all.contains(where: { !$0.misses.isEmpty }) { throw ExitCode.failure }
  }

  private func printAblation(of scenarios: [Scenario], _ proof: Proof) async throws {
    let progress = ProgressLine(isQuiet: false)
    defer { progress.finish() }
    let switches = FeatureSwitch.all
    let total =
      scenarios.reduce(0) { $0 + proof.seeds(of: $1).count } * (switches.count + 1)
    var runs = 0
    let ablation = try await Ablation(proof, switches).run(scenarios) { what in
      runs += 1
      progress.update(fraction: Double(runs) / Double(total), what: what)
    }
    progress.finish()
    if json {
      try StandardOutput.write(CanonicalJSON.text(of: ablation))
    } else {
      try StandardOutput.print(AblationTable(ablation).text, terminator: "")
    }
  }

  private func proof() throws -> Proof {
    var proof = Proof(
      seeds: seed.map { $0..<$0 + 1 } ?? 0..<UInt64(seeds),
      neverSeeds: seed.map { $0..<$0 + 1 } ?? 0..<UInt64(neverSeeds ?? seeds))
    if let jobs { proof.jobs = jobs }
    let (path, settings) = (configurationPath, settings)
    proof.change = { configuration in
      if let path { configuration = try ConfigurationFile.read(path: path, over: configuration) }
      for setting in settings { try Self.apply(setting, to: &configuration) }
    }
    // Checks the settings before the first run.
    var configuration = FusionConfiguration()
    try proof.change(&configuration)
    return proof
  }

  private static func apply(
    _ setting: String, to configuration: inout FusionConfiguration
  ) throws {
    do {
      configuration = try ConfigurationFile.apply(assignment: setting, over: configuration)
    } catch {
      throw CommandFailure(.usage, "--set \(error.description)")
    }
  }
}

/// The output of `nearby prove --downlink --json`.
private struct DownlinkResult: Encodable {
  var scenarios: [DownlinkProof.Figures]
}

/// The output of `nearby prove --json`.
private struct ProofResult: Encodable {
  var scenarios: [ScenarioFigures]
  /// The same without calibration; empty unless both were asked for.
  var withoutCalibration: [ScenarioFigures]
}
