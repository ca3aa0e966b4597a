// SPDX-License-Identifier: Apache-2.0

extension ConvergenceReasons: Codable {
  /// Reads a list of names, such as `["insufficientMovement"]`.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws, and for a name that is none of a reason.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let names = try container.decode([String].self)
    self = []
    for name in names {
      guard let reason = Self.all.first(where: { $0.names == [name] }) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "no reason is called \"\(name)\"")
      }
      insert(reason)
    }
  }

  /// Writes the list of ``names``.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(names)
  }
}

extension Convergence: Codable {
  private enum CodingKeys: CodingKey { case status, reasons }
  private enum Status: String, Codable { case unknown, notConverged, converged }

  /// Reads a status and, of one that has not converged, the reasons.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(Status.self, forKey: .status) {
    case .unknown: self = .unknown
    case .converged: self = .converged
    case .notConverged:
      self = .notConverged(try container.decode(ConvergenceReasons.self, forKey: .reasons))
    }
  }

  /// Writes `{"status": "notConverged", "reasons": ["insufficientMovement"]}`, and the status alone
  /// where there are no reasons.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .unknown: try container.encode(Status.unknown, forKey: .status)
    case .converged: try container.encode(Status.converged, forKey: .status)
    case .notConverged(let reasons):
      try container.encode(Status.notConverged, forKey: .status)
      try container.encode(reasons, forKey: .reasons)
    }
  }
}

extension ConvergenceProgress: Codable {
  private enum CodingKeys: CodingKey {
    case requiredSigma, totalSigma, lineOfSightSigma, horizontalSigma, verticalSigma
    case dominantModeProbability, parallaxRadians
  }

  /// Reads the numbers by their names; a standard deviation that is not there is infinite.
  ///
  /// - Parameter decoder: Where they are read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      requiredSigma: try container.decode(Double.self, forKey: .requiredSigma),
      totalSigma: try container.decodeSigma(forKey: .totalSigma),
      lineOfSightSigma: try container.decodeSigma(forKey: .lineOfSightSigma),
      horizontalSigma: try container.decodeSigma(forKey: .horizontalSigma),
      verticalSigma: try container.decodeSigma(forKey: .verticalSigma),
      dominantModeProbability: try container.decode(Double.self, forKey: .dominantModeProbability),
      parallaxRadians: try container.decode(Double.self, forKey: .parallaxRadians))
  }

  /// Writes the numbers by their names; infinite standard deviations are left out, as JSON has none.
  ///
  /// - Parameter encoder: Where they are written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(requiredSigma, forKey: .requiredSigma)
    try container.encode(sigma: totalSigma, forKey: .totalSigma)
    try container.encode(sigma: lineOfSightSigma, forKey: .lineOfSightSigma)
    try container.encode(sigma: horizontalSigma, forKey: .horizontalSigma)
    try container.encode(sigma: verticalSigma, forKey: .verticalSigma)
    try container.encode(dominantModeProbability, forKey: .dominantModeProbability)
    try container.encode(parallaxRadians, forKey: .parallaxRadians)
  }
}

extension Estimated: Codable where Value: Codable {
  private enum CodingKeys: CodingKey { case value, sigma, unavailability }

  /// Reads `value`, `sigma` and `unavailability`; each may be missing, and then the standard deviation is
  /// infinite.
  ///
  /// - Parameter decoder: Where they are read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      value: try container.decodeIfPresent(Value.self, forKey: .value),
      sigma: try container.decodeSigma(forKey: .sigma),
      unavailability: try container.decodeIfPresent(
        Unavailability.self, forKey: .unavailability))
  }

  /// Writes what there is; an infinite standard deviation is left out, as JSON has none.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(value, forKey: .value)
    try container.encode(sigma: sigma, forKey: .sigma)
    try container.encodeIfPresent(unavailability, forKey: .unavailability)
  }
}

extension KeyedEncodingContainer {
  /// Writes a standard deviation unless it is infinite or not a number.
  fileprivate mutating func encode(sigma: Double, forKey key: Key) throws {
    if sigma.isFinite { try encode(sigma, forKey: key) }
  }
}

extension KeyedDecodingContainer {
  /// Reads a standard deviation; infinite when it is not there.
  fileprivate func decodeSigma(forKey key: Key) throws -> Double {
    try decodeIfPresent(Double.self, forKey: key) ?? .infinity
  }
}
