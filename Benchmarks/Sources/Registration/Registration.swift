// SPDX-License-Identifier: Apache-2.0
internal import Benchmark
public import Workloads

extension Catalogue.Entry {
  /// Registers the workload for timing, together with its floor in each iteration.
  ///
  /// Compared times must be measured at the same time, since the machine's speed changes from one
  /// second to the next.
  ///
  /// Both are custom metrics, nanoseconds per batch, by the same clock and without the clock's own
  /// time. A batch may take only 3 µs, of which the package's own timing would be a twentieth.
  public func register() {
    let time = BenchmarkMetric.custom("\(name) time", polarity: .prefersSmaller)
    let floor = BenchmarkMetric.custom("\(name) floor", polarity: .prefersSmaller)
    let operations = BenchmarkMetric.custom("\(name) operations")
    var metrics: [BenchmarkMetric] = [.wallClock, .throughput, time, operations]
    if hasFloor { metrics.append(floor) }
    let configuration = Benchmark.Configuration(
      metrics: metrics, timeUnits: .nanoseconds, warmupIterations: 3, maxDuration: .seconds(2),
      maxIterations: 20_000)
    let subject = Subject(make)
    let stopwatch = Stopwatch()
    Benchmark(name, configuration: configuration) { benchmark in
      try subject.prepare()
      var floorTime = 0
      // The order alternates, so that neither always runs with the caches as the other left them.
      let floorFirst = benchmark.currentIteration.isMultiple(of: 2)
      if hasFloor, floorFirst { floorTime = stopwatch.nanoseconds { subject.workload?.runFloor() } }
      benchmark.startMeasurement()
      let ownTime = stopwatch.nanoseconds { subject.workload?.run() }
      benchmark.stopMeasurement()
      if hasFloor, !floorFirst {
        floorTime = stopwatch.nanoseconds { subject.workload?.runFloor() }
      }
      benchmark.measurement(time, ownTime)
      if hasFloor { benchmark.measurement(floor, floorTime) }
      benchmark.measurement(operations, subject.workload?.operations ?? 0)
      try subject.workload?.check()
    }
  }
}

/// A clock that subtracts its own time.
private struct Stopwatch: Sendable {
  private let clock = ContinuousClock()
  private var own = Duration.zero

  init() {
    var least = Duration.seconds(1)
    for _ in 0..<1000 { least = min(least, clock.measure {}) }
    own = least
  }

  @inline(__always)
  func nanoseconds(_ body: () -> Void) -> Int {
    max(Int((clock.measure(body) - own) / .nanoseconds(1)), 0)
  }
}

/// A workload that is made on first use, not when it is registered.
private final class Subject {
  private let make: () throws -> any Workload
  var workload: (any Workload)?

  init(_ make: @escaping () throws -> any Workload) { self.make = make }

  func prepare() throws {
    if workload == nil { workload = try make() }
    try workload?.prepare()
  }
}

extension LongWalk {
  /// Registers the walk for timing: a metric for each window, nanoseconds per sample.
  public static func register() {
    measure("Engine.hours", windows.map(\.name), times: 3) {
      try LongWalk().nanosecondsPerSample()
    }
  }
}

/// Registers the most expensive sample of two walks for timing, nanoseconds.
public func registerCostliestSamples() {
  measure("Engine.costliest", ["ambiguous", "level"], times: 10) {
    var ambiguous = try AmbiguousWalk()
    var level = try LevelWalk(peers: 8)
    return [ambiguous.costliestSample(), level.costliestSample()]
  }
}

/// Registers a function that times itself: a metric for each part, nanoseconds.
private func measure(
  _ name: String, _ parts: [String], times: Int, _ body: @escaping () throws -> [Double]
) {
  let metrics = parts.map { BenchmarkMetric.custom("\(name) \($0)", polarity: .prefersSmaller) }
  let configuration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput] + metrics, timeUnits: .nanoseconds, warmupIterations: 0,
    maxDuration: .seconds(60), maxIterations: times)
  Benchmark(name, configuration: configuration) { benchmark in
    // The exporter needs a throughput, which would be zero for a duration of a second.
    benchmark.startMeasurement()
    benchmark.stopMeasurement()
    for (metric, cost) in zip(metrics, try body()) {
      benchmark.measurement(metric, Int(cost.rounded()))
    }
  }
}
