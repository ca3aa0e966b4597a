// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// What a run says of the places of anchors that it was given: `survey` in `summary.json`.
public struct SurveySummary: Hashable, Sendable, Codable {
  /// `untested`, `plausible`, `confirmed` or `contradicted` (`SurveyVerdict` of NearbyFusion).
  public var verdict: String
  /// What is wrong with the places, each a sentence without its full stop.
  public var faults: [String]

  /// Puts a verdict into words.
  ///
  /// - Parameters:
  ///   - verdict: The verdict.
  ///   - names: The anchors' names, as the verdict numbers them.
  public init(_ verdict: SurveyVerdict, names: [String]) {
    func sentences(_ faults: [SurveyFault]) -> [String] {
      faults.map { Self.sentence($0, names) }
    }
    (self.verdict, faults) =
      switch verdict {
      case .untested: ("untested", [])
      case .plausible(let faults): ("plausible", sentences(faults))
      case .confirmed(let faults): ("confirmed", sentences(faults))
      case .contradicted(let faults): ("contradicted", sentences(faults))
      }
  }

  /// What is to be said in the table of a run: nothing of places that are right.
  public var lines: [String] {
    switch verdict {
    case "untested":
      ["The measurements do not tell whether the map is right; it was not used."]
    case "contradicted":
      ["The measurements contradict the map; it was not used. The likeliest fault:"]
        + faults.map { $0 + "." }
    default: faults.map { "The map is wrong, and was corrected: \($0)." }
    }
  }

  private static func sentence(_ fault: SurveyFault, _ names: [String]) -> String {
    func name(_ anchor: Int) -> String { names.indices.contains(anchor) ? names[anchor] : "?" }
    return switch fault {
    case .displaced(let anchor): "\(name(anchor)) is not where the map has it"
    case .exchanged(let a, let b): "\(name(a)) and \(name(b)) fit when they are exchanged"
    case .upsideDown: "it fits when it is turned upside down (heights have the wrong sign)"
    case .mirrored: "it fits when left and right are exchanged"
    case .scaled(let factor):
      "its distances are \(factor.fixed(decimals: 2)) times what the measurements say"
    case .reversed:
      "the range differences fit with the other sign (anchor_a and anchor_b are exchanged)"
    }
  }
}
