// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// The engine's settings as a JSON file with any of the keys of `FusionConfiguration`.
///
/// ```json
/// { "ranging": { "rangeSigma": 0.2 }, "odometry": { "isPlanar": true } }
/// ```
///
/// A recording may come from other tools, but such a file is written by hand for this engine. An
/// unknown key is therefore a mistake, and an error.
public enum ConfigurationFile {
  /// The name of the file to which a run writes the settings in force.
  public static let fileName = "configuration.json"

  /// All settings as JSON.
  ///
  /// Reading them as a configuration file gives the same configuration.
  public static func json(of configuration: FusionConfiguration) -> String {
    CanonicalJSON.text(of: configuration)
  }

  /// Reads a file and applies its settings to a configuration.
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

  /// Applies the settings of a JSON text to a configuration.
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
    let text = try SettingSpellings(LocatedJSON.parse(json, file: file), file: file).text
    let configuration = try SettingsText.apply(text, file: file, over: base, format)
    do {
      try configuration.validate()
    } catch {
      let place = SettingsText.place(of: error.setting, in: text)
      throw outOfRange(error, file: file, line: place?.line, column: place?.column)
    }
    return configuration
  }

  /// What a file spells otherwise than ``Setting/all`` does, a sentence for each.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: The sentences; none when all keys are those of the table.
  /// - Throws: When the file is no JSON, or sets something in two spellings.
  public static func otherSpellings(path: String) throws(RecordingError) -> [String] {
    let text = try LocatedJSON.parse(FileBytes.read(path: path), file: path)
    return try SettingSpellings(text, file: path).notices
  }

  /// Applies one setting, such as `faults.rangeOnset=0.1`, to a configuration.
  ///
  /// - Parameters:
  ///   - assignment: The setting's path, `=`, and its value.
  ///   - base: The settings that hold otherwise.
  /// - Returns: The settings together, valid.
  /// - Throws: The error in the assignment, which is also the error's file.
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
