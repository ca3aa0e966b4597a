// SPDX-License-Identifier: Apache-2.0
#if Live
  import FlyingFox
  import FlyingSocks
  import FoundationEssentials
  import Glibc
  import NearbyLive
  import NearbyRecordings
  import NearbyReport

  /// The page's server on the loopback interface.
  struct LiveServer: Sendable {
    private let handler: LiveHandler
    private let server: HTTPServer
    private let task = Locked<Task<Void, any Error>?>(nil)

    /// Makes a server that is not started.
    init(feed: LiveFeed, inbox: LiveInbox, requests: LiveLogRequests, saving: LiveSaving) {
      handler = LiveHandler(feed: feed, inbox: inbox, requests: requests, saving: saving)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      server = HTTPServer(
        config: .init(address: address, timeout: 60, logger: .disabled), handler: handler)
    }

    /// Starts listening at a port that the system chooses.
    ///
    /// - Returns: The page's address.
    /// - Throws: When the port cannot be had.
    func start() async throws -> String {
      let running = Task { try await server.run() }
      task.withLock { $0 = running }
      do {
        try await server.waitUntilListening()
      } catch {
        throw CommandFailure(
          .internalError,
          "the page's server cannot listen on 127.0.0.1 (\(error)); is the loopback interface up?")
      }
      guard case .ip4(_, let port)? = await server.listeningAddress else {
        throw CommandFailure(.internalError, "the page's server does not tell its port")
      }
      return handler.open(port: port)
    }

    /// Stops.
    func stop() async {
      await server.stop(timeout: 0.2)
      task.withLock { $0?.cancel() }
    }
  }

  /// Answers requests.
  private struct LiveHandler: HTTPHandler {
    let feed: LiveFeed
    let inbox: LiveInbox
    let requests: LiveLogRequests
    let saving: LiveSaving
    private let token = LiveAccess.newToken()
    private let access = Locked<LiveAccess?>(nil)

    init(feed: LiveFeed, inbox: LiveInbox, requests: LiveLogRequests, saving: LiveSaving) {
      self.feed = feed
      self.inbox = inbox
      self.requests = requests
      self.saving = saving
    }

    func open(port: UInt16) -> String {
      let access = LiveAccess(token: token, port: port)
      self.access.withLock { $0 = access }
      return access.address
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
      let verdict = access.withLock {
        $0?.verdict(
          method: request.method.rawValue, path: request.target.path(),
          host: request.headers[.host],
          origin: request.headers[HTTPHeader("Origin")])
      }
      switch verdict ?? .forbidden {
      case .forbidden: return answer(.forbidden, "text/plain", "refused\n")
      case .unknown: return answer(.notFound, "text/plain", "no such thing\n")
      case .wrongMethod: return answer(.methodNotAllowed, "text/plain", "not so\n")
      case .granted(.file(let file)):
        return answer(.ok, file.contentType, Data(file.bytes))
      case .granted(.events):
        return answer(
          .ok, "text/event-stream", HTTPBodySequence(from: LiveEvents(events: feed.join())))
      case .granted(.input):
        guard let body = await body(of: request), let input = LiveInput(body) else {
          return answer(.badRequest, "text/plain", "no input\n")
        }
        return answer(inbox.put(input) ? .noContent : .tooManyRequests, "text/plain", Data())
      case .granted(.save): return await save()
      }
    }

    private static let longestBody = 4096

    /// The request's body; `nil` when it is too long.
    private func body(of request: HTTPRequest) async -> [UInt8]? {
      guard request.bodySequence.count ?? 0 <= Self.longestBody else { return nil }
      var body: [UInt8] = []
      do {
        for try await chunk in request.bodySequence {
          body += chunk
          if body.count > Self.longestBody { return nil }
        }
      } catch { return nil }
      return body
    }

    private func save() async -> HTTPResponse {
      let log = await requests.log()
      do {
        let path = try saving.save(log)
        Diagnostics.note("saved \(path)")
        return answer(.ok, "application/json", Self.object("folder", path))
      } catch {
        Diagnostics.error(error.description)
        return answer(
          .internalServerError, "application/json", Self.object("error", error.description))
      }
    }

    /// A JSON object of one string.
    private static func object(_ key: String, _ value: String) -> Data {
      var json = JSONText()
      json.object { $0.member(key, value) }
      return Data(json.text.bytes)
    }

    private func answer(_ status: HTTPStatusCode, _ type: String, _ text: String) -> HTTPResponse {
      answer(status, type, Data(text.utf8))
    }

    private func answer(_ status: HTTPStatusCode, _ type: String, _ data: Data) -> HTTPResponse {
      answer(status, type, HTTPBodySequence(data: data, suggestedBufferSize: 65_536))
    }

    private func answer(
      _ status: HTTPStatusCode, _ type: String, _ body: HTTPBodySequence
    ) -> HTTPResponse {
      var headers = HTTPHeaders()
      for (name, value) in LivePage.headers { headers[HTTPHeader(name)] = value }
      headers[.contentType] = type
      return HTTPResponse(statusCode: status, headers: headers, body: body)
    }
  }

  /// A page's events as the server sends them: each in a piece.
  private struct LiveEvents: AsyncBufferedSequence {
    typealias Element = UInt8

    let events: LiveFeed.Subscription

    func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    struct Iterator: AsyncBufferedIteratorProtocol {
      var events: LiveFeed.Subscription.Iterator

      /// The server never asks for single bytes.
      mutating func next() async -> UInt8? { nil }

      mutating func nextBuffer(suggested count: Int) async -> [UInt8]? { await events.next() }
    }
  }
#endif
