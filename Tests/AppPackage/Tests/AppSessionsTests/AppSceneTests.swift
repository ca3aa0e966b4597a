// SPDX-License-Identifier: Apache-2.0
import ARKit
import AppSessions
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  /// Apps of five styles in scripted scenes, by what their users see.
  @MainActor @Suite("Apps in scenes") struct AppSceneTests {
    /// Keeps the friend's app running to a test's end.
    private final class Stage { var apps: [AnyObject] = [] }
    private let stage = Stage()

    private func world(
      _ script: String = "", _ change: (inout SimulatedWorldSettings) -> Void = { _ in }
    ) throws -> SimulatedWorld {
      var settings = SimulatedWorldSettings()
      change(&settings)
      let world = SimulatedWorld(settings)
      NearbyEnvironments.current = world
      world.play(try WorldScript(script))
      return world
    }

    // MARK: A view controller

    private func screens() -> (FindViewController, FindViewController) {
      let (ada, bob) = (FindViewController(name: "Ada"), FindViewController(name: "Bob"))
      stage.apps = [ada, bob]
      ada.viewDidLoad()
      bob.viewDidLoad()
      ada.multipeer.connect(to: bob.multipeer)
      return (ada, bob)
    }

    @Test("view controller: tokens are exchanged, and distance and arrow appear")
    func screenFinds() async throws {
      let world = try world()
      let (ada, bob) = screens()
      #expect(ada.statusLabel.text == "Connected to Bob" && ada.arrowLabel.isHidden)
      await world.pass(seconds: 2)
      #expect(ada.statusLabel.text == "Bob" && bob.statusLabel.text == "Ada")
      let metres = try #require(ada.distanceLabel.text?.split(separator: " ").first)
      #expect(abs(try #require(Float(String(metres))) - 3) < 1)
      #expect(ada.arrowLabel.text == "↑" && !ada.arrowLabel.isHidden)
    }

    @Test("view controller: behind a wall the arrow goes and the distance stays")
    func screenWall() async throws {
      let world = try world("2 wall\n5 unwall")
      let (ada, _) = screens()
      await world.pass(seconds: 4)
      #expect(ada.arrowLabel.isHidden && ada.distanceLabel.text?.hasSuffix(" m") == true)
      await world.pass(seconds: 3)
      #expect(!ada.arrowLabel.isHidden)
    }

    @Test("view controller: a call suspends it, and it resumes afterwards")
    func screenCall() async throws {
      // Bob's phone has Ada's token first, and so runs first.
      let world = try world("3 peer call\n6 peer hangup")
      let (ada, _) = screens()
      await world.pass(seconds: 5)
      #expect(ada.statusLabel.text == "Session suspended")
      await world.pass(seconds: 3)
      #expect(ada.statusLabel.text == "Bob")
    }

    @Test("view controller: a friend who leaves the screen is told")
    func screenLeft() async throws {
      let world = try world()
      let (ada, bob) = screens()
      await world.pass(seconds: 2)
      bob.viewWillDisappear(true)
      await world.pass(seconds: 1)
      #expect(ada.statusLabel.text == "Bob left")
    }

    @Test("view controller: a refusal opens the alert")
    func screenDenied() async throws {
      let world = try world("1 permission deny")
      let (ada, _) = screens()
      await world.pass(seconds: 2)
      #expect(ada.alert == "Nearby Interaction access required")
      #expect(ada.statusLabel.text == "Open Settings")
    }

    @Test("view controller: other data from the network is not a token")
    func screenNonsense() async throws {
      let world = try world()
      let (ada, bob) = (FindViewController(name: "Ada"), MultipeerSession(name: "Bob"))
      ada.viewDidLoad()
      ada.multipeer.connect(to: bob)
      bob.send(Data("hello".utf8))
      await world.pass(seconds: 0.2)
      #expect(ada.statusLabel.text == "Bob sent something else" && ada.alert == nil)
    }

    @Test("view controller: a phone without a radio says so")
    func screenWithoutRadio() throws {
      _ = try world { $0.capabilities = [] }
      let (ada, _) = screens()
      #expect(ada.statusLabel.text == "This phone cannot find others")
      #expect(ada.distanceLabel.text == nil)
    }

    // MARK: An observable model

    private func models() throws -> (RangingModel, RangingModel) {
      let (ada, bob) = (RangingModel(), RangingModel())
      stage.apps = [ada, bob]
      let (fromAda, fromBob) = (try ada.invitation(), try bob.invitation())
      try ada.accept(fromBob)
      try bob.accept(fromAda)
      return (ada, bob)
    }

    @Test("observable model: near and far are told as a friend walks")
    func modelNear() async throws {
      let world = try world("2 peer carry 0 2\n10 peer carry 0 -3")
      let (ada, _) = try models()
      await world.pass(seconds: 2)
      #expect(ada.status == .ranging && !ada.isNear)
      await world.pass(seconds: 6)
      #expect(ada.isNear)
      await world.pass(seconds: 10)
      #expect(!ada.isNear)
      #expect(try #require(ada.distance) > 3)
    }

    @Test("observable model: an actor's journal has each update")
    func modelJournal() async throws {
      let world = try world("2 peer leave\n4 peer return")
      let (ada, _) = try models()
      let journal = DistanceJournal()
      let stream = ada.events.stream()
      let recording = Task { await journal.record(stream) }
      await world.pass(seconds: 6)
      ada.stop()
      await recording.value
      let (distances, gaps) = (await journal.distances.count, await journal.gaps)
      #expect(distances + gaps == 60 && (19...21).contains(gaps))
      #expect(ada.status == .idle)
    }

    @Test("observable model: a friend out of reach is tried again three times")
    func modelRetries() async throws {
      let world = try world("2 peer leave")
      let (ada, _) = try models()
      await world.pass(seconds: 14)
      #expect(ada.retries == 1 && ada.status == .ranging)
      await world.pass(seconds: 200)
      #expect(ada.retries == 3 && ada.status == .lost && ada.distance == nil)
    }

    @Test("observable model: the background pauses it, the foreground resumes it")
    func modelBackground() async throws {
      let world = try world("2 background\n5 foreground")
      let (ada, _) = try models()
      await world.pass(seconds: 4)
      #expect(ada.status == .paused)
      await world.pass(seconds: 3)
      #expect(ada.status == .ranging)
    }

    @Test("observable model: the error is in its status")
    func modelDenied() async throws {
      let world = try world("1 permission deny")
      let (ada, _) = try models()
      await world.pass(seconds: 2)
      #expect(ada.status == .failed("userDidNotAllow"))
    }

    @Test("observable model: data that hold no invitation throw")
    func modelNonsense() throws {
      _ = try world()
      let model = RangingModel()
      #expect(throws: (any Error).self) { try model.accept(Data("[]".utf8)) }
      #expect(model.status == .idle)
    }

    // MARK: An accessory's app

    /// Bluetooth between the app and a simulated accessory.
    private final class Bluetooth: BluetoothLink {
      let identifier = UUID()
      var onNotification: ((Data) -> Void)?
      let accessory: SimulatedAccessory
      var written: [UInt8] = []
      var answers = true

      init(_ accessory: SimulatedAccessory) { self.accessory = accessory }

      func write(_ message: Data) {
        written += message.prefix(1)
        guard answers, let answer = accessory.answer(message) else { return }
        onNotification?(answer)
      }
    }

    @Test("accessory: three messages, then distance, angle and place")
    func accessoryFinds() async throws {
      let world = try world()
      let link = Bluetooth(SimulatedAccessory(on: world.makeDevice()))
      let app = AccessoryController(link)
      app.connect()
      #expect(app.status == "Asking the accessory" && link.written == [0xA])
      await world.pass(seconds: 1)
      #expect(app.status == "Ranging" && link.written == [0xA, 0xB])
      #expect(abs(try #require(app.distance) - 3) < 1)
      await world.pass(seconds: 25)
      #expect(app.hint == nil && app.place != nil)
      #expect(abs(try #require(app.angle)) < 1)
      app.stop()
      #expect(app.status == "Stopped" && link.written == [0xA, 0xB, 0xC])
    }

    @Test("accessory: one that was stopped is asked once more")
    func accessoryStopped() async throws {
      let world = try world()
      let link = Bluetooth(SimulatedAccessory(on: world.makeDevice()))
      let app = AccessoryController(link)
      app.connect()
      await world.pass(seconds: 2)
      link.accessory.stop()
      await world.pass(seconds: 13)
      #expect(app.attempts == 2 && link.written == [0xA, 0xB, 0xA, 0xB])
      #expect(app.status == "Ranging" && app.distance != nil)
    }

    @Test("accessory: one that lost its connection must be paired first")
    func accessoryDisconnected() async throws {
      let world = try world()
      let device = world.makeDevice()
      let link = Bluetooth(SimulatedAccessory(on: device))
      let data = try #require(link.accessory.answer(Data([0xA])))
      let app = AccessoryController(link, runsInBackground: true)
      link.accessory.isConnected = false
      link.onNotification?(data)
      await world.pass(seconds: 0.5)
      #expect(app.status == "Pair the accessory first")
      link.accessory.isConnected = true
      app.connect()
      await world.pass(seconds: 1)
      #expect(app.status == "Ranging")
    }

    @Test("accessory: bytes of something else are no UWB accessory")
    func accessoryNonsense() throws {
      let world = try world()
      let link = Bluetooth(SimulatedAccessory(on: world.makeDevice()))
      let app = AccessoryController(link)
      link.onNotification?(Data([0x1, 9, 9, 9]))
      #expect(app.status == "Not a UWB accessory")
      link.onNotification?(Data([0x77]))
      #expect(app.status == "Unknown message")
    }

    @Test("accessory: in the background it measures on, the app comes back to it")
    func accessoryBackground() async throws {
      let world = try world("3 background\n13 foreground")
      let link = Bluetooth(SimulatedAccessory(on: world.makeDevice()))
      let app = AccessoryController(link, runsInBackground: true)
      app.connect()
      await world.pass(seconds: 4)
      let updates = app.updates
      await world.pass(seconds: 8)
      #expect(app.updates == updates && link.accessory.measurements.count > 100)
      await world.pass(seconds: 3)
      #expect(app.updates > updates && app.status == "Ranging")
    }

    // MARK: A guide

    @Test("guide: coaching texts, an arrow, and an anchor at the item's place")
    func guideFinds() async throws {
      let world = try world("2 walk 2.5 0\n5 walk 2.5 2\n8 sweep side 5\n13 sweep up 7") {
        $0.capabilities = .phoneWithoutAntennaArray
      }
      let guide = ItemGuide()
      let tag = NISession(
        on: world.makeDevice(
          motion: .resting(
            at: RigidTransform(standingAt: Vector3(1, 1, -3), facing: .zero))))
      stage.apps = [tag]
      guide.guide(to: try #require(tag.discoveryToken))
      tag.run(NINearbyPeerConfiguration(peerToken: try #require(guide.token)))
      await world.pass(seconds: 2)
      #expect(guide.banners.first == "Hold up your phone" && guide.anchors.isEmpty)
      await world.pass(seconds: 38)
      #expect(guide.banners.contains("Walk a few steps"))
      #expect(guide.banner == "Follow the arrow" && guide.arrowDegrees != nil)
      #expect(guide.anchors.map(\.name) == ["item"])
      let camera = try #require(guide.arSession.currentFrame).camera.transform.columns.3
      let place = try #require(guide.anchors.first).transform.columns.3
      #expect(simd_distance(camera, place) < 9 && guide.frames > 300)
    }

    @Test("guide: in the dark it says so")
    func guideDark() async throws {
      let world = try world("5 dark")
      let (guide, tag) = (ItemGuide(), NISession())
      stage.apps = [tag]
      guide.guide(to: try #require(tag.discoveryToken))
      tag.run(NINearbyPeerConfiguration(peerToken: try #require(guide.token)))
      await world.pass(seconds: 7)
      #expect(guide.banner == "It is too dark" && guide.level.isEmpty)
    }

    @Test("guide: another view's AR session interrupts its own, and the item is told to be gone")
    func guideTrouble() async throws {
      let world = try world("12 peer end") { $0.sharesDefaultDevice = true }
      let guide = ItemGuide()
      let tag = NISession(on: world.makeDevice())
      stage.apps = [tag]
      guide.guide(to: try #require(tag.discoveryToken))
      tag.run(NINearbyPeerConfiguration(peerToken: try #require(guide.token)))
      await world.pass(seconds: 5)
      let other = ARSession()
      other.run(ARWorldTrackingConfiguration())
      await world.pass(seconds: 1)
      #expect(guide.interruptions == 1)
      await world.pass(seconds: 7)
      #expect(guide.banner == "The item is gone")
    }

    // MARK: Many friends

    /// A manager, and friends who answer each of its tokens.
    private final class Circle {
      let world: SimulatedWorld
      let manager = PeerManager()
      private(set) var friends: [String: NISession] = [:]
      private(set) var tokensSent: [String: Int] = [:]
      private let places: [String: Vector3]

      init(_ world: SimulatedWorld, _ places: [String: Vector3]) {
        (self.world, self.places) = (world, places)
        manager.sendToken = { [unowned self] in self.answer($0, $1) }
      }

      private func answer(_ name: String, _ token: NIDiscoveryToken) {
        tokensSent[name, default: 0] += 1
        let motion = places[name].map {
          SimulatedMotion.resting(at: RigidTransform(standingAt: $0, facing: .zero))
        }
        let session = NISession(on: world.makeDevice(motion: motion))
        friends[name] = session
        session.run(NINearbyPeerConfiguration(peerToken: token))
      }

      func invite(_ names: [String]) {
        for name in names {
          manager.invite(name)
          if let token = friends[name]?.discoveryToken { manager.accept(token, from: name) }
        }
      }
    }

    private func circle(_ script: String = "") throws -> Circle {
      let world = try world(script) { $0.sharesDefaultDevice = true }
      return Circle(
        world,
        ["Bob": Vector3(0, 1.4, -1), "Cleo": Vector3(0, 1.4, -6), "Dan": Vector3(0, 1.4, -12)])
    }

    @Test("many friends: each has its distance, the nearest is first")
    func managerSorts() async throws {
      let circle = try circle()
      circle.invite(["Cleo", "Dan", "Bob"])
      await circle.world.pass(seconds: 2)
      #expect(circle.manager.nearest == ["Bob", "Cleo", "Dan"])
      #expect(circle.manager.friends.count == 3)
    }

    @Test("many friends: one who walks away is looked for, the others stay")
    func managerReruns() async throws {
      let circle = try circle()
      circle.invite(["Bob", "Cleo"])
      await circle.world.pass(seconds: 2)
      let session = try #require(circle.friends["Bob"])
      session.pause()
      await circle.world.pass(seconds: 11)
      #expect(circle.manager.friend("Bob")?.state == "looking")
      #expect(circle.manager.friend("Bob")?.reruns == 1)
      #expect(circle.manager.friend("Cleo")?.state == "here")
      session.run(try #require(session.configuration))
      await circle.world.pass(seconds: 1)
      #expect(circle.manager.friend("Bob")?.state == "here")
    }

    @Test("many friends: one who ends is forgotten")
    func managerForgets() async throws {
      let circle = try circle()
      circle.invite(["Bob", "Cleo"])
      await circle.world.pass(seconds: 1)
      circle.friends["Bob"]?.invalidate()
      await circle.world.pass(seconds: 1)
      #expect(circle.manager.friend("Bob") == nil && circle.manager.nearest == ["Cleo"])
    }

    @Test("many friends: after a failure there are new sessions with new tokens")
    func managerRecreates() async throws {
      let circle = try circle()
      circle.invite(["Bob"])
      await circle.world.pass(seconds: 1)
      let before = try #require(circle.manager.friends.keys.first)
      // A suspension of more than five minutes ends a session.
      let phone = try #require(circle.world.defaultDevice() as? SimulatedDevice)
      phone.undergo(.enteredBackground)
      await circle.world.pass(seconds: 301)
      #expect(circle.tokensSent["Bob"] == 2 && circle.manager.friends[before] == nil)
      phone.undergo(.enteredForeground)
      let token = try #require(circle.friends["Bob"]?.discoveryToken)
      circle.manager.accept(token, from: "Bob")
      await circle.world.pass(seconds: 1)
      #expect(circle.manager.friend("Bob")?.state == "here")
    }

    @Test("many friends: the seventeenth is too many")
    func managerLimit() async throws {
      let circle = try circle()
      circle.invite((1...17).map { "friend \($0)" })
      await circle.world.pass(seconds: 1)
      #expect(circle.manager.banner == "Too many friends" && circle.manager.friends.count == 16)
    }

    @Test("many friends: one that the user removes hears of it")
    func managerRemoves() async throws {
      let circle = try circle()
      circle.invite(["Bob"])
      let log = Log()
      circle.friends["Bob"]?.delegate = log
      await circle.world.pass(seconds: 1)
      circle.manager.remove("Bob")
      await circle.world.pass(seconds: 1)
      #expect(log.reasons == [.peerEnded] && circle.manager.friends.isEmpty)
    }
  }
}
