// SPDX-License-Identifier: Apache-2.0
public import FoundationEssentials
internal import Glibc
internal import NearbyRecordings

/// The environment that environment variables select for a process whose host sets none.
///
/// | variable | value | meaning |
/// | --- | --- | --- |
/// | `NEARBY_ENVIRONMENT` | `simulated` (default) | one world for all programs of this user; every session is a device of its own |
/// | | `simulated:FOLDER` | the same, for all programs that name this folder of sockets |
/// | | `alone` | a world in this process; every session is a device of its own |
/// | | `replay:FOLDER` | the recording in this folder; the n-th token that is run stands for its n-th peer |
/// | | `none` | a device that measures nothing |
/// | `NEARBY_SEED` | a number | the world's seed, 1 by default |
/// | `NEARBY_SPEED` | a number | how much faster than life a replay or a world `alone` is, 1 by default, at most 1000 |
/// | `NEARBY_PHONE` | `camera`, `array`, `watch` | what simulated devices can measure: distances and camera as phones since 2022 (default), an antenna array besides as those before, distances only |
/// | `NEARBY_DEVICES` | `each`, `one` | whether each session of a simulated world has a device (default), or all of a program's share one, as on a phone |
/// | `NEARBY_PERMISSION` | `allow`, `deny`, `ask`, `granted` | the answer to the prompt before the first session runs: after half a second (`allow` by default), from a script (`ask`), or no prompt |
/// | `NEARBY_SCRIPT` | a file | what happens to this program's simulated devices, and when: ``WorldScript`` |
///
/// If an environment is not available, it is `none`, so that every session ends with
/// `NIError.unsupportedPlatform`. ``failure`` gives the reason.
public struct EnvironmentSelection: Hashable, Sendable {
  /// The selected environment.
  public enum Choice: Hashable, Sendable {
    /// A simulated world shared by all programs of this user.
    case simulated
    /// A simulated world in this process.
    case alone
    /// A simulated world shared by the processes that name this folder.
    case shared(folder: String)
    /// A recording.
    case replay(folder: String)
    /// Nothing.
    case none
  }

  /// The selected environment.
  public var choice: Choice
  /// The settings of a simulated world.
  public var settings = SimulatedWorldSettings()
  /// The script of a simulated world, if there is one.
  public var script: WorldScript?
  /// The speed of a replay relative to real time, and of a world of one process.
  public var speed = 1.0
  /// What the device of a replay measures: all that the recording has, unless `NEARBY_PHONE` says less.
  private var replayCapabilities = DeviceCapabilities.phoneWithAntennaArray
  /// The error in the variables, if there is one.
  public var failure: String?

  /// Reads the variables.
  ///
  /// - Parameter variables: The process's environment by default.
  public init(_ variables: [String: String] = ProcessInfo.processInfo.environment) {
    settings.capabilities = .phoneWithoutAntennaArray
    settings.permissionPrompt = SimulatedWorldSettings.Prompt(answer: true)
    let name = variables["NEARBY_ENVIRONMENT"] ?? "simulated"
    let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count > 1 ? parts[1] : nil) {
    case ("simulated", nil): choice = .simulated
    case ("simulated", let folder?): choice = .shared(folder: folder)
    case ("replay", let folder?): choice = .replay(folder: folder)
    case ("alone", nil): choice = .alone
    case ("none", nil): choice = .none
    default:
      choice = .none
      failure = """
        NEARBY_ENVIRONMENT is '\(name)', not simulated, simulated:…, replay:…, alone or none
        """
    }
    if let text = variables["NEARBY_SEED"] {
      if let seed = UInt64(text) { settings.seed = seed } else { refuse("NEARBY_SEED", text) }
    }
    if let text = variables["NEARBY_SPEED"] {
      if let speed = Double(text), speed > 0, speed <= Self.greatestSpeed {
        self.speed = speed
      } else {
        refuse("NEARBY_SPEED", text)
      }
    }
    switch variables["NEARBY_PHONE"] {
    case nil, "camera": break
    case "array": settings.capabilities = [.phoneWithAntennaArray, .extendedDistance]
    case "watch": settings.capabilities = .watch
    case let text?: refuse("NEARBY_PHONE", text)
    }
    if variables["NEARBY_PHONE"] != nil { replayCapabilities = settings.capabilities }
    if let path = variables["NEARBY_SCRIPT"] {
      do throws(WorldScript.SyntaxError) {
        script = try WorldScript(contentsOf: path)
        // Its answer is that of the user.
        if let script, script.answersPrompt {
          settings.permissionPrompt = SimulatedWorldSettings.Prompt(answer: nil)
        }
      } catch {
        choice = .none
        failure = "NEARBY_SCRIPT \(path), \(error)"
      }
    }
    switch variables["NEARBY_DEVICES"] {
    case nil, "each": break
    case "one": settings.sharesDefaultDevice = true
    case let text?: refuse("NEARBY_DEVICES", text)
    }
    switch variables["NEARBY_PERMISSION"] {
    case nil, "allow": break
    case "deny": settings.permissionPrompt = SimulatedWorldSettings.Prompt(answer: false)
    case "ask": settings.permissionPrompt = SimulatedWorldSettings.Prompt(answer: nil)
    case "granted": settings.permissionPrompt = nil
    case let text?: refuse("NEARBY_PERMISSION", text)
    }
  }

  /// The limit exists because a replay must process all events between two ticks of its timer.
  private static let greatestSpeed = 1000.0

  /// The folder in which all programs of this user find each other, however they were started.
  static var commonFolder: String { "/tmp/nearby-world-\(geteuid())" }

  private mutating func refuse(_ variable: String, _ value: String) {
    choice = .none
    failure = "\(variable) is '\(value)', which makes no sense"
  }

  /// Makes the environment.
  ///
  /// - Returns: The selected environment, or an environment that measures nothing and gives the
  ///   reason.
  public func environment() -> any NearbyEnvironment {
    environment(commonFolder: Self.commonFolder)
  }

  func environment(commonFolder: String) -> any NearbyEnvironment {
    let environment = unscripted(commonFolder)
    if let script { (environment as? SimulatedWorld)?.play(script) }
    return environment
  }

  private func unscripted(_ commonFolder: String) -> any NearbyEnvironment {
    switch choice {
    case .alone: return SimulatedWorld(settings, clock: .machine, speed: speed)
    case .simulated:
      do throws(SimulatedWorld.SharingError) {
        return try SimulatedWorld.shared(in: commonFolder, settings)
      } catch {
        // If no socket is available, sessions of this process can still measure each other. If the
        // folder belongs to another user, that is reported, because programs would otherwise
        // silently not find each other.
        return error.reason == .unavailable
          ? SimulatedWorld(settings, clock: .machine) : AbsentEnvironment(error.description)
      }
    case .none: return AbsentEnvironment(failure)
    case .shared(let folder):
      do throws(SimulatedWorld.SharingError) {
        return try SimulatedWorld.shared(in: folder, settings)
      } catch {
        return AbsentEnvironment(error.description)
      }
    case .replay(let folder):
      do throws(RecordingError) {
        return try ReplayEnvironment(
          RecordingReader(folder: folder), clock: .machine(speed: speed),
          capabilities: replayCapabilities)
      } catch {
        return AbsentEnvironment("\(error)")
      }
    }
  }
}
