// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("FrameConvention")
struct FrameConventionsTests {
  static let all = WorldUp.allCases.flatMap { up in
    DeviceAxes.allCases.map { FrameConvention(up: up, axes: $0) }
  }

  @Test("the engine's own frames are the identity")
  func engine() {
    let pose = RigidTransform(
      rotation: Rotation(angleRadians: 1, about: Vector3(1, 2, 3)), translation: Vector3(4, 5, 6))
    let same = FrameConvention.engine.engineWorldFromEngineDevice(pose)
    #expect((same.translation - pose.translation).length < 1e-15)
    #expect(same.rotation.angle(to: pose.rotation) < 1e-15)
  }

  /// Right, up and ahead of a device, in each naming of its axes.
  @Test(
    "right, up and ahead of each device become +x, +y and -z",
    arguments: [
      (DeviceAxes.arkit, Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, -1)),
      (DeviceAxes.ros, Vector3(0, -1, 0), Vector3(0, 0, 1), Vector3(1, 0, 0)),
      (DeviceAxes.camera, Vector3(1, 0, 0), Vector3(0, -1, 0), Vector3(0, 0, 1)),
    ])
  func deviceAxes(axes: DeviceAxes, right: Vector3, up: Vector3, ahead: Vector3) {
    let convention = FrameConvention(up: .y, axes: axes)
    let cases = [
      (right, Vector3(1, 0, 0)), (up, Vector3(0, 1, 0)), (ahead, Vector3(0, 0, -1)),
    ]
    for (source, engine) in cases {
      #expect((convention.engineDeviceVector(source) - engine).length < 1e-15)
      #expect((convention.deviceVector(fromEngine: engine) - source).length < 1e-15)
    }
  }

  @Test("z up: east, north and up become +x, -z and +y")
  func worldUp() {
    let convention = FrameConvention(up: .z, axes: .arkit)
    let turn = convention.engineWorldFromWorld
    #expect((turn.act(Vector3(1, 0, 0)) - Vector3(1, 0, 0)).length < 1e-15)
    #expect((turn.act(Vector3(0, 1, 0)) - Vector3(0, 0, -1)).length < 1e-15)
    #expect((turn.act(Vector3(0, 0, 1)) - Vector3(0, 1, 0)).length < 1e-15)
  }

  @Test("a robot that faces north in a z-up world: by hand")
  func robot() {
    // ROS axes, turned a quarter about +z: forward points along +y of the source's world, which is
    // -z of the engine's. The engine's device then looks along its own -z: the identity.
    let convention = FrameConvention(up: .z, axes: .ros)
    let pose = RigidTransform(
      rotation: Rotation(angleRadians: .pi / 2, about: Vector3(0, 0, 1)),
      translation: Vector3(1, 2, 0.5))
    let engine = convention.engineWorldFromEngineDevice(pose)
    #expect(engine.rotation.angle(to: .identity) < 1e-15)
    #expect((engine.translation - Vector3(1, 0.5, -2)).length < 1e-15)
  }

  @Test("a camera that looks along +x of a y-up world: by hand")
  func camera() {
    // Camera axes in the world: right = +z, down = -y, forward = +x.
    let convention = FrameConvention(up: .y, axes: .camera)
    let pose = RigidTransform(
      rotation: Rotation(
        xAxis: Vector3(0, 0, 1), yAxis: Vector3(0, -1, 0), zAxis: Vector3(1, 0, 0)),
      translation: .zero)
    let engine = convention.engineWorldFromEngineDevice(pose)
    #expect((engine.rotation.act(Vector3(0, 0, -1)) - Vector3(1, 0, 0)).length < 1e-15)
    #expect((engine.rotation.act(Vector3(0, 1, 0)) - Vector3(0, 1, 0)).length < 1e-15)
    #expect((engine.rotation.act(Vector3(1, 0, 0)) - Vector3(0, 0, 1)).length < 1e-15)
  }

  @Test("a point seen by the device is the same point, whatever the names", arguments: all)
  func commutes(convention: FrameConvention) {
    var generator = SeededGenerator(seed: 17)
    for _ in 0..<20 {
      let pose = RigidTransform(
        rotation: generator.rotation(), translation: generator.normalVector(sigma: 3))
      let point = generator.normalVector(sigma: 3)
      let engine = convention.engineWorldFromEngineDevice(pose)
      let inWorld = engine.act(convention.engineDeviceVector(point))
      #expect((convention.worldVector(fromEngine: inWorld) - pose.act(point)).length < 1e-14)
    }
  }

  @Test("covariances turn with their vectors", arguments: all)
  func covariances(convention: FrameConvention) {
    let axis = Vector3(1, 2, 3)
    let turned = convention.worldCovariance(fromEngine: SymmetricMatrix3(outer: axis))
    let expected = SymmetricMatrix3(outer: convention.worldVector(fromEngine: axis))
    for probe in [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1), Vector3(1, 1, 1)] {
      #expect((turned.times(probe) - expected.times(probe)).length < 1e-13)
    }
  }
}
