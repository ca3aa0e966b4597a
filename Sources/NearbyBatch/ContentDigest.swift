// SPDX-License-Identifier: Apache-2.0
internal import CMessageDigest
public import NearbyRecordings

/// A SHA-256 digest, by which unchanged inputs and results are recognised.
public struct ContentDigest: Hashable, Sendable, Codable, CustomStringConvertible {
  /// 64 hexadecimal digits, lower case.
  public let description: String

  /// Makes a digest of bytes.
  ///
  /// - Parameter bytes: The bytes.
  public init(_ bytes: some Sequence<UInt8>) {
    var sum = Sum()
    sum.add(Array(bytes)[...])
    description = sum.hexadecimal()
  }

  /// Makes a digest of a file, which is read in pieces of a megabyte.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: When the file is missing or cannot be read.
  public init(ofFile path: String) throws(RecordingError) {
    var sum = Sum()
    try FileBytes.forEachPiece(path: path) { sum.add($0) }
    description = sum.hexadecimal()
  }

  /// Decodes the digits.
  public init(from decoder: any Decoder) throws {
    description = try decoder.singleValueContainer().decode(String.self)
  }

  /// Encodes the digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// A digest that is being computed.
  private struct Sum {
    private var context = SHA2_CTX()

    init() { unsafe SHA256Init(&context) }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      unsafe bytes.withUnsafeBytes { unsafe SHA256Update(&context, $0.baseAddress, $0.count) }
    }

    mutating func hexadecimal() -> String {
      var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
      unsafe SHA256Final(&digest, &context)
      let digits = Array("0123456789abcdef")
      return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
  }
}
