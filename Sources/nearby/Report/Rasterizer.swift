// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyBatch
import NearbyRecordings

/// Converts SVG to PNG or PDF, with librsvg's program.
enum Rasterizer {
  /// What it makes.
  enum Format: String { case png, pdf }

  private static let program = "rsvg-convert"
  /// The pixels of the PNG per pixel of the SVG, for sharp screens and prints.
  private static let zoom = 2

  /// Writes a picture.
  ///
  /// - Parameters:
  ///   - svg: The picture.
  ///   - format: What it becomes.
  ///   - file: The output file, which the caller commits.
  /// - Throws: ``CommandFailure`` when the program is missing or fails.
  static func write(
    _ svg: OutputText, as format: Format, to file: inout AtomicFile
  ) throws {
    guard let path = pathOfProgram() else {
      throw CommandFailure(
        .badData,
        """
        \(program) is not installed, which makes PNG and PDF: install it (Debian, Ubuntu: apt-get install \
        librsvg2-bin), or name an output that ends in .svg
        """)
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (source, picture) = (
      folder.appending(path: "picture.svg"), folder.appending(path: "picture.\(format.rawValue)")
    )
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(svg.bytes).write(to: source)
      let look =
        switch format {
        case .png: ["--zoom", "\(zoom)"]
        case .pdf: ["--format", "pdf"]
        }
      let end = try ChildProcess(
        [path] + look + ["--output", picture.path, source.path]
      ).wait()
      guard end == .exit(status: 0) else {
        throw CommandFailure(.internalError, "\(program) ended \(end.words)")
      }
      try file.write(Array(Data(contentsOf: picture)))
    } catch let failure as CommandFailure {
      throw failure
    } catch let error as RecordingError {
      throw error
    } catch let error as ChildProcess.Failure {
      throw CommandFailure(.badData, "\(program): \(error.reason)")
    } catch {
      throw CommandFailure(.badData, "\(program): \(error.systemReason)")
    }
  }

  private static func pathOfProgram() -> String? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    return folders.map { "\($0)/\(program)" }
      .first(where: FileManager.default.isExecutableFile(atPath:))
  }
}
