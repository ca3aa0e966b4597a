// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// Every transition of a track's life, as a table.
@Suite("Track phase")
struct TrackPhaseTests {
  private static let then = Timestamp(nanoseconds: 1_000)
  private static let now = Timestamp(nanoseconds: 2_000)

  private static func searching(
    wasOnePlace: Bool = false, isConfirmed: Bool = false, needsSweep: Bool = false
  ) -> TrackPhase {
    .searching(
      TrackPhase.SearchState(
        wasOnePlace: wasOnePlace, isConfirmed: isConfirmed, needsSweep: needsSweep))
  }

  private static func reduced(
    isNarrow: Bool = false, isOnePlace: Bool = false, wasSweep: Bool = false,
    explainsRanges: Bool = true, needsRefinement: Bool = false
  ) -> TrackPhase.Event {
    .reduced(
      TrackPhase.Reduction(
        time: now, isNarrow: isNarrow, isOnePlace: isOnePlace, wasSweep: wasSweep,
        explainsRanges: explainsRanges, needsRefinement: needsRefinement))
  }

  /// Phase, event, phase after it.
  static let table: [(TrackPhase, TrackPhase.Event, TrackPhase)] = [
    // A search goes on as long as several places are left.
    (searching(), reduced(), searching()),
    (searching(), reduced(wasSweep: true), searching()),
    // A place that a refining search finds must be found by one of the whole prior.
    (searching(), reduced(isOnePlace: true), searching(needsSweep: true)),
    (searching(), reduced(isNarrow: true, isOnePlace: true), searching(needsSweep: true)),
    // Two of the whole prior in a row confirm it.
    (
      searching(needsSweep: true), reduced(isOnePlace: true, wasSweep: true),
      searching(wasOnePlace: true, needsSweep: true)
    ),
    (
      searching(wasOnePlace: true, needsSweep: true), reduced(isOnePlace: true, wasSweep: true),
      searching(wasOnePlace: true, isConfirmed: true)
    ),
    // What others say in between changes neither.
    (
      searching(wasOnePlace: true, isConfirmed: true), reduced(),
      searching(wasOnePlace: true, isConfirmed: true)
    ),
    // One of the whole prior without the place ends the confirmation.
    (searching(wasOnePlace: true, isConfirmed: true), reduced(wasSweep: true), searching()),
    // It settles only after a search of the whole prior that explains the ranges.
    (
      searching(), reduced(isNarrow: true, isOnePlace: true, wasSweep: true), .settled(since: now)
    ),
    (
      searching(),
      reduced(isNarrow: true, isOnePlace: true, wasSweep: true, explainsRanges: false),
      searching(wasOnePlace: true, needsSweep: true)
    ),
    // A shell that still bends is refined.
    (
      searching(), reduced(isNarrow: true, wasSweep: true, needsRefinement: true),
      .refining(since: now)
    ),
    (.refining(since: then), .flattened, .settled(since: then)),
    (.refining(since: then), reduced(isNarrow: true, wasSweep: true), .refining(since: then)),
    (.refining(since: then), .widened, .refining(since: then)),
    (.settled(since: then), .widened, .lost(since: then)),
    (.settled(since: then), .flattened, .settled(since: then)),
    (.settled(since: then), reduced(isNarrow: true, wasSweep: true), .settled(since: then)),
    // A lost track stays lost, however narrow it becomes again.
    (
      .lost(since: then), reduced(isNarrow: true, isOnePlace: true, wasSweep: true),
      .lost(since: then)
    ),
    (.lost(since: then), .flattened, .lost(since: then)),
    (.lost(since: then), .widened, .lost(since: then)),
    (searching(), .flattened, searching()),
    (searching(), .widened, searching()),
    // The joint fit ends a search.
    (searching(), .located(now), .settled(since: now)),
    (.refining(since: then), .located(now), .settled(since: then)),
    (.settled(since: then), .located(now), .settled(since: then)),
    (.lost(since: then), .located(now), .lost(since: then)),
  ]

  @Test("every event leads where the table says", arguments: 0..<table.count)
  func transitions(row: Int) {
    let (phase, event, expected) = Self.table[row]
    #expect(phase.after(event) == expected, "\(phase), \(event)")
  }

  @Test("what each phase means")
  func properties() {
    let phases: [TrackPhase] = [
      .initial, .refining(since: Self.then), .settled(since: Self.then), .lost(since: Self.then),
    ]
    #expect(phases.map(\.isSearching) == [true, true, false, false])
    #expect(phases.map(\.isSettled) == [false, true, true, true])
    #expect(phases.map(\.isConfirmed) == [false, true, true, false])
    #expect(phases.map(\.isLost) == [false, false, false, true])
    #expect(phases.map(\.needsSweep) == [false, false, false, false])
    #expect(Self.searching(isConfirmed: true).isConfirmed)
    #expect(Self.searching(needsSweep: true).needsSweep)
  }
}
