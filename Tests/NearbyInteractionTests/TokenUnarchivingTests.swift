// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import Testing

@testable import NearbyInteraction

/// Untrusted data instead of a token.
struct TokenUnarchivingTests {
  private static let token = NIDiscoveryToken(
    SessionToken(high: 0x0123_4567_89AB_CDEF, low: 42, capabilities: .phoneWithAntennaArray))

  private static func archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
  }

  private func read(_ data: Data) throws -> NIDiscoveryToken? {
    try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: data)
  }

  /// Archives of something else, by name.
  private static var others: [String: Any] {
    [
      "text": "hello" as NSString, "number": 7 as NSNumber, "date": NSDate(), "data": NSData(),
      "tokens": [token] as NSArray, "configuration": NINearbyPeerConfiguration(peerToken: token),
      "address": NSURL(string: "https://example.org") as Any,
    ]
  }

  @Test(arguments: others.keys.sorted())
  func anArchiveOfSomethingElseThrows(_ name: String) throws {
    let data = try Self.archive(try #require(Self.others[name]))
    let error = #expect(throws: CocoaError.self) { try read(data) }
    #expect(error?.code == .coderReadCorrupt)
  }

  @Test(arguments: [
    Data(), Data([1, 2, 3]), Data("bplist00".utf8), Data("{\"token\": 1}".utf8),
    Data("bplist00".utf8) + Data(count: 32),
    Data("bplist00".utf8) + Data(repeating: 255, count: 32),
  ])
  func dataThatIsNoArchiveThrows(_ data: Data) {
    #expect(throws: CocoaError.self) { try read(data) }
  }

  @Test func aShortenedArchiveThrows() throws {
    let data = try Self.archive(Self.token)
    #expect(try read(data) == Self.token)
    for count in 0..<data.count {
      #expect(throws: CocoaError.self) { try read(data.prefix(count)) }
    }
  }

  /// No single wrong bit ends the program; the result is a token or an error.
  @Test func aDamagedArchiveIsReadOrThrows() throws {
    let data = try Self.archive(Self.token)
    var (same, different, refused) = (0, 0, 0)
    for bit in 0..<data.count * 8 {
      var damaged = data
      damaged[bit / 8] ^= 1 << (bit % 8)
      do {
        if try read(damaged) == Self.token { same += 1 } else { different += 1 }
      } catch {
        refused += 1
      }
    }
    // Changes of the 16 random bytes of a token are not detectable in an archive.
    #expect(different == 128)
    #expect(refused > same)
  }

  @Test func aSliceOfALongerMessageIsRead() throws {
    let message = Data([7, 7, 7]) + (try Self.archive(Self.token))
    #expect(try read(message.dropFirst(3)) == Self.token)
    #expect(try read(message.advanced(by: 3))?.deviceCapabilities.supportsCameraAssistance == true)
  }
}
