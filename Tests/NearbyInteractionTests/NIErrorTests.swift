// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyInteraction

struct NIErrorTests {
  @Test(
    arguments: zip(
      NIError.Code.allCases,
      [-5889, -5888, -5887, -5886, -5885, -5884, -5883, -5882, -5881, -5880]))
  func rawValuesAreApples(_ code: NIError.Code, _ raw: Int) {
    #expect(code.rawValue == raw)
    let error: any Error = NIError(code)
    let bridged = error as NSError
    #expect(bridged.domain == "NIErrorDomain")
    #expect(bridged.code == raw)
    #expect(!error.localizedDescription.isEmpty)
    #expect((error as? any LocalizedError)?.recoverySuggestion?.isEmpty == false)
  }

  @Test func errorsMatchLikeFoundations() {
    let error: any Error = NIError(.userDidNotAllow)
    var hits = 0
    if case NIError.userDidNotAllow = error { hits += 1 }
    if case NIError.sessionFailed = error { hits += 100 }
    switch error {
    case NIError.invalidConfiguration: hits += 100
    case NIError.userDidNotAllow: hits += 1
    default: hits += 100
    }
    do { throw error } catch NIError.userDidNotAllow { hits += 1 } catch { hits += 100 }
    if (error as? NIError)?.code == .userDidNotAllow { hits += 1 }
    if case NIError.userDidNotAllow = CocoaError(.fileNoSuchFile) as any Error { hits += 100 }
    #expect(hits == 4)
  }

  @Test func anErrorCarriesWhatItIsGiven() {
    let error = NIError(.sessionFailed, userInfo: ["peer": "keys"])
    #expect(error.userInfo["peer"] as? String == "keys")
    #expect((error as NSError).userInfo["peer"] as? String == "keys")
    #expect(!error.localizedDescription.isEmpty && error == NIError(.sessionFailed))
    let other = NIError(.sessionFailed, userInfo: [NSLocalizedDescriptionKey: "gone"])
    #expect(other.localizedDescription == "gone")
    #expect("\(other)" == "NIError.sessionFailed: gone")
  }

  @Test(arguments: NIError.Code.allCases)
  func anNSErrorMatchesByItsNumber(_ code: NIError.Code) {
    let bridged: any Error = NSError(domain: NIErrorDomain, code: code.rawValue)
    let stranger: any Error = NSError(domain: "another", code: code.rawValue)
    #expect(code ~= bridged)
    #expect(!(code ~= stranger))
    #expect(!((code == .sessionFailed ? .userDidNotAllow : .sessionFailed) ~= bridged))
  }

  @Test func aReasonHasADescription() {
    let reasons: [NIAlgorithmConvergenceStatus.Reason] = [
      .insufficientMovement, .insufficientHorizontalSweep, .insufficientVerticalSweep,
      .insufficientLighting, .insufficientSignalStrength,
    ]
    #expect(Set(reasons.compactMap(\.localizedDescription)).count == 5)
    #expect(NIAlgorithmConvergenceStatus.Reason(rawValue: "other").localizedDescription == nil)
  }
}
