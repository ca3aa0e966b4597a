// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Tokens and configurations") struct TokenTests {
    private func archive(_ object: Any) throws -> Data {
      try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    private func token(of data: Data) throws -> NIDiscoveryToken? {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: data)
    }

    @Test("each session has a token of its own")
    func unique() {
      let pair = Pair()
      #expect(pair.session.discoveryToken != nil)
      #expect(pair.session.discoveryToken != pair.friend.discoveryToken)
      #expect(pair.session.discoveryToken != NISession(on: pair.phone).discoveryToken)
    }

    @Test("the token ends with the session")
    func endsWithInvalidation() {
      let pair = Pair()
      pair.session.invalidate()
      #expect(pair.session.discoveryToken == nil)
    }

    @Test("an archived token is the same key of a dictionary")
    func archived() throws {
      let token = try #require(Pair().session.discoveryToken)
      let names = [token: "me"]
      let copy = try #require(try self.token(of: archive(token)))
      #expect(copy !== token && names[copy] == "me")
    }

    @Test("a token in JSON is the same token")
    func coded() throws {
      struct Message: Codable { var token: NIDiscoveryToken }
      let token = try #require(Pair().session.discoveryToken)
      let data = try JSONEncoder().encode(Message(token: token))
      #expect(try JSONDecoder().decode(Message.self, from: data).token == token)
    }

    @Test(
      "what is no token throws, and the app goes on",
      arguments: [Data(), Data("hello".utf8), Data("bplist00".utf8), Data(count: 300)])
    func hostileArchive(_ data: Data) {
      #expect(throws: (any Error).self) { try token(of: data) }
    }

    @Test("an archive of another class throws")
    func otherClass() throws {
      let data = try archive("token" as NSString)
      #expect(throws: (any Error).self) { try token(of: data) }
    }

    @Test("a shortened token throws")
    func shortened() throws {
      let data = try archive(try #require(Pair().session.discoveryToken))
      for count in stride(from: 0, to: data.count, by: 7) {
        #expect(throws: (any Error).self) { try token(of: data.prefix(count)) }
      }
    }

    @Test(
      "JSON without a token throws",
      arguments: [#""""#, #""zz""#, "7", "null", #"{"token":1}"#, #""01020304""#])
    func hostileJSON(_ text: String) {
      #expect(throws: (any Error).self) {
        try JSONDecoder().decode(NIDiscoveryToken.self, from: Data(text.utf8))
      }
    }

    @Test("a copy of a token is equal to it")
    func copied() throws {
      let token = try #require(Pair().session.discoveryToken)
      #expect(token.copy() as? NIDiscoveryToken == token)
    }

    @Test("a configuration survives its archive")
    func configurationArchive() throws {
      let pair = Pair()
      let configuration = try pair.configuration(usesCamera: true)
      configuration.isExtendedDistanceMeasurementEnabled = true
      let copy = try #require(
        try NSKeyedUnarchiver.unarchivedObject(
          ofClass: NINearbyPeerConfiguration.self, from: archive(configuration)))
      #expect(copy.isCameraAssistanceEnabled && copy.isExtendedDistanceMeasurementEnabled)
      #expect(copy.peerDiscoveryToken == pair.friend.discoveryToken)
    }

    @Test("a configuration's extras are off at first")
    func defaults() throws {
      let configuration = try Pair().configuration()
      #expect(!configuration.isCameraAssistanceEnabled)
      #expect(!configuration.isExtendedDistanceMeasurementEnabled)
    }

    @Test("a session has no configuration before it runs")
    func noConfiguration() throws {
      let pair = Pair()
      #expect(pair.session.configuration == nil)
      try pair.run()
      let configuration = pair.session.configuration as? NINearbyPeerConfiguration
      #expect(configuration?.peerDiscoveryToken == pair.friend.discoveryToken)
    }

    @Test("a later change of the app's configuration does not reach the session")
    func copiedByRun() throws {
      let pair = Pair()
      let configuration = try pair.configuration()
      pair.session.run(configuration)
      configuration.isCameraAssistanceEnabled = true
      #expect(pair.session.configuration?.isCameraAssistanceEnabled == false)
    }

    @Test("a change of the configuration that a session returns does not reach it, either")
    func copiedByGetter() throws {
      let pair = Pair()
      try pair.run()
      pair.session.configuration?.isCameraAssistanceEnabled = true
      #expect(pair.session.configuration?.isCameraAssistanceEnabled == false)
    }

    @Test(
      "bytes that are no accessory's throw",
      arguments: [Data(), Data([1]), Data(count: 64), Data(repeating: 255, count: 64)])
    func accessoryBytes(_ data: Data) {
      let error = #expect(throws: NIError.self) { try NINearbyAccessoryConfiguration(data: data) }
      #expect(error?.code == .invalidConfiguration)
    }

    @Test("the same bytes of an accessory give the same token")
    func accessoryToken() throws {
      let accessory = SimulatedAccessory(on: SimulatedWorld().makeDevice())
      let (a, b) = (
        try NINearbyAccessoryConfiguration(data: accessory.configurationData),
        try NINearbyAccessoryConfiguration(data: accessory.configurationData)
      )
      #expect(a.accessoryDiscoveryToken == b.accessoryDiscoveryToken)
    }
  }
}
