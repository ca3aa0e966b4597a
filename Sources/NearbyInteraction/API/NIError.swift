// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The domain of ``NIError`` as an `NSError`.
public let NIErrorDomain = "NIErrorDomain"

/// The reason why a session was invalidated.
///
/// Matches as Foundation's bridged errors do:
///
/// ```swift
/// if case NIError.userDidNotAllow = error { … }
/// if (error as? NIError)?.code == .userDidNotAllow { … }
/// ```
public struct NIError: Error, Hashable, Sendable, CustomNSError, LocalizedError {
  /// The kinds of errors, with Apple's raw values.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The device does not support the request.
    case unsupportedPlatform = -5889
    /// The configuration's token or accessory data is not valid.
    case invalidConfiguration = -5888
    /// The session failed and cannot be started again.
    case sessionFailed = -5887
    /// The session exceeded the largest running time.
    case resourceUsageTimeout = -5886
    /// The largest number of sessions is running already.
    case activeSessionsLimitExceeded = -5885
    /// The user does not allow measurements.
    case userDidNotAllow = -5884
    /// The AR session's configuration cannot be used, or the device has no camera assistance.
    case invalidARConfiguration = -5883
    /// The accessory is not connected.
    case accessoryPeerDeviceUnavailable = -5882
    /// The peer's device does not support the configuration.
    case incompatiblePeerDevice = -5881
    /// The largest number of sessions with extended distances is running already.
    case activeExtendedDistanceSessionsLimitExceeded = -5880
  }

  /// The kind of error.
  public let code: Code
  /// The error for Foundation, with its description.
  private let bridged: NSError

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: Its kind.
  ///   - userInfo: Information about the error. A description is added unless it contains one.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    bridged = NSError(
      domain: NIErrorDomain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: code.text, NSLocalizedRecoverySuggestionErrorKey: code.remedy,
      ].merging(userInfo) { $1 })
  }

  /// Makes an error with details.
  init(_ code: Code, detail: String?) {
    self.init(
      code, userInfo: detail.map { [NSLocalizedDescriptionKey: "\(code.text): \($0)"] } ?? [:])
  }

  /// Whether two errors are of the same kind.
  public static func == (a: NIError, b: NIError) -> Bool { a.code == b.code }

  /// Feeds the kind to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// The device does not support the request.
  public static var unsupportedPlatform: Code { .unsupportedPlatform }
  /// The configuration's token or accessory data is not valid.
  public static var invalidConfiguration: Code { .invalidConfiguration }
  /// The session failed and cannot be started again.
  public static var sessionFailed: Code { .sessionFailed }
  /// The session exceeded the largest running time.
  public static var resourceUsageTimeout: Code { .resourceUsageTimeout }
  /// The largest number of sessions is running already.
  public static var activeSessionsLimitExceeded: Code { .activeSessionsLimitExceeded }
  /// The user does not allow measurements.
  public static var userDidNotAllow: Code { .userDidNotAllow }
  /// The AR session's configuration cannot be used, or the device has no camera assistance.
  public static var invalidARConfiguration: Code { .invalidARConfiguration }
  /// The accessory is not connected.
  public static var accessoryPeerDeviceUnavailable: Code { .accessoryPeerDeviceUnavailable }
  /// The peer's device does not support the configuration.
  public static var incompatiblePeerDevice: Code { .incompatiblePeerDevice }
  /// The largest number of sessions with extended distances is running already.
  public static var activeExtendedDistanceSessionsLimitExceeded: Code {
    .activeExtendedDistanceSessionsLimitExceeded
  }

  // MARK: As an NSError

  /// ``NIErrorDomain``.
  public static var errorDomain: String { NIErrorDomain }
  /// The raw value of ``code``.
  public var errorCode: Int { code.rawValue }
  /// Information about the error, under Foundation's keys.
  public var userInfo: [String: Any] { bridged.userInfo }
  /// The same as ``userInfo``.
  public var errorUserInfo: [String: Any] { bridged.userInfo }
  /// The description of the error.
  public var errorDescription: String? { bridged.localizedDescription }
  /// Advice to the app or the user.
  public var recoverySuggestion: String? { bridged.localizedRecoverySuggestion }
}

extension NIError: CustomStringConvertible {
  /// The kind and what happened, in a line.
  public var description: String { "NIError.\(code): \(bridged.localizedDescription)" }
}

extension NIError.Code {
  /// Whether an error is of this kind: an ``NIError``, or an `NSError` of its domain and code.
  public static func ~= (code: NIError.Code, error: any Error) -> Bool {
    if let error = error as? NIError { return error.code == code }
    let bridged = error as NSError
    return bridged.domain == NIErrorDomain && bridged.code == code.rawValue
  }

  fileprivate var text: String {
    switch self {
    case .unsupportedPlatform: "this device cannot measure what the session asks for"
    case .invalidConfiguration: "the session's configuration is not valid"
    case .sessionFailed: "the session failed"
    case .resourceUsageTimeout: "the session ran for longer than a session may"
    case .activeSessionsLimitExceeded: "too many sessions run on this device"
    case .userDidNotAllow: "the user does not allow measurements of nearby devices"
    case .invalidARConfiguration: "the AR session cannot serve a nearby-interaction session"
    case .accessoryPeerDeviceUnavailable: "the accessory is not connected"
    case .incompatiblePeerDevice: "the peer's device cannot measure what the session asks for"
    case .activeExtendedDistanceSessionsLimitExceeded:
      "too many sessions of extended distance run on this device"
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .unsupportedPlatform, .incompatiblePeerDevice: "ask the device's capabilities first"
    case .invalidConfiguration: "exchange tokens anew"
    case .sessionFailed, .resourceUsageTimeout: "make a new session and exchange tokens again"
    case .activeSessionsLimitExceeded, .activeExtendedDistanceSessionsLimitExceeded:
      "invalidate a session that is not needed"
    case .userDidNotAllow: "ask the user to allow it in the settings"
    case .invalidARConfiguration:
      "run world tracking aligned with gravity, and nothing that moves its world"
    case .accessoryPeerDeviceUnavailable: "connect the accessory"
    }
  }
}
