// SPDX-License-Identifier: Apache-2.0
#if Live
  import NIOCore
  import NIOHTTP1
  import NearbyLive
  import NearbyRecordings

  /// Answers the requests of a connection, one after the other.
  final class LiveConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The connections of a server.
    typealias Roster = Locked<ConnectionRoster<any Channel>>

    private enum State {
      /// A request may come.
      case waiting
      /// The head has come; the body is coming.
      case receiving(HTTPRequestHead, LiveAccess.Verdict, body: [UInt8])
      /// The answer takes time.
      case answering
      /// The last answer has been given.
      case finished
    }

    private let site: LiveSite
    private let channel: any Channel
    private let gate: RequestGate
    private let roster: Roster
    private let number: Int
    private var state = State.waiting
    /// What sends events, or waits for what is saved.
    private var task: Task<Void, Never>?

    private init(
      _ site: LiveSite, _ channel: any Channel, _ gate: RequestGate, _ roster: Roster, _ number: Int
    ) {
      (self.site, self.channel, self.gate) = (site, channel, gate)
      (self.roster, self.number) = (roster, number)
    }

    /// Serves a new connection.
    ///
    /// - Parameters:
    ///   - site: What is served.
    ///   - channel: The connection; this is called on its thread.
    ///   - roster: The connections of the server; if there are too many, one is closed.
    /// - Throws: When the connection has already ended.
    static func serve(_ site: LiveSite, over channel: any Channel, in roster: Roster) throws {
      let (number, evicted) = roster.withLock { $0.enter(channel) }
      channel.closeFuture.whenComplete { _ in roster.withLock { $0.leave(number) } }
      evicted?.close(promise: nil)
      let gate = RequestGate(channel)
      // The gate has counted all bytes, so the parser's own limits come second.
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = RequestLimits.headBytes
      limits.maxHeaderListSize = RequestLimits.headBytes
      let decoder = HTTPRequestDecoder(
        leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(gate)
      try pipeline.addHandler(HTTPResponseEncoder())
      try pipeline.addHandler(ByteToMessageHandler(decoder))
      try pipeline.addHandler(LiveConnection(site, channel, gate, roster, number))
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch (state, unwrapInboundIn(data)) {
      case (.waiting, .head(let head)): begin(head, context)
      case (.receiving(let head, let verdict, var body), .body(let bytes)):
        // The array must have one owner to grow in its place.
        state = .waiting
        guard body.count + bytes.readableBytes <= RequestLimits.bodyBytes else {
          return refuse(.payloadTooLarge, context)
        }
        body += bytes.readableBytesView
        state = .receiving(head, verdict, body: body)
      case (.receiving(let head, let verdict, let body), .end):
        gate.endRequest()
        answer(head, verdict, body, context)
      // Nobody asks again before the answer, and a queue would need a limit of its own.
      case (.answering, _): channel.close(promise: nil)
      case (.waiting, _), (.receiving, .head), (.finished, _): break
      }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
      gate.endHead()
      let verdict = site.verdict(on: head)
      if verdict != .forbidden { roster.withLock { $0.trust(number) } }
      let length = head.headers["content-length"].compactMap { Int($0) }.max() ?? 0
      guard length <= RequestLimits.bodyBytes else { return refuse(.payloadTooLarge, context) }
      state = .receiving(head, verdict, body: [])
    }

    private func answer(
      _ head: HTTPRequestHead, _ verdict: LiveAccess.Verdict, _ body: [UInt8],
      _ context: ChannelHandlerContext
    ) {
      let isLast = verdict == .forbidden || !head.isKeepAlive
      switch verdict {
      case .granted(.events): stream(context)
      case .granted(.save): save(isLast: isLast, context)
      default: write(site.answer(to: verdict, body), isLast: isLast, context)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      switch (state, error) {
      case (.finished, is RequestGate.Overflow), (.finished, is HTTPParserError): break
      case (.waiting, let error as RequestGate.Overflow),
        (.receiving, let error as RequestGate.Overflow):
        refuse(error.part == .head ? .requestHeaderFieldsTooLarge : .payloadTooLarge, context)
      case (.waiting, HTTPParserError.headerOverflow):
        refuse(.requestHeaderFieldsTooLarge, context)
      case (.waiting, is HTTPParserError), (.receiving, is HTTPParserError):
        refuse(.badRequest, context)
      default: channel.close(promise: nil)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      task?.cancel()
      context.fireChannelInactive()
    }

    // MARK: Answers

    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
      write(
        LiveSite.Answer(status, "text/plain", "\(status.reasonPhrase.lowercased())\n"),
        isLast: true, context)
    }

    private func write(
      _ answer: LiveSite.Answer, isLast: Bool, _ context: ChannelHandlerContext
    ) {
      var headers = answer.headers
      headers.add(name: "Connection", value: isLast ? "close" : "keep-alive")
      // An answer without content has no length either.
      if answer.status != .noContent {
        headers.add(name: "Content-Length", value: "\(answer.body.count)")
      }
      let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      if !answer.body.isEmpty {
        context.write(
          wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      if isLast {
        state = .finished
        gate.drain()
        // After what was written.
        context.close(mode: .output, promise: nil)
      } else {
        state = .waiting
        gate.rest()
      }
    }

    private func save(isLast: Bool, _ context: ChannelHandlerContext) {
      state = .answering
      let (site, loop) = (site, channel.eventLoop)
      let here = NIOLoopBound((connection: self, context: context), eventLoop: loop)
      task = Task {
        let log = await site.log()
        // On a thread of its own: writing files takes time.
        BackgroundThread.start {
          let answer = site.save(log)
          loop.execute {
            let (connection, context) = here.value
            guard connection.channel.isActive else { return }
            connection.write(answer, isLast: isLast, context)
          }
        }
      }
    }

    private func stream(_ context: ChannelHandlerContext) {
      state = .answering
      let head = HTTPResponseHead(
        version: .http1_1, status: .ok, headers: LiveSite.Answer(.ok, "text/event-stream").headers)
      context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
      task = Task { [channel, events = site.events()] in
        do {
          for await event in events {
            // The next one is taken when the system has this one, so a page that does not read loses states.
            let stalled = channel.eventLoop.scheduleTask(
              in: .seconds(Int64(RequestLimits.stalledSeconds))
            ) { channel.close(promise: nil) }
            defer { stalled.cancel() }
            let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: event)))
            try await channel.writeAndFlush(part)
          }
          try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        } catch {
          // The page is gone.
        }
        channel.close(promise: nil)
      }
    }
  }
#endif
