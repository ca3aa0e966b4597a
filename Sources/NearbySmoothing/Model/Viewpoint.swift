// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

extension Viewpoint {
  /// From where an observation was made in the fixed world, at a state; about when: at the knot before.
  init(_ observation: Observation, in problem: SmoothingProblem, at state: SmoothingState) {
    let pose = problem.correctedPose(of: observation, at: state)
    let peer = problem.place(ofPeerOf: observation.cell, in: state)
    let sight = (peer - pose.antenna).normalized
    self.init(
      timestamp: problem.knots[observation.cell.knot].device.timestamp, place: pose.antenna,
      up: pose.up, back: pose.back,
      direction: Vector3(pose.right.dot(sight), pose.up.dot(sight), pose.back.dot(sight)))
  }
}
