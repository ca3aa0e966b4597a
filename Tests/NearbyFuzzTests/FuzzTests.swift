// SPDX-License-Identifier: Apache-2.0
import NearbyTestSupport
import Testing

/// Campaigns of random cases, which run one after the other and share a time budget.
@Suite("Fuzzing", .serialized)
enum FuzzTests {}

extension FuzzCampaign.Report {
  /// Records every failure.
  func expectNothingWrong(sourceLocation: SourceLocation = #_sourceLocation) {
    for failure in failures {
      Issue.record(Comment(rawValue: failure), sourceLocation: sourceLocation)
    }
    #expect(cases > 0, sourceLocation: sourceLocation)
  }
}
