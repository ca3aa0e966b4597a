// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyFusion

/// Whether camera assistance has converged, or the reasons why not.
public enum NIAlgorithmConvergenceStatus: Hashable, Sendable {
  /// There are no measurements yet.
  case unknown
  /// It has not converged. The reasons are in the order in which the user should act on them.
  case notConverged([Reason])
  /// It has converged.
  case converged

  /// A reason that prevents convergence.
  public struct Reason: RawRepresentable, Hashable, Sendable {
    /// The reason's name.
    public let rawValue: String

    /// Makes a reason from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The device has hardly moved.
    public static let insufficientMovement = Reason(rawValue: "insufficientMovement")
    /// The device must be swept from side to side.
    public static let insufficientHorizontalSweep = Reason(rawValue: "insufficientHorizontalSweep")
    /// The device must be swept up and down.
    public static let insufficientVerticalSweep = Reason(rawValue: "insufficientVerticalSweep")
    /// It is too dark for the camera.
    public static let insufficientLighting = Reason(rawValue: "insufficientLighting")
    /// The signal between the devices is too weak.
    public static let insufficientSignalStrength = Reason(rawValue: "insufficientSignalStrength")

    /// The camera's odometry is limited, or its poses are missing, for another reason than the light.
    ///
    /// Apple's interface has no such reason.
    public static let limitedTracking = Reason(rawValue: "limitedTracking")

    /// A text for the user.
    ///
    /// Apple's texts are not published, these are ours.
    public var localizedDescription: String? {
      switch self {
      case .insufficientMovement: "Move around."
      case .insufficientHorizontalSweep: "Sweep the device from side to side."
      case .insufficientVerticalSweep: "Sweep the device up and down."
      case .insufficientLighting: "Turn on the light."
      case .limitedTracking: "Point the camera at the room, and move slowly."
      case .insufficientSignalStrength: "Move closer, with nothing in between."
      default: nil
      }
    }
  }
}

extension NIAlgorithmConvergenceStatus {
  init(_ convergence: Convergence) {
    switch convergence {
    case .unknown: self = .unknown
    case .converged: self = .converged
    case .notConverged(let reasons):
      self = .notConverged(reasons.names.map(Reason.init(rawValue:)))
    }
  }
}

/// The convergence that is reported to the delegate.
public final class NIAlgorithmConvergence: NSObject, NSCopying, NSSecureCoding, Sendable {
  /// Whether it has converged, or the reasons why not.
  public let status: NIAlgorithmConvergenceStatus

  private enum Key {
    static let status = "status"
    static let reasons = "reasons"
  }

  init(_ status: NIAlgorithmConvergenceStatus) { self.status = status }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the status as Apple's raw value (0 unknown, 1 not converged, 2 converged) and the reasons.
  public func encode(with coder: NSCoder) {
    switch status {
    case .unknown: coder.encode(0, forKey: Key.status)
    case .converged: coder.encode(2, forKey: Key.status)
    case .notConverged(let reasons):
      coder.encode(1, forKey: Key.status)
      coder.encode(
        reasons.map(\.rawValue).joined(separator: ";") as NSString, forKey: Key.reasons)
    }
  }

  /// Decodes what ``encode(with:)`` wrote; `nil` for anything else.
  public required init?(coder: NSCoder) {
    switch coder.decodeInteger(forKey: Key.status) {
    case 0: status = .unknown
    case 2: status = .converged
    case 1:
      guard let names = coder.decodeObject(of: NSString.self, forKey: Key.reasons) else {
        return nil
      }
      status = .notConverged(
        "\(names)".split(separator: ";").map {
          NIAlgorithmConvergenceStatus.Reason(rawValue: String($0))
        })
    default: return nil
    }
  }

  /// The object itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether another object has the same status.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NIAlgorithmConvergence)?.status == status
  }

  /// The same for equal statuses.
  public override var hash: Int { status.hashValue }
}
