// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
internal import NearbyFusion
public import NearbyRecordings

extension Report {
  /// The report as JSON that is safe inside a `<script>` element of a page.
  ///
  /// Keys are the names of this module's properties and columns; tables are objects of arrays, one for
  /// each column that holds anything. Numbers are rounded as their columns say, so that equal reports
  /// are equal byte by byte.
  public var json: OutputText {
    var json = JSONText()
    json.object { json in
      json.member("format", "nearby-report")
      json.member("version", Double(Self.formatVersion))
      json.member("engine", NearbyVersion.current)
      json.array("reasons", Self.reasonNames) { $0.value($1) }
      // The 95 % interval of one square over its n degrees of freedom: n = 1, 2, 3.
      json.array("bands", [1, 2, 3]) { json, n in
        let band = ChiSquare(degreesOfFreedom: n).meanBand(count: 1, probability: 0.95)
        json.array([band.lowerBound, band.upperBound]) { $0.value($1 / Double(n), decimals: 6) }
      }
      json.array("recordings", recordings) { json, recording in recording.write(to: &json) }
      json.array("runs", runs) { json, run in run.write(to: &json) }
    }
    return json.text
  }
}

extension ReportRecording {
  fileprivate func write(to json: inout JSONText) {
    json.object { json in
      json.member("name", name)
      json.member("folder", folder)
      json.member("duration", duration, decimals: 3)
      json.array("axes", axes) { $0.value($1) }
      json.member("hasTruth", hasTruth)
      json.table("device", device)
    }
  }
}

extension ReportRun {
  fileprivate func write(to json: inout JSONText) {
    json.object { json in
      json.member("name", name)
      json.member("recording", Double(recording))
      json.member("source", source.rawValue)
      json.array("tracks", tracks) { json, track in track.write(to: &json) }
    }
  }
}

extension ReportTrack {
  fileprivate func write(to json: inout JSONText) {
    json.object { json in
      json.member("peer", peer)
      json.key("facts")
      json.object { json in
        json.member("samples", Double(facts.samples))
        json.member("partial", Double(facts.partial))
        json.member("rejected", Double(facts.rejected))
        json.member("secondsToConverge", facts.secondsToConverge, decimals: 3)
        json.member("losses", Double(facts.losses))
        json.member("components", Double(facts.components))
        json.member("positionComponents", Double(facts.positionComponents))
      }
      if let figures {
        let errors = figures.errors
        json.key("figures")
        json.object { json in
          json.member("rmseSecondHalf", errors.rmseSecondHalf, decimals: 4)
          json.member("rmseConverged", errors.rmseConverged, decimals: 4)
          json.member("medianDistanceError", errors.medianDistanceErrorSecondHalf, decimals: 4)
          json.member(
            "medianBearingError", errors.medianBearingErrorDegreesSecondHalf, decimals: 3)
          json.member("nees", errors.meanNormalizedNEES, decimals: 3)
          json.member("nis", figures.normalizedInnovationSquared, decimals: 3)
          json.member("falselyConvergedShare", errors.falselyConvergedShare, decimals: 6)
        }
      }
      json.table("moments", moments)
      json.table("timeline", timeline)
      json.table("outcomes", outcomes)
    }
  }
}
