// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// An error in a recording: what is wrong, where, and what to do about it.
///
/// Its description is one line in the form that editors can follow:
/// `ranging.csv:17:21: distance "abc" is not a number; write a decimal number or leave the field
/// empty`.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of fault.
  public var code: Code
  /// The fault.
  public var message: String
  /// The file's name inside the recording, or the path as it was given when there is no recording.
  public var file: String
  /// The line, from 1.
  public var line: Int?
  /// The byte in the line, from 1.
  public var column: Int?
  /// The remedy.
  public var remedy: String

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, file: String, line: Int? = nil, column: Int? = nil,
    remedy: String
  ) {
    self.code = code
    self.message = message
    self.file = file
    self.line = line
    self.column = column
    self.remedy = remedy
  }

  /// The location, the fault and the remedy in one line.
  ///
  /// Text from files is shortened, and characters that a terminal would interpret are escaped.
  public var description: String {
    let place = [line, column].compactMap(\.self).map { ":\($0)" }.joined()
    return "\(file.printable())\(place): \(message.printable(limit: Self.longestMessage)); "
      + remedy.printable(limit: Self.longestMessage)
  }

  /// The length in characters beyond which a message loses its middle.
  package static let longestMessage = 400
}

extension RecordingError {
  /// The kinds of faults; more may come in later versions.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Base: String {
      case missingFolder, missingFile, unreadableFile, unwritableFile, occupiedOutput, tooManyPeers
      case malformedManifest, unsupportedFormat, unsupportedVersion
      case unknownKey, duplicateKey
      case missingValue, wrongType, valueOutOfRange
      case missingColumn, duplicateColumn, wrongFieldCount, malformedNumber, malformedField
      case lineTooLong, notFinite, invalidRotation, timeWentBack, emptyPeer, noSamples,
        nothingToFuse
    }

    private let base: Base

    private init(_ base: Base) { self.base = base }

    /// There is no such folder.
    public static let missingFolder = Code(.missingFolder)
    /// The folder lacks a required file.
    public static let missingFile = Code(.missingFile)
    /// The system would not let us read.
    public static let unreadableFile = Code(.unreadableFile)
    /// The system would not let us write.
    public static let unwritableFile = Code(.unwritableFile)
    /// There is something at the output's place, or at work there, that is not to be touched.
    public static let occupiedOutput = Code(.occupiedOutput)
    /// More peers are to be estimated together than can be in moderate time.
    public static let tooManyPeers = Code(.tooManyPeers)
    /// `recording.json` is not JSON.
    public static let malformedManifest = Code(.malformedManifest)
    /// `recording.json` describes something else.
    public static let unsupportedFormat = Code(.unsupportedFormat)
    /// The recording has a version that this library does not know.
    public static let unsupportedVersion = Code(.unsupportedVersion)
    /// A configuration file sets something that does not exist.
    public static let unknownKey = Code(.unknownKey)
    /// A configuration file sets something twice.
    public static let duplicateKey = Code(.duplicateKey)
    /// A required value is missing.
    public static let missingValue = Code(.missingValue)
    /// A value has the wrong JSON type.
    public static let wrongType = Code(.wrongType)
    /// A value is outside its interval or not among those allowed.
    public static let valueOutOfRange = Code(.valueOutOfRange)
    /// A required column is missing from the header row.
    public static let missingColumn = Code(.missingColumn)
    /// A column appears twice in the header row.
    public static let duplicateColumn = Code(.duplicateColumn)
    /// A line has too few or too many fields.
    public static let wrongFieldCount = Code(.wrongFieldCount)
    /// A field that holds a number holds something else.
    public static let malformedNumber = Code(.malformedNumber)
    /// A field holds something that it may not hold.
    public static let malformedField = Code(.malformedField)
    /// A line is longer than any line of such a file can be.
    public static let lineTooLong = Code(.lineTooLong)
    /// A number that must be finite is not.
    public static let notFinite = Code(.notFinite)
    /// A quaternion is not of unit length.
    public static let invalidRotation = Code(.invalidRotation)
    /// Time goes back further than the format allows.
    public static let timeWentBack = Code(.timeWentBack)
    /// A row does not name its peer.
    public static let emptyPeer = Code(.emptyPeer)
    /// A file holds no data.
    public static let noSamples = Code(.noSamples)
    /// An import found nothing that can be fused, or something suspicious that was not to be.
    public static let nothingToFuse = Code(.nothingToFuse)

    /// The kind's name.
    public var description: String { base.rawValue }
  }
}

extension RecordingError {
  /// The error with the path of its file instead of the file's name in the recording.
  ///
  /// - Parameter recording: The recording's path as it was given.
  /// - Returns: The error for a person to read.
  public func located(in recording: String) -> RecordingError {
    // An output is not in the recording, whatever its name.
    if isOfOutput { return self }
    // The path of recording.json names a recording, too.
    if recording.hasSuffix("/\(file)") { return located(at: recording) }
    let path = recording.hasSuffix("/") ? recording + file : "\(recording)/\(file)"
    let isInside = !file.hasPrefix("/") && FileManager.default.fileExists(atPath: path)
    return code != .missingFolder && code != .missingFile && isInside ? located(at: path) : self
  }

  /// The error of a row that the format cannot hold, at the place from which the row comes.
  ///
  /// A fault found in writing names the line of a file that never appears.
  ///
  /// - Parameters:
  ///   - file: The file from which the row comes.
  ///   - line: The line there; 0 when it is not known.
  /// - Returns: The error for a person to read; the same when an output is at fault.
  package func ofRow(in file: String, line: Int = 0) -> RecordingError {
    if isOfOutput { return self }
    var error = located(at: file)
    error.line = line > 0 ? line : nil
    error.column = nil
    return error
  }

  /// Whether the fault is not in what is read but where the output is to be.
  package var isOfOutput: Bool { code == .unwritableFile || code == .occupiedOutput }

  private func located(at path: String) -> RecordingError {
    var error = self
    error.file = path
    return error
  }
}
