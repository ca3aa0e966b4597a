// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@Suite("ARKit's camera")
struct ARKitCameraTests {
  @Test("its axes point down, to the right and out of the screen of a phone in portrait")
  func axes() {
    let turn = Rotation.deviceFromARKitCamera
    #expect((turn.act(Vector3(1, 0, 0)) - Vector3(0, -1, 0)).length < 1e-15)
    #expect((turn.act(Vector3(0, 1, 0)) - Vector3(1, 0, 0)).length < 1e-15)
    #expect((turn.act(Vector3(0, 0, 1)) - Vector3(0, 0, 1)).length < 1e-15)
  }
}
