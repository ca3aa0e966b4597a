// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Runs test cases drawn from consecutive seeds until a time budget is spent.
///
/// A case is a function of its seed, so that every failure can be run again alone. Three
/// environment variables control all campaigns:
///
/// - `NEARBY_FUZZ_SECONDS`: how long all of them last together.
/// - `NEARBY_FUZZ_START`: the first seed; the same one gives the same cases.
/// - `NEARBY_FUZZ_SEED`: the seed of the only case that is run.
///
/// A trap ends the process without a report. So while a case runs, the file `out/fuzz/NAME.running`
/// says how to run it again. It is removed when the campaign ends.
public struct FuzzCampaign: Sendable {
  /// The name of the suite, by which it can be run alone.
  public let name: String
  /// Its share of the time.
  public let share: Double
  /// The seeds of cases that have failed once, which are run before all others.
  private let failedSeeds: [UInt64]

  /// The number of failures after which a campaign stops.
  private static let mostFailures = 10
  /// Seconds for all campaigns together in an ordinary run of the tests.
  private static let secondsByDefault = 60.0
  /// The same in an unoptimised build or under a sanitizer.
  private static let secondsWhenSlow = 12.0

  /// Makes a campaign.
  ///
  /// - Parameters:
  ///   - name: The name of the suite.
  ///   - share: Its share of the time of all campaigns, 0 to 1.
  ///   - failedSeeds: The seeds of cases that have failed once, which are run before all others.
  public init(_ name: String, share: Double, failedSeeds: [UInt64] = []) {
    self.name = name
    self.share = share
    self.failedSeeds = failedSeeds
  }

  /// The record of a case: what it consists of and what was wrong.
  public struct Case {
    /// The seed from which all that is random is drawn.
    public let seed: UInt64
    fileprivate var counts: [String: Int] = [:]
    fileprivate var failures: [String] = []

    /// Counts things of a kind.
    public mutating func count(_ kind: String, _ number: Int = 1) {
      counts[kind, default: 0] += number
    }

    /// Records a failed expectation.
    ///
    /// Only the first few of a case are kept.
    public mutating func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
      if !condition, failures.count < 3 { failures.append(problem()) }
    }

    /// Whether nothing was wrong so far.
    public var isFine: Bool { failures.isEmpty }
  }

  /// The results of all cases.
  public struct Report: Sendable, CustomStringConvertible {
    fileprivate var name: String
    fileprivate var counts: [String: Int] = [:]
    fileprivate var slowest = (seed: UInt64(0), seconds: 0.0)
    fileprivate var seconds = 0.0
    /// How many cases were run.
    public fileprivate(set) var cases = 0
    /// What was wrong, each with the seed and how to run it again.
    public fileprivate(set) var failures: [String] = []

    /// How many of each kind there were, in one line.
    public var description: String {
      let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      return "\(name): \(cases) cases in \(Int(seconds.rounded())) s"
        + (kinds.isEmpty ? "" : " (\(kinds.joined(separator: ", ")))")
        + "; the slowest, seed \(slowest.seed), took \(Int(1000 * slowest.seconds)) ms"
    }
  }

  /// Runs cases until the time is up, and says how many there were.
  ///
  /// - Parameter body: Runs one case.
  /// - Returns: What became of them.
  public func run(_ body: (inout Case) throws -> Void) -> Report {
    run(Environment(ProcessInfo.processInfo.environment), body)
  }

  /// The environment variables that control a campaign.
  struct Environment {
    var seconds: Double
    var start: UInt64 = 0
    var seed: UInt64?
    /// The folder of the files that name the running case.
    var folder: String

    init(_ variables: [String: String]) {
      #if DEBUG
        let usual = FuzzCampaign.secondsWhenSlow
      #else
        let usual = FuzzCampaign.secondsByDefault
      #endif
      seconds = variables["NEARBY_FUZZ_SECONDS"].flatMap(Double.init) ?? usual
      start = variables["NEARBY_FUZZ_START"].flatMap(UInt64.init) ?? 0
      seed = variables["NEARBY_FUZZ_SEED"].flatMap(UInt64.init)
      folder =
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../out/fuzz")
        .standardizedFileURL.path
    }
  }

  func run(_ environment: Environment, _ body: (inout Case) throws -> Void) -> Report {
    var report = Report(name: name)
    let running = RunningCase(folder: environment.folder, name: name)
    let clock = ContinuousClock()
    let start = clock.now
    let budget = Duration.seconds(environment.seconds * share)
    var remaining = environment.seed == nil ? failedSeeds[...] : []
    var next = environment.seed ?? environment.start
    func nextSeed() -> UInt64 {
      if let failed = remaining.popFirst() { return failed }
      defer { next &+= 1 }
      return next
    }
    repeat {
      let seed = nextSeed()
      running.note(Self.command(name, seed))
      var one = Case(seed: seed)
      let began = clock.now
      do { try body(&one) } catch { one.failures.append("\(error)") }
      let seconds = (clock.now - began) / .seconds(1)
      if seconds > report.slowest.seconds { report.slowest = (seed, seconds) }
      report.cases += 1
      report.counts.merge(one.counts, uniquingKeysWith: +)
      report.failures += one.failures.map { "seed \(seed): \($0) [\(Self.command(name, seed))]" }
    } while environment.seed == nil && report.failures.count < Self.mostFailures
      && (clock.now - start < budget || !remaining.isEmpty)
    report.seconds = (clock.now - start) / .seconds(1)
    running.remove()
    print(report)
    return report
  }

  /// How one case is run again.
  private static func command(_ name: String, _ seed: UInt64) -> String {
    "NEARBY_FUZZ_SEED=\(seed) make fuzz FUZZ_ONLY=\(name)"
  }
}

/// The file that names the running case.
private struct RunningCase {
  private let path: String
  private let file: FileHandle?

  init(folder: String, name: String) {
    path = "\(folder)/\(name).running"
    // Without such a folder, a trap leaves no trace; all else works.
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    file = FileHandle(forWritingAtPath: path)
  }

  /// Overwrites the previous line, which is never longer, since seeds grow.
  func note(_ line: String) {
    try? file?.seek(toOffset: 0)
    try? file?.write(contentsOf: Data("\(line)\n".utf8))
  }

  func remove() {
    try? file?.close()
    try? FileManager.default.removeItem(atPath: path)
  }
}
