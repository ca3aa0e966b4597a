// SPDX-License-Identifier: Apache-2.0
#if Live
  import FoundationEssentials
  import NearbyLive
  import NearbyRecordings

  /// Saves recordings as numbered folders below one folder.
  struct LiveSaving: Sendable {
    /// That folder.
    let folder: String

    /// Makes the place of recordings.
    ///
    /// - Parameter folder: The folder; `live-recording-DATE` by default, the date in UTC.
    init(folder: String?) {
      self.folder = folder ?? "live-recording-\(Self.date)"
    }

    /// Saves a recording.
    ///
    /// - Parameter log: What came in.
    /// - Returns: Its path.
    /// - Throws: When there is nothing to save, or it cannot be written.
    func save(_ log: LiveLog) throws(RecordingError) -> String {
      var number = 1
      while FileManager.default.fileExists(atPath: path(number)) { number += 1 }
      try log.write(to: path(number), name: "live-\(number)")
      return path(number)
    }

    private func path(_ number: Int) -> String {
      folder + (folder.hasSuffix("/") ? "" : "/") + "\(number)"
    }

    /// The date and the time of day, UTC: `2026-11-27T004002Z`.
    private static var date: String { Date.now.ISO8601Format().replacing(":", with: "") }
  }
#endif
