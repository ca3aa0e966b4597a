// SPDX-License-Identifier: Apache-2.0

/// The prompt that asks the user of this process once whether devices nearby may be measured.
struct PermissionPrompt {
  /// Whether the user allows measurements, as far as is known.
  private(set) var authorization: MeasurementAuthorization
  /// The answer of a user who is not scripted, and how long it takes, seconds.
  private let usual: (isAllowed: Bool, seconds: Double)?
  /// The tick at which that answer comes.
  private var due: Int64?

  /// Makes the prompt of a world; without one, measurements are allowed.
  init(_ settings: SimulatedWorldSettings) {
    guard let prompt = settings.permissionPrompt else {
      authorization = .allowed
      usual = nil
      return
    }
    authorization = .undetermined
    usual = prompt.answer.map { ($0, prompt.seconds) }
  }

  /// Shows the prompt, unless it is shown or answered.
  mutating func ask(at tick: Int64, tickRate: Double) {
    guard authorization == .undetermined, due == nil, let usual else { return }
    due = tick + max(1, Int64(usual.seconds * tickRate))
  }

  /// The usual answer, once it is due.
  func answer(dueAt tick: Int64) -> Bool? {
    guard authorization == .undetermined, let due, tick >= due else { return nil }
    return usual?.isAllowed
  }

  /// Takes an answer, which a later one replaces.
  mutating func answer(_ isAllowed: Bool) { authorization = isAllowed ? .allowed : .denied }
}
