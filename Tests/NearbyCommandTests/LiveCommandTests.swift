// SPDX-License-Identifier: Apache-2.0
import Testing

/// The command where the page is left out; `make live-test` tests the page.
@Suite("nearby live")
struct LiveCommandTests {
  #if !Live
    @Test(arguments: [["--scenario", "keys"], ["--scenario", "find", "--peers", "10"], []])
    func withoutThePageItSaysHowToGetIt(arguments: [String]) throws {
      let result = try CommandLineTool.run(["live"] + arguments)
      #expect(result.exitCode == 64)
      #expect(result.output.isEmpty)
      #expect(result.errors.contains("make live"))
      #expect(result.errors.contains("--traits Live"))
    }
  #endif

  @Test(arguments: [
    (["--scenario", "keys", "--speed", "1"], "--speed"),
    (["--scenario", "keys", "--exit-at-end"], "--exit-at-end"),
    (["--peers", "3"], "--scenario"), (["--set", "radio.rate=1"], "--scenario"),
    (["--scenario", "find", "--peers", "0"], "--peers"),
    (["--scenario", "find", "--peers", "101"], "--peers"),
    (["--scenario", "keys", "--peers", "2"], "--scenario find"),
    (["--scenario", "nowhere"], "nowhere"), (["--speed", "0"], "--speed"),
    (["--scenario", "find", "--set", "radio.rate=-1"], "radio.rate"), (["--save", ""], "--save"),
  ])
  func whatMakesNoSenseIsSaid(arguments: [String], word: String) throws {
    let result = try CommandLineTool.run(["live"] + arguments)
    #expect(result.exitCode == 64)
    #expect(result.errors.contains(word), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
  }
}
