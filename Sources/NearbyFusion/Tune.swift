import Foundation
enum Tune {
  static func v(_ n: String, _ d: Double) -> Double { ProcessInfo.processInfo.environment[n].flatMap(Double.init) ?? d }
  static let kmin = v("KMIN", 0.2), kamin = v("KAMIN", 0.5)
  static let ts = v("TS", 3), tm = v("TM", 0.4), tr = v("TR", 0.7)
  static let wf = v("WF", 0.2)
  static let af = v("AF", 0.7), ar = v("AR", 0.5)
  static let prior = v("PRIOR", 15)
}
