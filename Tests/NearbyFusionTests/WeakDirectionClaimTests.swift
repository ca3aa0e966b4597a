// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyFusion

/// The table of transitions of what may be claimed along weak directions.
@Suite("Claims along weak directions")
struct WeakDirectionClaimTests {
  private typealias Claim = WeakDirectionClaim
  private static let flat = Claim.Event.walked(isFlat: true, azimuthsTell: false)
  private static let withAzimuths = Claim.Event.walked(isFlat: true, azimuthsTell: true)
  private static let throughSpace = Claim.Event.walked(isFlat: false, azimuthsTell: false)
  private static let passed = Claim.Event.examined(.verified)
  private static let failed = Claim.Event.examined(.unverified)
  private static let rivalled = Claim.Event.examined(.contested)

  /// Each claim with all events, and where they lead.
  private static let table: [(claim: Claim, after: [(Claim.Event, Claim)])] = [
    (
      .measured,
      [
        (flat, .measured), (withAzimuths, .measured), (throughSpace, .measured),
        (passed, .measured), (failed, .measured), (rivalled, .measured), (.replaced, .measured),
        (.measured, .measured),
      ]
    ),
    (
      .resolved,
      [
        (flat, .open), (withAzimuths, .toldByAzimuths), (throughSpace, .resolved),
        (passed, .resolved), (failed, .resolved), (rivalled, .resolved), (.replaced, .resolved),
        (.measured, .measured),
      ]
    ),
    (
      .toldByAzimuths,
      [
        // The walk has become long.
        (flat, .open), (withAzimuths, .toldByAzimuths), (throughSpace, .resolved),
        (passed, .verified), (failed, .toldByAzimuths),
        (rivalled, .toldByAzimuths), (.replaced, .resolved), (.measured, .measured),
      ]
    ),
    (
      .open,
      [
        (flat, .open), (withAzimuths, .toldByAzimuths), (throughSpace, .resolved),
        (passed, .verified), (failed, .open), (rivalled, .contested), (.replaced, .resolved),
        (.measured, .measured),
      ]
    ),
    (
      .contested,
      [
        // Not even a walk through space decides.
        (flat, .contested), (withAzimuths, .toldByAzimuths), (throughSpace, .contested),
        (passed, .verified), (failed, .open), (rivalled, .contested), (.replaced, .resolved),
        (.measured, .measured),
      ]
    ),
    (
      .verified,
      [
        (flat, .verified), (withAzimuths, .verified), (throughSpace, .resolved),
        (passed, .verified), (failed, .open), (rivalled, .contested), (.replaced, .resolved),
        (.measured, .measured),
      ]
    ),
  ]

  @Test("every event leads where the table says", arguments: 0..<table.count)
  func transitions(row: Int) {
    let (claim, after) = Self.table[row]
    for (event, expected) in after {
      #expect(claim.after(event) == expected, "\(claim), \(event)")
    }
  }

  @Test("what each claim means")
  func properties() {
    let claims = Self.table.map(\.claim)
    #expect(claims.map(\.isFromFlatWalk) == [false, false, true, true, true, true])
    #expect(claims.map(\.isOpen) == [false, false, false, true, true, false])
    #expect(claims.map(\.isUndecided) == [false, false, true, true, true, false])
  }
}
