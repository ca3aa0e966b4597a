// SPDX-License-Identifier: Apache-2.0

extension SurveyFault: Codable {
  private enum CodingKeys: CodingKey { case fault, anchors, factor }
  private enum Kind: String, Codable {
    case displaced, exchanged, upsideDown, mirrored, scaled, reversed
  }

  /// Reads a fault by its name, with the numbers of its `anchors` or its `factor`.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws, and for a wrong number of anchors.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func anchors(_ count: Int) throws -> [Int] {
      let anchors = try container.decode([Int].self, forKey: .anchors)
      guard anchors.count == count, anchors.allSatisfy({ $0 >= 0 }) else {
        throw DecodingError.dataCorruptedError(
          forKey: .anchors, in: container, debugDescription: "must be \(count) from zero on")
      }
      return anchors
    }
    switch try container.decode(Kind.self, forKey: .fault) {
    case .displaced: self = .displaced(try anchors(1)[0])
    case .exchanged:
      let both = try anchors(2)
      self = .exchanged(both[0], both[1])
    case .upsideDown: self = .upsideDown
    case .mirrored: self = .mirrored
    case .scaled: self = .scaled(by: try container.decode(Double.self, forKey: .factor))
    case .reversed: self = .reversed
    }
  }

  /// Writes a fault such as `{"fault": "exchanged", "anchors": [0, 3]}` or
  /// `{"fault": "scaled", "factor": 1.1}`.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .fault)
    switch self {
    case .displaced(let anchor): try container.encode([anchor], forKey: .anchors)
    case .exchanged(let a, let b): try container.encode([a, b], forKey: .anchors)
    case .scaled(let factor): try container.encode(factor, forKey: .factor)
    case .upsideDown, .mirrored, .reversed: break
    }
  }

  private var kind: Kind {
    switch self {
    case .displaced: .displaced
    case .exchanged: .exchanged
    case .upsideDown: .upsideDown
    case .mirrored: .mirrored
    case .scaled: .scaled
    case .reversed: .reversed
    }
  }
}

extension SurveyVerdict: Codable {
  private enum CodingKeys: CodingKey { case verdict, faults }
  private enum Kind: String, Codable { case untested, plausible, confirmed, contradicted }

  /// Reads a verdict by its name, with its faults.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func faults() throws -> [SurveyFault] {
      try container.decode([SurveyFault].self, forKey: .faults)
    }
    switch try container.decode(Kind.self, forKey: .verdict) {
    case .untested: self = .untested
    case .plausible: self = .plausible(try faults())
    case .confirmed: self = .confirmed(try faults())
    case .contradicted: self = .contradicted(try faults())
    }
  }

  /// Writes a verdict such as `{"verdict": "confirmed", "faults": []}`.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .untested: return try container.encode(Kind.untested, forKey: .verdict)
    case .plausible: try container.encode(Kind.plausible, forKey: .verdict)
    case .confirmed: try container.encode(Kind.confirmed, forKey: .verdict)
    case .contradicted: try container.encode(Kind.contradicted, forKey: .verdict)
    }
    try container.encode(faults, forKey: .faults)
  }
}
