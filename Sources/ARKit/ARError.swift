// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The domain of ``ARError`` as an `NSError`.
public let ARErrorDomain = "com.apple.arkit.error"

/// The reason why an ``ARSession`` failed.
public struct ARError: Error, Hashable, Sendable, CustomNSError, LocalizedError {
  /// The kinds of errors, with Apple's raw values; only the first ever occurs here.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The device cannot run the configuration.
    case unsupportedConfiguration = 100
    /// A sensor is missing.
    case sensorUnavailable = 101
    /// A sensor failed.
    case sensorFailed = 102
    /// The user does not allow the camera.
    case cameraUnauthorized = 103
    /// The user does not allow the microphone.
    case microphoneUnauthorized = 104
    /// The user does not allow the place to be known.
    case locationUnauthorized = 105
    /// Tracking failed.
    case worldTrackingFailed = 200
    /// A known picture is of no use.
    case invalidReferenceImage = 300
    /// A known object is of no use.
    case invalidReferenceObject = 301
    /// A stored world is of no use.
    case invalidWorldMap = 302
    /// The configuration contradicts itself.
    case invalidConfiguration = 303
    /// The camera sees too little.
    case insufficientFeatures = 400
  }

  /// The kind of error.
  public let code: Code

  /// Makes an error.
  ///
  /// - Parameter code: Its kind.
  public init(_ code: Code) { self.code = code }

  /// The device cannot run the configuration.
  public static var unsupportedConfiguration: Code { .unsupportedConfiguration }
  /// A sensor is missing.
  public static var sensorUnavailable: Code { .sensorUnavailable }
  /// A sensor failed.
  public static var sensorFailed: Code { .sensorFailed }
  /// The user does not allow the camera.
  public static var cameraUnauthorized: Code { .cameraUnauthorized }
  /// Tracking failed.
  public static var worldTrackingFailed: Code { .worldTrackingFailed }
  /// The configuration contradicts itself.
  public static var invalidConfiguration: Code { .invalidConfiguration }

  /// ``ARErrorDomain``.
  public static var errorDomain: String { ARErrorDomain }
  /// The raw value of ``code``.
  public var errorCode: Int { code.rawValue }
  /// The description, under Foundation's key.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: "\(description)"] }
  /// The description of the error.
  public var errorDescription: String? { description }

  private var description: String {
    code == .unsupportedConfiguration
      ? "this device has no odometry" : "the AR session failed (\(code))"
  }
}

extension ARError.Code {
  /// Whether an error is an ``ARError`` of this kind.
  public static func ~= (code: ARError.Code, error: any Error) -> Bool {
    (error as? ARError)?.code == code
  }
}
