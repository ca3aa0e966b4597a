// SPDX-License-Identifier: Apache-2.0
public import CNearby
import FoundationEssentials
import NearbyBatch
import NearbyEvaluation
import NearbyRecordings

/// The rows of `batch.csv` for a run, a line for each peer.
@c @implementation
public func nearby_batch_rows(
  _ recording: UnsafePointer<CChar>?, _ summary: UnsafePointer<CChar>?,
  _ csv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let csv = unsafe csv else { throw Argument.null("csv") }
    guard unsafe recording != nil else {
      unsafe csv.pointee = CText.copy(BatchRow.header)
      return
    }
    let id = try unsafe Argument.text(recording, "recording")
    let text = try unsafe Argument.text(summary, "summary")
    guard let run = try? JSONDecoder().decode(RunSummary.self, from: Data(text.utf8)) else {
      throw .invalidArgument(
        "summary is not that of a run", remedy: "pass the text that nearby_recording_run gave")
    }
    unsafe csv.pointee = CText.copy(BatchRow.lines(of: run, id: id))
  }
}

/// Evaluates the results of a run by the truth of its recording, as `nearby evaluate --json` does.
@c @implementation
public func nearby_evaluate(
  _ result: UnsafePointer<CChar>?, _ recording: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> nearby_status {
  entry { () throws(Failure) in
    guard let json = unsafe json else { throw Argument.null("json") }
    let folder = try unsafe Argument.text(result, "result")
    let own = unsafe recording == nil ? nil : try unsafe Argument.text(recording, "recording")
    let evaluations = try locating { () throws(RecordingError) in
      try ResultEvaluation.evaluate(folder: folder, recording: own)
    }
    unsafe json.pointee = CText.copy(CanonicalJSON.text(of: evaluations))
  }
}
