// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// The error that reading throws.
func recordingError(_ body: () throws -> Void) -> RecordingError? {
  do {
    try body()
    return nil
  } catch { return error as? RecordingError }
}
