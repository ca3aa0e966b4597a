// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import Testing

/// The intervals of the settings.
@Suite("Settings and their intervals")
struct FusionConfigurationTests {
  /// The paths of all values that a configuration is written with.
  private static func paths() throws -> Set<String> {
    let json = try JSONSerialization.jsonObject(
      with: JSONEncoder().encode(FusionConfiguration()))
    var paths: Set<String> = []
    func gather(_ value: Any, _ path: [String]) {
      if let object = value as? [String: Any] {
        for (key, value) in object { gather(value, path + [key]) }
      } else {
        paths.insert(path.joined(separator: "."))
      }
    }
    gather(json, [])
    return paths
  }

  @Test("every setting that is a number has an interval")
  func everyNumber() throws {
    let apart: Set = [
      "ranging.antennaInDevice.x", "ranging.antennaInDevice.y", "ranging.antennaInDevice.z",
      "hypotheses.maximumCount", "odometry.isPlanar", "ranging.whiteSharesAreKnown",
    ]
    let limits = FusionConfiguration.limits.map(\.setting)
    #expect(Set(limits).union(apart) == (try Self.paths()))
    #expect(Set(limits).count == limits.count)
  }

  @Test("both ends of an interval are allowed, and nothing beyond them")
  func ends() throws {
    for limit in FusionConfiguration.limits {
      var configuration = FusionConfiguration()
      for end in [limit.interval.lowerBound, limit.interval.upperBound] {
        configuration[keyPath: limit.path] = end
        #expect(throws: Never.self) { try configuration.validate() }
      }
      for beyond in [limit.interval.lowerBound.nextDown, limit.interval.upperBound.nextUp, .nan] {
        configuration[keyPath: limit.path] = beyond
        let error = #expect(throws: FusionConfigurationError.self) { try configuration.validate() }
        #expect(error?.setting == limit.setting)
      }
    }
    for (count, isAllowed) in [(7, false), (8, true), (96, true), (97, false)] {
      var configuration = FusionConfiguration()
      configuration.hypotheses.maximumCount = count
      #expect(((try? configuration.validate()) != nil) == isAllowed)
    }
  }
}
