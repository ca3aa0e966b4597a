// SPDX-License-Identifier: Apache-2.0
@_exported public import ARKit
@_exported public import Foundation
public import NearbyEnvironment

/// A session with one peer: it measures while both sides run with each other's token.
///
/// May be used from any thread. The delegate is called on ``delegateQueue``, never from within a call
/// of the app's, and never once ``invalidate()`` has returned, but for a callback that had begun and
/// for the error of a later ``run(_:)``.
open class NISession: NSObject, @unchecked Sendable {
  // Unchecked: the only stored property is a constant that guards its own state.
  let core: SessionCore

  /// Makes a session on the current environment's default device.
  public override init() {
    core = SessionCore(on: NearbyEnvironments.current.defaultDevice())
    super.init()
    core.begin(for: self)
  }

  /// Makes a session on a device.
  ///
  /// - Parameter device: Whose radio measures.
  public init(on device: any NearbyDevice) {
    core = SessionCore(on: device)
    super.init()
    core.begin(for: self)
  }

  /// Whether this device measures at all; ``deviceCapabilities`` says more.
  open class var isSupported: Bool { deviceCapabilities.supportsPreciseDistanceMeasurement }

  /// What the current environment's default device can measure.
  open class var deviceCapabilities: any NIDeviceCapability {
    DeviceCapabilityReport(NearbyEnvironments.current.defaultCapabilities)
  }

  /// Who hears of the session; it is held weakly.
  open var delegate: (any NISessionDelegate)? {
    get { core.currentDelegate }
    set { core.currentDelegate = newValue }
  }

  /// Where the delegate is called; `nil` stands for the main queue.
  open var delegateQueue: DispatchQueue? {
    get { core.delegateQueue }
    set { core.delegateQueue = newValue }
  }

  /// The session's name, to be sent to the peer; `nil` once the session is invalidated.
  open var discoveryToken: NIDiscoveryToken? { core.discoveryToken }

  /// With what the session was run last; a copy.
  open var configuration: NIConfiguration? { core.currentConfiguration }

  /// Starts or resumes, with one of three outcomes.
  ///
  /// It runs and the delegate hears `sessionDidStartRunning`; or the device is not ready and it hears
  /// `sessionWasSuspended`; or it hears `didInvalidateWith`. To run an invalidated session is an error:
  /// it hears `didInvalidateWith` again, with the error that ended the session, or with
  /// ``NIError/sessionFailed`` if the app itself did.
  ///
  /// - Parameter configuration: With whom and how; it is copied.
  open func run(_ configuration: NIConfiguration) { core.run(configuration) }

  /// Stops measuring; ``run(_:)`` resumes with the same token and what was known of the peer.
  open func pause() { core.pause() }

  /// Ends the session for ever; the peer hears of it if it can.
  open func invalidate() { core.invalidate() }

  /// Shares the app's own AR session; takes effect with the next ``run(_:)``.
  ///
  /// The session then measures on that AR session's device. The AR session must run world tracking,
  /// aligned with gravity, without collaboration, face tracking, an initial map or relocalization:
  /// otherwise this session is invalidated with ``NIError/invalidARConfiguration``.
  ///
  /// - Parameter session: The AR session, which the app runs.
  open func setARSession(_ session: ARSession) { core.setARSession(session) }

  /// Where a peer is in the AR session's world at this moment.
  ///
  /// - Parameter object: An object of this session.
  /// - Returns: The peer's place in the last column and no rotation, since no radio measures the
  ///   peer's attitude; `nil` unless converged.
  open func worldTransform(for object: NINearbyObject) -> simd_float4x4? {
    core.worldTransform(for: object)
  }

  /// Says whether the peer moves.
  ///
  /// The engine's model of the peer follows: ``NearbySessionOptions/peerMotion``, which takes effect
  /// with the next ``run(_:)``.
  ///
  /// - Parameters:
  ///   - state: Whether it moves.
  ///   - token: Which peer; another than this session's means nothing.
  open func updateMotionState(
    _ state: NIMotionActivityState, forObjectWithToken token: NIDiscoveryToken
  ) { core.updateMotionState(state, of: token) }
}
