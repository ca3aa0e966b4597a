// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The domain of ``ARError`` as an `NSError`.
public let ARErrorDomain = "com.apple.arkit.error"

/// The reason why an ``ARSession`` failed.
public struct ARError: Error, Hashable, Sendable, CustomNSError, LocalizedError {
  /// The kinds of errors, with Apple's raw values.
  ///
  /// Here `unsupportedConfiguration` and `insufficientFeatures` occur.
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
    /// Another large image is being taken.
    case highResolutionFrameCaptureInProgress = 106
    /// A large image cannot be taken.
    case highResolutionFrameCaptureFailed = 107
    /// Tracking failed.
    case worldTrackingFailed = 200
    /// There are no data of this place on Earth.
    case geoTrackingNotAvailableAtLocation = 201
    /// Tracking on Earth failed.
    case geoTrackingFailed = 202
    /// A known picture is of no use.
    case invalidReferenceImage = 300
    /// A known object is of no use.
    case invalidReferenceObject = 301
    /// A stored world is of no use.
    case invalidWorldMap = 302
    /// The configuration contradicts itself.
    case invalidConfiguration = 303
    /// Data of another device are of no use.
    case invalidCollaborationData = 304
    /// The camera sees too little.
    case insufficientFeatures = 400
    /// Two scans of an object do not fit.
    case objectMergeFailed = 401
    /// A file cannot be read or written.
    case fileIOFailed = 500
    /// A request failed.
    case requestFailed = 501
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
  /// The user does not allow the microphone.
  public static var microphoneUnauthorized: Code { .microphoneUnauthorized }
  /// The user does not allow the place to be known.
  public static var locationUnauthorized: Code { .locationUnauthorized }
  /// Another large image is being taken.
  public static var highResolutionFrameCaptureInProgress: Code {
    .highResolutionFrameCaptureInProgress
  }
  /// A large image cannot be taken.
  public static var highResolutionFrameCaptureFailed: Code { .highResolutionFrameCaptureFailed }
  /// Tracking failed.
  public static var worldTrackingFailed: Code { .worldTrackingFailed }
  /// There are no data of this place on Earth.
  public static var geoTrackingNotAvailableAtLocation: Code { .geoTrackingNotAvailableAtLocation }
  /// Tracking on Earth failed.
  public static var geoTrackingFailed: Code { .geoTrackingFailed }
  /// A known picture is of no use.
  public static var invalidReferenceImage: Code { .invalidReferenceImage }
  /// A known object is of no use.
  public static var invalidReferenceObject: Code { .invalidReferenceObject }
  /// A stored world is of no use.
  public static var invalidWorldMap: Code { .invalidWorldMap }
  /// The configuration contradicts itself.
  public static var invalidConfiguration: Code { .invalidConfiguration }
  /// Data of another device are of no use.
  public static var invalidCollaborationData: Code { .invalidCollaborationData }
  /// The camera sees too little.
  public static var insufficientFeatures: Code { .insufficientFeatures }
  /// Two scans of an object do not fit.
  public static var objectMergeFailed: Code { .objectMergeFailed }
  /// A file cannot be read or written.
  public static var fileIOFailed: Code { .fileIOFailed }
  /// A request failed.
  public static var requestFailed: Code { .requestFailed }

  /// ``ARErrorDomain``.
  public static var errorDomain: String { ARErrorDomain }
  /// The raw value of ``code``.
  public var errorCode: Int { code.rawValue }
  /// The description, under Foundation's key.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: "\(description)"] }
  /// The description of the error.
  public var errorDescription: String? { description }

  private var description: String {
    switch code {
    case .unsupportedConfiguration: "this device has no odometry"
    case .insufficientFeatures: "no world is stored here, since there is no image"
    default: "the AR session failed (\(code))"
    }
  }
}

extension ARError.Code {
  /// Whether an error is an ``ARError`` of this kind.
  public static func ~= (code: ARError.Code, error: any Error) -> Bool {
    (error as? ARError)?.code == code
  }
}
