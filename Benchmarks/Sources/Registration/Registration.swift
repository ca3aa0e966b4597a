// SPDX-License-Identifier: Apache-2.0
internal import Benchmark
public import Workloads

extension Catalogue.Entry {
  /// Has the workload timed, and its floor beside it in each iteration: what is to be compared must be
  /// measured at the same moment, since the machine's speed changes from one second to the next.
  ///
  /// Both are custom metrics, nanoseconds for a batch, by the same clock and less what measuring
  /// nothing takes: a batch may last no more than 3 µs, of which the package's own way to measure
  /// would be a twentieth.
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
      // By turns first and second: neither always finds the caches as the other left them.
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

/// A clock that takes its own time off.
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

/// A workload that is made when it is first needed, not when it is registered.
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
  /// Has the walk timed: a metric for each window, nanoseconds for a sample.
  public static func register() {
    measure("Engine.hours", windows.map(\.name), times: 3) {
      try LongWalk().nanosecondsPerSample()
    }
  }
}

extension AmbiguousWalk {
  /// Has the walk's costliest sample timed, nanoseconds.
  public static func registerCostliestSample() {
    measure("Engine.costliest", ["sample"], times: 10) {
      var walk = try AmbiguousWalk()
      return [walk.costliestSample()]
    }
  }
}

/// Has something measured that times itself: a metric for each part, nanoseconds.
private func measure(
  _ name: String, _ parts: [String], times: Int, _ body: @escaping () throws -> [Double]
) {
  let metrics = parts.map { BenchmarkMetric.custom("\(name) \($0)", polarity: .prefersSmaller) }
  let configuration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput] + metrics, timeUnits: .nanoseconds, warmupIterations: 0,
    maxDuration: .seconds(60), maxIterations: times)
  Benchmark(name, configuration: configuration) { benchmark in
    // The exporter wants a throughput, which is zero for what takes a second.
    benchmark.startMeasurement()
    benchmark.stopMeasurement()
    for (metric, cost) in zip(metrics, try body()) {
      benchmark.measurement(metric, Int(cost.rounded()))
    }
  }
}
