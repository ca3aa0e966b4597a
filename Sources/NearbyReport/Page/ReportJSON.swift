// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
internal import NearbyFusion
public import NearbyRecordings

extension Report {
  /// The report as JSON that is safe inside a `<script>` element of a page, and the numbers of its tables.
  ///
  /// Keys are the names of this module's properties and columns; a table is an object of columns, one for each that
  /// holds anything, which say where their numbers are: `ReportData` explains it. Equal reports are equal byte by byte.
  public var page: (json: OutputText, numbers: String) {
    var numbers = ReportNumbers()
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
      json.array("recordings", recordings) { json, recording in
        recording.write(to: &json, &numbers)
      }
      json.array("runs", runs) { json, run in run.write(to: &json, &numbers) }
    }
    return (json.text, numbers.base64)
  }
}

extension ReportRecording {
  fileprivate func write(to json: inout JSONText, _ numbers: inout ReportNumbers) {
    json.object { json in
      json.member("name", name)
      json.member("folder", folder)
      json.member("duration", duration, decimals: 3)
      json.array("axes", axes) { $0.value($1) }
      json.member("hasTruth", hasTruth)
      json.table("device", device, into: &numbers)
    }
  }
}

extension ReportRun {
  fileprivate func write(to json: inout JSONText, _ numbers: inout ReportNumbers) {
    json.object { json in
      json.member("name", name)
      json.member("recording", Double(recording))
      json.member("source", source.rawValue)
      sentences.write(to: &json)
      json.table("correctedPath", correctedPath, into: &numbers)
      json.table("truePath", truePath, into: &numbers)
      json.array("tracks", tracks) { json, track in track.write(to: &json, &numbers) }
    }
  }
}

extension ReportTrack {
  fileprivate func write(to json: inout JSONText, _ numbers: inout ReportNumbers) {
    json.object { json in
      json.member("peer", peer)
      json.member("sentence", sentence)
      json.array("advice", advice) { $0.value($1) }
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
          json.member("wronglyPublishedShare", errors.wronglyPublishedShare, decimals: 6)
        }
      }
      json.table("moments", moments, into: &numbers)
      json.table("modes", modes, into: &numbers)
      json.table("timeline", timeline, into: &numbers)
      json.table("outcomes", outcomes, into: &numbers)
    }
  }
}

extension RunSentences {
  fileprivate func write(to json: inout JSONText) {
    if let path { json.member("path", path) }
    json.array("findings", findings) { json, finding in
      json.object { json in
        json.member("severity", finding.severity)
        json.member("message", finding.message)
        if let remedy = finding.remedy { json.member("remedy", remedy) }
      }
    }
    json.array("calibration", calibration) { $0.value($1) }
    json.array("events", events) { json, event in
      json.object { json in
        json.member("time", event.seconds, decimals: 3)
        json.member("text", event.text)
      }
    }
  }
}
