// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// The engine's settings as a JSON file: some of them or all, by the names of
/// `FusionConfiguration`.
///
/// ```json
/// { "ranging": { "rangeSigma": 0.2 }, "odometry": { "isPlanar": true } }
/// ```
///
/// Unlike a recording, which other tools may have written, such a file is written by hand for this
/// engine alone: a key that does not exist is a mistake, and an error.
public enum ConfigurationFile {
  /// The name under which a run writes the settings that were in force.
  public static let fileName = "configuration.json"

  /// All settings as JSON; read as a configuration file, they give the same configuration.
  public static func json(of configuration: FusionConfiguration) -> String {
    CanonicalJSON.text(of: configuration)
  }

  /// Reads a file and puts what it sets in the place of what was there.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - base: The settings that hold where the file says nothing.
  /// - Returns: The settings together, valid.
  /// - Throws: The first fault, with its place.
  public static func read(
    path: String, over base: FusionConfiguration
  ) throws(RecordingError) -> FusionConfiguration {
    try apply(json: FileBytes.read(path: path), file: path, over: base)
  }

  /// Puts what a JSON text sets in the place of what was there.
  ///
  /// - Parameters:
  ///   - json: The text in UTF-8.
  ///   - file: The name for errors.
  ///   - base: The settings that hold where the text says nothing.
  /// - Returns: The settings together, valid.
  /// - Throws: The first fault, with its place.
  public static func apply(
    json: [UInt8], file: String, over base: FusionConfiguration
  ) throws(RecordingError) -> FusionConfiguration {
    let configuration = try SettingsText.apply(json: json, file: file, over: base, as: format)
    do {
      try configuration.validate()
    } catch {
      let place = SettingsText.place(of: error.setting, in: json)
      throw outOfRange(error, file: file, line: place?.line, column: place?.column)
    }
    return configuration
  }

  /// Puts one setting, `faults.rangeOnset=0.1`, in the place of what was there.
  ///
  /// - Parameters:
  ///   - assignment: The setting's path, `=`, and its value.
  ///   - base: The settings that hold otherwise.
  /// - Returns: The settings together, valid.
  /// - Throws: What is wrong with it; the file is the assignment.
  public static func apply(
    assignment: String, over base: FusionConfiguration
  ) throws(RecordingError) -> FusionConfiguration {
    let configuration = try SettingsText.apply(assignment: assignment, over: base, as: format)
    do {
      try configuration.validate()
    } catch {
      throw outOfRange(error, file: assignment)
    }
    return configuration
  }

  private static let format = SettingsText.Format(name: "the configuration")

  private static func outOfRange(
    _ error: FusionConfigurationError, file: String, line: Int? = nil, column: Int? = nil
  ) -> RecordingError {
    RecordingError(
      .valueOutOfRange, error.description, file: file, line: line, column: column,
      remedy: "choose a value in that interval")
  }
}
