// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// An app that locates itself from anchors of known positions, with one session for each.
struct AnchorTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func anAppIsLocatedAmongAnchors(_ seed: UInt64) throws {
    var settings = SimulatedWorldSettings()
    settings.seed = seed
    let world = SimulatedWorld(settings)
    let places = [
      Vector3(-3, 2.6, -3), Vector3(3, 0.4, -3), Vector3(3, 2.4, 3), Vector3(-3, 0.6, 3),
    ]
    let phone = world.makeDevice(motion: .carried(ScenarioMotion(.wanderingWalk, seed: seed)))
    let arSession = ARSession(on: phone)
    arSession.run(ARWorldTrackingConfiguration())
    let anchors = try places.map { place in
      let pose = RigidTransform(
        rotation: .identity, translation: place - settings.radio.antennaInDevice)
      let accessory = SimulatedAccessory(on: world.makeDevice(motion: .resting(at: pose)))
      let (session, recorder) = (NISession(on: phone), SessionRecorder())
      recorder.attach(to: session)
      session.run(try NINearbyAccessoryConfiguration(data: accessory.configurationData))
      recorder.drain()
      try accessory.start(with: #require(recorder.shared))
      return (session, recorder, accessory)
    }
    var locator = try AnchorLocator(anchors: places, phone.fusion)
    var taken = [0, 0, 0, 0]
    for _ in 0..<Int(20 * settings.odometry.rate) {
      world.advance(bySeconds: 1 / settings.odometry.rate)
      locator.add(try #require(arSession.currentFrame))
      for index in 0..<4 {
        anchors[index].1.drain()
        let objects = anchors[index].1.objects
        for object in objects[taken[index]...] { locator.add(object, to: index) }
        taken[index] = objects.count
      }
    }
    let located = locator.locate()
    let fix = try #require(located)
    let place = try #require(fix.position.value)
    let truth = phone.truePose.translation
    #expect((place - truth).length < 4 * fix.position.sigma)
    #expect(fix.position.sigma < 0.3)
    // The transform from the site's frame to the AR session's world is known, so that a sign on the
    // wall can be drawn there.
    let siteFromWorld = try #require(fix.siteFromWorld.value)
    let camera = try #require(arSession.currentFrame).camera.transform.columns.3
    let inSite = siteFromWorld.act(Vector3(Double(camera.x), Double(camera.y), Double(camera.z)))
    #expect((inSite - place).length < 1e-4)
    withExtendedLifetime(anchors) {}
  }

  @Test func anObjectWithoutARangeIsLeftOut() throws {
    var locator = try AnchorLocator(anchors: [.zero])
    let object = NINearbyObject(discoveryToken: NIDiscoveryToken(.random(on: .watch)))
    let isKept = locator.add(object, to: 0)
    #expect(!isKept)
  }
}
