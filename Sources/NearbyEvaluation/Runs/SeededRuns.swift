// SPDX-License-Identifier: Apache-2.0

/// Runs many seeds, several at a time.
struct SeededRuns {
  /// The seeds.
  var seeds: Range<UInt64>
  /// The largest number of concurrent runs; it is limited to the number of cores.
  var jobs: Int

  /// More tasks than this only hold memory.
  private static let mostTasks = 64

  /// Runs all seeds.
  ///
  /// - Parameters:
  ///   - finished: Called after each run.
  ///   - body: Runs one seed.
  /// - Returns: The results in the order of the seeds, whatever the number of concurrent runs.
  /// - Throws: What a run throws.
  func results<Result: Sendable>(
    finished: () -> Void, _ body: @escaping @Sendable (UInt64) throws -> Result
  ) async throws -> [Result] {
    var all: [(seed: UInt64, result: Result)] = []
    try await withThrowingTaskGroup(of: (seed: UInt64, result: Result).self) { group in
      var waiting = seeds.makeIterator()
      for _ in 0..<min(max(1, jobs), Self.mostTasks) {
        if let seed = waiting.next() { group.addTask { (seed, try body(seed)) } }
      }
      while let done = try await group.next() {
        all.append(done)
        finished()
        if let seed = waiting.next() { group.addTask { (seed, try body(seed)) } }
      }
    }
    return all.sorted { $0.seed < $1.seed }.map(\.result)
  }
}
