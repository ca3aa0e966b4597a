// SPDX-License-Identifier: Apache-2.0
#if Live
  import FoundationEssentials
  import Glibc
  import NearbyBatch
  import NearbyFusion
  import NearbyGeometry
  import NearbyLive
  import NearbyRecordings

  /// Runs the engine on a thread of its own beside the page's server.
  struct LiveRunner {
    /// Where the samples come from.
    var source: LiveSource
    /// How the engine is set up.
    var options: LiveSession.Options
    /// Where recordings are saved.
    var saving: LiveSaving
    /// Whether the page is opened.
    var opensBrowser: Bool

    /// Runs until the input ends, or for ever.
    ///
    /// - Throws: When the server cannot start, or the settings are wrong; at the end, if lines were faulty.
    func run() async throws {
      let (feed, inbox, requests) = (LiveFeed(), LiveInbox(), LiveLogRequests())
      // Before the address is printed, so that a fault of the settings comes first.
      let loop: @Sendable () throws -> Void
      switch source {
      case .world(let scene):
        loop = { [options] in
          try Self.walk(
            LiveLoop(scene, options, feed: feed, inbox: inbox, requests: requests))
        }
      case .lines(let lines):
        loop = { [options] in
          try Self.read(
            lines, LiveLoop(options, feed: feed, inbox: inbox, requests: requests), feed)
        }
      }
      let server = LiveServer(feed: feed, inbox: inbox, requests: requests, saving: saving)
      let address = try await server.start()
      try StandardOutput.print(address)
      let redirect = opensBrowser ? Self.openBrowser(address, feed) : nil
      defer { redirect?.remove() }
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        BackgroundThread.start {
          continuation.resume(with: Result { try loop() })
        }
      }
      await server.stop()
    }

    // MARK: A world

    private static func walk(_ loop: consuming LiveLoop) throws {
      var pace = Pace(rate: LiveWorld.rate)
      while true {
        try loop.stepWorld()
        pace.wait()
      }
    }

    // MARK: Lines

    /// Lines on their way from the thread that reads them to the engine's.
    private struct Arrivals {
      var lines: [(line: RecordingLine, number: Int)] = []
      var faults = FaultyLines()
      var failure: (any Error)?
      var hasEnded = false
    }

    private static func read(
      _ source: LiveLineSource, _ loop: consuming LiveLoop, _ feed: LiveFeed
    ) throws {
      if isatty(STDIN_FILENO) == 1 {
        Diagnostics.note(
          "JSON lines are read from this terminal; 'nearby live --scenario keys' simulates a walk")
      }
      let arrivals = Locked(Arrivals())
      BackgroundThread.start { Self.parse(source, into: arrivals) }
      var pace = Pace(rate: Double(LiveLoop.stateRate))
      var (ticks, isOpen) = (0, true)
      while true {
        let new = arrivals.withLock { arrivals in
          let new = arrivals
          arrivals.lines.removeAll(keepingCapacity: true)
          return new
        }
        for (line, number) in new.lines {
          do {
            try loop.add(line, at: number)
          } catch let error as RecordingError where error.code == .timeWentBack {
            arrivals.withLock { $0.faults.add(error) }
          }
        }
        if let failure = new.failure { throw failure }
        if new.hasEnded, isOpen {
          isOpen = false
          loop.end()
          if source.exitsAtEnd {
            if let failure = arrivals.withLock({ $0.faults.failure }) { throw failure }
            return
          }
          Diagnostics.note("the input has ended; the page stays until Ctrl-C")
        }
        loop.show()
        ticks += 1
        // Five seconds.
        if ticks % (5 * LiveLoop.stateRate) == 0 { feed.keepAlive() }
        pace.wait()
      }
    }

    /// So many lines wait for the engine at most; then reading waits.
    private static let mostLines = 20_000

    private static func parse(_ source: LiveLineSource, into arrivals: Locked<Arrivals>) {
      var clock = source.speed.map { LineClock(speed: $0) }
      do {
        var reader = try RecordingLineReader(standardInput: "-")
        while true {
          do {
            guard let line = try reader.next() else { break }
            clock?.wait(for: line)
            while arrivals.withLock({ $0.lines.count }) >= mostLines { usleep(5000) }
            arrivals.withLock { $0.lines.append((line, reader.line)) }
          } catch let error where RecordingLineReader.canGoOn(after: error) {
            arrivals.withLock { $0.faults.add(error) }
          }
        }
        for key in reader.unknownKeys.sorted() { Diagnostics.warning("-: \(key) is ignored") }
        arrivals.withLock { $0.hasEnded = true }
      } catch {
        arrivals.withLock { $0.failure = error }
      }
    }

    // MARK: The browser

    /// Leads a browser to the page by a file, which is removed when the page has come.
    private static func openBrowser(_ address: String, _ feed: LiveFeed) -> PrivateFile? {
      let program = ProgramFile.started("xdg-open")
      guard program.contains("/") else {
        Diagnostics.note("there is no xdg-open; open the address in a browser")
        return nil
      }
      let redirect: PrivateFile
      do {
        redirect = try BrowserRedirect.file(to: address)
      } catch {
        Diagnostics.note("\(error); open the address in a browser")
        return nil
      }
      BackgroundThread.start {
        // A browser that starts for the first time may take long.
        for _ in 0..<600 where feed.pageCount == 0 { Pace.sleep(0.1) }
        redirect.remove()
      }
      // The shell ends at once, so that a browser that xdg-open becomes does not end with this program.
      let shell = ["/bin/sh", "-c", #""$1" "$2" &"#, "sh", program, redirect.path]
      _ = try? ChildProcess(shell, output: .none, errors: .none).wait()
      return redirect
    }
  }

  /// Waits so that something happens at a rate; after a long stop it does not catch up.
  struct Pace {
    private let interval: Double
    private var next = Pace.now

    /// Makes a pace.
    ///
    /// - Parameter rate: How often, Hz.
    init(rate: Double) { interval = 1 / rate }

    /// Waits until the next time.
    mutating func wait() {
      next += interval
      let now = Self.now
      if now - next > 0.25 { next = now }
      if next > now { Self.sleep(next - now) }
    }

    /// Seconds on a clock that never goes back.
    static var now: Double {
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) + 1e-9 * Double(time.tv_nsec)
    }

    /// Waits.
    static func sleep(_ seconds: Double) {
      usleep(UInt32(max(0, min(seconds, 1000)) * 1e6))
    }
  }

  /// Lets lines pass at the pace of their times.
  struct LineClock {
    /// The multiple of that pace.
    var speed: Double
    private var start: (time: Timestamp, now: Double)?

    /// Makes a clock.
    init(speed: Double) { self.speed = speed }

    /// Waits until a line is due.
    mutating func wait(for line: RecordingLine) {
      let time: Timestamp
      switch line {
      case .manifest, .truePose, .truePeer: return
      case .pose(let row): time = row.timestamp
      case .range(let row): time = row.timestamp
      case .tracking(let row): time = row.sample.timestamp
      }
      guard let start else {
        start = (time, Pace.now)
        return
      }
      let due = start.now + time.seconds(since: start.time) / speed
      if due > Pace.now { Pace.sleep(due - Pace.now) }
    }
  }
#endif
