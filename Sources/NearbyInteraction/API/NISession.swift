// SPDX-License-Identifier: Apache-2.0
@_exported public import ARKit
@_exported public import Foundation
public import NearbyEnvironment

/// A session with one peer, which measures while both sides run with each other's token.
///
/// May be used from any thread. The delegate is called on ``delegateQueue`` and never from within a
/// call of the app. After ``invalidate()`` has returned it is not called any more, except for a
/// callback that had begun and for the error of a later ``run(_:)``.
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
  /// - Parameter device: The device whose radio measures.
  public init(on device: any NearbyDevice) {
    core = SessionCore(on: device)
    super.init()
    core.begin(for: self)
  }

  /// Whether this device measures distances; ``deviceCapabilities`` has the details.
  open class var isSupported: Bool { deviceCapabilities.supportsPreciseDistanceMeasurement }

  /// The capabilities of the current environment's default device.
  open class var deviceCapabilities: any NIDeviceCapability {
    DeviceCapabilityReport(NearbyEnvironments.current.defaultCapabilities)
  }

  /// The receiver of the session's callbacks, held weakly.
  open var delegate: (any NISessionDelegate)? {
    get { core.currentDelegate }
    set { core.currentDelegate = newValue }
  }

  /// The queue on which the delegate is called; `nil` for the main queue.
  open var delegateQueue: DispatchQueue? {
    get { core.delegateQueue }
    set { core.delegateQueue = newValue }
  }

  /// The session's token, which the app sends to the peer; `nil` once the session is invalidated.
  open var discoveryToken: NIDiscoveryToken? { core.discoveryToken }

  /// A copy of the configuration of the last run.
  open var configuration: NIConfiguration? { core.currentConfiguration }

  /// Starts or resumes, with one of three outcomes.
  ///
  /// The session runs and the delegate gets `sessionDidStartRunning`; or the device is not ready
  /// and the delegate gets `sessionWasSuspended`; or the delegate gets `didInvalidateWith`. Running
  /// an invalidated session is an error: the delegate gets `didInvalidateWith` again, with the
  /// error that ended the session, or with ``NIError/sessionFailed`` if the app ended it.
  ///
  /// - Parameter configuration: The configuration, which is copied.
  open func run(_ configuration: NIConfiguration) { core.run(configuration) }

  /// Stops measuring.
  ///
  /// ``run(_:)`` resumes with the same token and the previous state of the peer.
  open func pause() { core.pause() }

  /// Ends the session, and notifies the peer if possible.
  open func invalidate() { core.invalidate() }

  /// Shares the app's own AR session, from the next ``run(_:)`` on.
  ///
  /// The session then measures on that AR session's device. The AR session must run world tracking,
  /// aligned with gravity, without collaboration, face tracking, an initial map or relocalization:
  /// otherwise this session is invalidated with ``NIError/invalidARConfiguration``.
  ///
  /// - Parameter session: The AR session, which the app runs.
  open func setARSession(_ session: ARSession) { core.setARSession(session) }

  /// The current position of a peer in the AR session's world.
  ///
  /// - Parameter object: An object of this session.
  /// - Returns: A transform with the peer's position in the last column and no rotation, since
  ///   radios do not measure the peer's attitude; `nil` unless converged.
  open func worldTransform(for object: NINearbyObject) -> simd_float4x4? {
    core.worldTransform(for: object)
  }

  /// Sets whether the peer moves.
  ///
  /// The engine's model of the peer changes with the peer's next measurement. A place that was found stays; a
  /// moving peer that was not found and now rests is searched anew. Later runs use the same model:
  /// ``NearbySessionOptions/peerMotion``.
  ///
  /// - Parameters:
  ///   - state: Whether it moves.
  ///   - token: The peer; tokens other than this session's are ignored.
  open func updateMotionState(
    _ state: NIMotionActivityState, forObjectWithToken token: NIDiscoveryToken
  ) { core.updateMotionState(state, of: token) }
}
