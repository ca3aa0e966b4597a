// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A callback of the delegate.
enum SessionCallback: Sendable {
  case didStartRunning
  case didUpdate(NINearbyObject)
  case didRemove(NINearbyObject, NINearbyObject.RemovalReason)
  case didUpdateConvergence(NIAlgorithmConvergence, NINearbyObject?)
  case wasSuspended
  case suspensionEnded
  case didGenerateShareableConfigurationData(Data, NINearbyObject)
  case didUpdateDLTDOA([NIDLTDOAMeasurement])
  case didInvalidate(NIError)

  /// Calls the delegate.
  func call(_ delegate: any NISessionDelegate, _ session: NISession) {
    switch self {
    case .didStartRunning: delegate.sessionDidStartRunning(session)
    case .didUpdate(let object): delegate.session(session, didUpdate: [object])
    case .didRemove(let object, let reason):
      delegate.session(session, didRemove: [object], reason: reason)
    case .didUpdateConvergence(let convergence, let object):
      delegate.session(session, didUpdateAlgorithmConvergence: convergence, for: object)
    case .wasSuspended: delegate.sessionWasSuspended(session)
    case .suspensionEnded: delegate.sessionSuspensionEnded(session)
    case .didGenerateShareableConfigurationData(let data, let object):
      delegate.session(session, didGenerateShareableConfigurationData: data, for: object)
    case .didUpdateDLTDOA(let measurements):
      delegate.session(session, didUpdateDLTDOA: measurements)
    case .didInvalidate(let error): delegate.session(session, didInvalidateWith: error)
    }
  }
}
