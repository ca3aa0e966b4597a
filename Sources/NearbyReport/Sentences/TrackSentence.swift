// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

extension ReportTrack {
  /// Where the peer is, in one sentence that begins after its name; what to do for one that was not found is
  /// in ``advice``.
  ///
  /// It is that of the last sample. A smoothed track has no status: it says where the peer was.
  public var sentence: String {
    let last = lastPlace
    let isEstimate = timeline.count > 0
    guard isEstimate else { return last.map { "smoothed: \($0)" } ?? "smoothed: nowhere" }
    switch (facts.secondsToConverge, timeline[.status].last) {
    case (let seconds?, 2):
      return "found after \(Self.duration(seconds)), \(last ?? "at no known place")"
    case (let seconds?, _):
      return
        "found after \(Self.duration(seconds)), not certain at the end\(last.map { ": \($0)" } ?? "")"
    case (nil, 0): return "not found: no sample could be used"
    case (nil, _): return "not found\(modesPhrase.map { ": \($0)" } ?? "")"
    }
  }

  /// Distance and accuracy at the last sample; `nil` without a distance.
  private var lastPlace: String? {
    guard let distance = moments[.distance].last(where: { $0.isFinite }) else { return nil }
    let sigma = moments[.sigma].last { $0.isFinite } ?? .nan
    let within = sigma.isFinite ? ", within ±\(Self.length(sigma))" : ""
    return "\(Self.length(distance)) away\(within)"
  }

  /// At how many places the peer may be at the end; `nil` when there are not several.
  private var modesPhrase: String? {
    guard let end = modes[.time].last, let last = moments[.time].last, end == last else {
      return nil
    }
    let rows = modes[.time].indices.filter { modes[.time][$0] == end && modes[.weight][$0] > 0.01 }
    guard rows.count > 1, let most = rows.map({ modes[.weight][$0] }).max() else { return nil }
    let width = max(extent(.x, rows), extent(.y, rows))
    if rows.count > 6 { return "it may be anywhere on a ring of places" }
    let places = width < 0.3 * extent(.z, rows) ? "heights" : "places"
    let share = Int((100 * most).rounded())
    return "it may be at \(rows.count) \(places), the likeliest with \(share) %"
  }

  private func extent(_ column: ModeColumn, _ rows: [Int]) -> Double {
    let values = rows.map { modes[column][$0] }
    return (values.max() ?? 0) - (values.min() ?? 0)
  }

  /// A length as people say it: to two digits, in centimetres below a metre's tenth.
  private static func length(_ metres: Double) -> String {
    metres < 0.1
      ? "\((100 * metres).fixed(decimals: 0)) cm"
      : "\(metres.fixed(decimals: metres < 10 ? 2 : 1)) m"
  }

  private static func duration(_ seconds: Double) -> String {
    "\(seconds.fixed(decimals: seconds < 10 ? 1 : 0)) s"
  }
}
