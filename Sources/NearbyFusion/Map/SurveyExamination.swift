// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Decides between a survey as it is and what may be wrong with it.
///
/// Each fault is a hypothesis beside the survey, with its log evidence. The search goes from the survey as
/// it is to the fault that explains the measurements best, and on from there, as long as the measurements
/// make it more probable in spite of its prior. Where it ends, the survey is used if the measurements exclude
/// each other fault that is large (``FaultSize``), and each place of it as it is if they exclude that it is
/// displaced by so much that it matters.
///
/// However often it is examined, the measurements ever exclude a fault that is there with a probability of
/// less than the ratio of likelihoods that is asked for (Ville's inequality).
struct SurveyExamination {
  /// What the measurements say under a hypothesis.
  struct Evidence: Sendable {
    /// The logarithm of their probability, up to a constant that all hypotheses share.
    var logEvidence: Double
    /// The same if the fault that was added last is one that matters, and if it is a large one.
    var logMaterial: Double
    var logLarge: Double
    /// Whether it explains the measurements, with a place of the device that is the only one.
    var isSound = true
    /// By how much the survey is too large where that is unknown.
    var scale: Double?

    init(logEvidence: Double) {
      (self.logEvidence, logMaterial, logLarge) = (logEvidence, logEvidence, logEvidence)
    }
  }

  /// The hypothesis at which the search has ended.
  private(set) var hypothesis = SurveyHypothesis()
  private(set) var verdict = SurveyVerdict.untested
  /// The anchors whose places are taken as uncertain.
  private(set) var loose: Set<Int> = []
  private var evidence = Evidence(logEvidence: -.infinity)

  /// The ratio of likelihoods from which one place, or one survey, is no rival of another (nats).
  static let decisive = log(1000.0)
  /// The logarithm of the prior probability that a survey has a certain kind of fault.
  private static let faultPrior = log(0.01)
  /// The ratio of likelihoods at which a fault is excluded (nats): of surveys with that fault one in 50 is used as
  /// if it had none, and that for a while.
  private static let excluded = log(50.0)
  /// The most faults that a survey is believed to have.
  private static let mostFaults = 2
  /// The least anchors that must be where they were surveyed.
  static let leastAnchors = 3

  /// Examines a survey.
  ///
  /// - Parameters:
  ///   - heard: The anchors that the measurements tell something of.
  ///   - measuresDifferences: Whether range differences are measured.
  ///   - evidence: The evidence of a hypothesis; `nil` where nothing can be said under it.
  init(
    among heard: [Int], measuresDifferences: Bool,
    _ evidence: (SurveyHypothesis) -> Evidence?
  ) {
    guard let asSurveyed = evidence(hypothesis) else { return }
    self.evidence = asSurveyed
    var siblings: [Evidence] = []
    while true {
      let further = hypothesis.furtherFaults(
        among: heard, measuresDifferences: measuresDifferences)
      var cases: [(fault: SurveyFault, evidence: Evidence)] = further.compactMap { fault in
        evidence(hypothesis.adding(fault)).map { (fault, $0) }
      }
      guard
        let best = cases.indices.max(by: {
          cases[$0].evidence.logEvidence < cases[$1].evidence.logEvidence
        }),
        cases[best].evidence.logEvidence + Self.faultPrior
          > self.evidence.logEvidence + Self.decisive
      else {
        conclude(heard, cases, siblings)
        return
      }
      guard hypothesis.faults.count < Self.mostFaults else {
        verdict = .contradicted(faults)
        return
      }
      let chosen = cases.remove(at: best)
      siblings = cases.map(\.evidence)
      hypothesis = hypothesis.adding(chosen.fault)
      self.evidence = chosen.evidence
    }
  }

  /// Judges the hypothesis by its rivals.
  private mutating func conclude(
    _ heard: [Int], _ rivals: [(fault: SurveyFault, evidence: Evidence)], _ siblings: [Evidence]
  ) {
    let displaced = hypothesis.displaced
    let isUsed =
      evidence.isSound && heard.count - displaced.count >= Self.leastAnchors
      && siblings.allSatisfy { $0.logEvidence < evidence.logEvidence - Self.decisive }
      && rivals.allSatisfy { isExcluded($0.evidence.logLarge) }
    guard isUsed else {
      if !hypothesis.faults.isEmpty { verdict = .contradicted(faults) }
      return
    }
    for rival in rivals where !isExcluded(rival.evidence.logMaterial) {
      if case .displaced(let anchor) = rival.fault {
        loose.insert(anchor)
      } else {
        loose.formUnion(heard)
      }
    }
    loose.subtract(displaced)
    verdict = loose.isEmpty ? .confirmed(faults) : .plausible(faults)
  }

  /// The faults, with the scale as it was found.
  private var faults: [SurveyFault] {
    hypothesis.faults.map { fault in
      if case .scaled = fault, let scale = evidence.scale { return .scaled(by: scale) }
      return fault
    }
  }

  private func isExcluded(_ logEvidence: Double) -> Bool {
    logEvidence < evidence.logEvidence - Self.excluded
  }
}
