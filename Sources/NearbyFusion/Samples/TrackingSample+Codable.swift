// SPDX-License-Identifier: Apache-2.0

extension TrackingSample.Quality: Codable {
  private enum CodingKeys: CodingKey { case status, reason }
  private enum Status: String, Codable { case normal, limited, notAvailable }

  /// Reads a status and, of a limited odometry, the reason.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(Status.self, forKey: .status) {
    case .normal: self = .normal
    case .notAvailable: self = .notAvailable
    case .limited:
      self = .limited(try container.decode(TrackingSample.LimitationReason.self, forKey: .reason))
    }
  }

  /// Writes `{"status": "limited", "reason": "relocalizing"}`, and the status alone where there is no
  /// reason.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .normal: try container.encode(Status.normal, forKey: .status)
    case .notAvailable: try container.encode(Status.notAvailable, forKey: .status)
    case .limited(let reason):
      try container.encode(Status.limited, forKey: .status)
      try container.encode(reason, forKey: .reason)
    }
  }
}
