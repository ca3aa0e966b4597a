// SPDX-License-Identifier: Apache-2.0
#if Live
  import NIOHTTP1
  import NearbyLive
  import NearbyRecordings
  import NearbyReport

  /// What the page's server serves, and to whom.
  struct LiveSite: Sendable {
    private let feed: LiveFeed
    private let inbox: LiveInbox
    private let requests: LiveLogRequests
    /// Held while a recording is written, so that two have different numbers.
    private let saving: Locked<LiveSaving>
    private let token = LiveAccess.newToken()
    private let access = Locked<LiveAccess?>(nil)

    /// Makes a site that refuses all until it is opened.
    init(feed: LiveFeed, inbox: LiveInbox, requests: LiveLogRequests, saving: LiveSaving) {
      (self.feed, self.inbox, self.requests) = (feed, inbox, requests)
      self.saving = Locked(saving)
    }

    /// Begins to grant requests.
    ///
    /// - Parameter port: The server's port.
    /// - Returns: The page's address.
    func open(port: UInt16) -> String {
      let access = LiveAccess(token: token, port: port)
      self.access.withLock { $0 = access }
      return access.address
    }

    /// Decides about a request.
    ///
    /// - Parameter head: Its head.
    /// - Returns: Whether and how it is answered.
    func verdict(on head: HTTPRequestHead) -> LiveAccess.Verdict {
      let access = access.withLock { $0 }
      return access?.verdict(
        method: head.method.rawValue,
        path: String(head.uri.prefix { $0 != "?" }),
        host: head.headers["host"].joined(separator: ","),
        origin: head.headers.contains(name: "origin")
          ? head.headers["origin"].joined(separator: ",") : nil) ?? .forbidden
    }

    // MARK: Answers

    /// An answer as a whole.
    struct Answer: Sendable {
      /// Its status.
      var status: HTTPResponseStatus
      /// Its `Content-Type`.
      var type: String
      /// What it holds.
      var body: [UInt8]

      /// Makes an answer.
      init(_ status: HTTPResponseStatus, _ type: String, _ body: [UInt8]) {
        (self.status, self.type, self.body) = (status, type, body)
      }

      /// Makes an answer of a text.
      init(_ status: HTTPResponseStatus, _ type: String, _ text: String = "") {
        self.init(status, type, Array(text.utf8))
      }

      /// Those of every answer, and its type.
      var headers: HTTPHeaders {
        HTTPHeaders(LivePage.headers.map { ($0, $1) } + [("Content-Type", type)])
      }
    }

    /// Answers a request at once, other than for events or for saving.
    ///
    /// - Parameters:
    ///   - verdict: What was decided about it.
    ///   - body: Its body.
    /// - Returns: The answer.
    func answer(to verdict: LiveAccess.Verdict, _ body: [UInt8]) -> Answer {
      switch verdict {
      case .unknown: return Answer(.notFound, "text/plain", "no such thing\n")
      case .wrongMethod: return Answer(.methodNotAllowed, "text/plain", "not so\n")
      case .granted(.file(let file)): return Answer(.ok, file.contentType, file.bytes)
      case .granted(.input):
        guard let input = LiveInput(body) else {
          return Answer(.badRequest, "text/plain", "no input\n")
        }
        return Answer(inbox.put(input) ? .noContent : .tooManyRequests, "text/plain")
      case .forbidden, .granted(.events), .granted(.save):
        return Answer(.forbidden, "text/plain", "refused\n")
      }
    }

    /// Begins to hand events to a page.
    func events() -> LiveFeed.Subscription { feed.join() }

    /// A copy of what has come in, once the engine's thread gives it.
    func log() async -> LiveLog { await requests.log() }

    /// Saves what has come in; takes time.
    ///
    /// - Parameter log: What has come in.
    /// - Returns: The answer, with the folder or what was wrong.
    func save(_ log: LiveLog) -> Answer {
      saving.withLock { saving in
        do throws(RecordingError) {
          let path = try saving.save(log)
          Diagnostics.note("saved \(path)")
          return Answer(.ok, "application/json", Self.object("folder", path))
        } catch {
          Diagnostics.error(error.description)
          return Answer(
            .internalServerError, "application/json", Self.object("error", error.description))
        }
      }
    }

    /// A JSON object of one string.
    private static func object(_ key: String, _ value: String) -> [UInt8] {
      var json = JSONText()
      json.object { $0.member(key, value) }
      return Array(json.text.bytes)
    }
  }
#endif
