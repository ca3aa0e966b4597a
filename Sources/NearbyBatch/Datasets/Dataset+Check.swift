// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyRecordings

extension Dataset {
  /// The largest size of a file or archive, bytes.
  static let largestFile = 1 << 30

  /// Checks that the entry holds only allowed values.
  ///
  /// - Parameter file: The manifest's name, for errors.
  /// - Throws: The first value that is not allowed.
  func check(in file: String) throws(RecordingError) {
    guard let problem else { return }
    throw RecordingError(
      .malformedField, "the data set \"\(name)\" is refused: \(problem)", file: file,
      remedy: "Datasets/README.md of the package says what a list may hold")
  }

  /// Whether it is an address from which a program may fetch.
  static func isAddress(_ text: String) -> Bool {
    guard text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\\") }),
      let url = URL(string: text), url.scheme == "https", let host = url.host(), !host.isEmpty
    else { return false }
    return !host.hasPrefix("-")
  }

  // MARK: Rules

  private var problem: String? {
    guard Self.isName(name) else { return "its name is not of letters, digits, dots and dashes" }
    if let included, !Self.isPath(included) { return "the folder \"\(included)\" leads elsewhere" }
    if let key = (recording ?? [:]).keys.sorted().first(where: { !Self.isPath($0) }) {
      return "the file \"\(key)\" leads elsewhere"
    }
    if let pip, let problem = pip.problem { return problem }
    let files = files ?? []
    if let problem = files.lazy.compactMap(\.problem).first { return problem }
    guard Set(files.map { $0.name.lowercased() }).count == files.count else {
      return "two of its files have one name"
    }
    // Steps without files are instructions for people and are never run.
    return files.isEmpty ? nil : steps.lazy.compactMap(Self.problem(ofStep:)).first
  }

  /// A step imports fetched files into the recording, or into the working folder.
  private static func problem(ofStep step: [String]) -> String? {
    guard step.first == "import", step.count > 1, isName(step[1]) else {
      return "a step is no import"
    }
    var outputs = 0
    for (index, argument) in step.enumerated() {
      guard !argument.unicodeScalars.contains(where: \.properties.isControl) else {
        return "a step holds a control character"
      }
      if argument.hasPrefix("-") {
        // Negative numbers are allowed as values of options. Short options are not, since they
        // could be joined to a path.
        guard argument.hasPrefix("--") || Double(argument) != nil else {
          return "the step's option \(argument) must be written out"
        }
        guard argument != "--overwrite", !argument.hasPrefix("--output=") else {
          return "a step may not say \(argument)"
        }
      }
      if argument == "--output" {
        outputs += 1
        guard index + 1 < step.count,
          step[index + 1] == "{output}" || isPath(step[index + 1], below: "{work}/")
        else { return "a step writes elsewhere than to {output} or {work}" }
      } else if argument.contains("/") {
        guard isPath(argument, below: "{files}/") || isPath(argument, below: "{work}/") else {
          return "the step's path \(argument) is not in {files} or {work}"
        }
      }
    }
    return outputs == 1 ? nil : "a step must have one --output"
  }

  /// Whether it is a plain name, fit for a folder or a command-line argument that is not an option.
  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 100 else { return false }
    return isAlphanumeric(first) && text.utf8.allSatisfy { isAlphanumeric($0) || isJoint($0) }
  }

  /// Whether it is a relative path that stays within its folder.
  fileprivate static func isPath(_ text: String) -> Bool {
    guard !text.isEmpty, text.utf8.count <= 500,
      !text.unicodeScalars.contains(where: { $0.properties.isControl || $0 == "\\" })
    else { return false }
    return text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && !$0.hasPrefix(".") && !$0.hasPrefix("-")
    }
  }

  private static func isPath(_ text: String, below prefix: String) -> Bool {
    text.hasPrefix(prefix) && isPath(String(text.dropFirst(prefix.count)))
  }

  fileprivate static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  fileprivate static func isJoint(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}

extension Dataset.Package {
  fileprivate var problem: String? {
    guard Self.isName(name) else { return "\"\(name)\" is no name of a Python package" }
    guard Self.isVersion(version) else {
      return "\"\(version)\" is no version of a Python package"
    }
    if isSource, sha256 == nil { return "the source package \(name) has no sha256" }
    return nil
  }

  /// PEP 508.
  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, let last = text.utf8.last, text.utf8.count <= 100 else {
      return false
    }
    return Dataset.isAlphanumeric(first) && Dataset.isAlphanumeric(last)
      && text.utf8.allSatisfy { Dataset.isAlphanumeric($0) || Dataset.isJoint($0) }
  }

  /// PEP 440, in canonical form and without a local part, which an index does not have.
  private static func isVersion(_ text: String) -> Bool {
    text.utf8.count <= 50
      && text.wholeMatch(
        of: #/([0-9]+!)?[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?/#) != nil
  }
}

extension Dataset.File {
  fileprivate var problem: String? {
    guard Dataset.isPath(member) else { return "the file \"\(member)\" leads elsewhere" }
    if let address, !Dataset.isAddress(address) { return "\"\(address)\" is no https address" }
    if let bytes, !(0...Dataset.largestFile ~= bytes) {
      return "a file of \(bytes) bytes is larger than \(Dataset.largestFile)"
    }
    return nil
  }

  /// The largest size that is fetched, bytes.
  var limit: Int { bytes ?? Dataset.largestFile }
}

extension Unicode.Scalar.Properties {
  fileprivate var isControl: Bool {
    switch generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
