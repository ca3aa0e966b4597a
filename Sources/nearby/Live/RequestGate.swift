// SPDX-License-Identifier: Apache-2.0
#if Live
  import NIOCore
  import NearbyLive

  /// Stands before the parser of a connection: lets no more bytes pass than a request may have, and no more time.
  final class RequestGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// A part of a request is too long.
    struct Overflow: Error {
      /// That part.
      let part: RequestMeter.Part
    }

    private let channel: any Channel
    private var meter = RequestMeter()
    private var deadline: Scheduled<Void>?
    /// How many bytes more are dropped; `nil` while requests are taken.
    private var drained: Int?

    /// Makes a gate that is open for a first request.
    init(_ channel: any Channel) { self.channel = channel }

    // MARK: What the connection says

    /// The head of a request has been parsed.
    func endHead() { meter.endHead() }

    /// A request has been parsed as a whole; its answer may take as long as it needs.
    func endRequest() {
      meter.endRequest()
      deadline?.cancel()
    }

    /// The connection waits for its next request.
    func rest() { closeAfter(RequestLimits.idleSeconds) }

    /// Drops what else comes, and closes the connection soon.
    func drain() {
      drained = RequestLimits.drainedBytes
      closeAfter(RequestLimits.drainSeconds)
    }

    private func closeAfter(_ seconds: Int) {
      deadline?.cancel()
      deadline = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds))) { [channel] in
        channel.close(promise: nil)
      }
    }

    // MARK: What comes

    func channelActive(context: ChannelHandlerContext) {
      closeAfter(RequestLimits.requestSeconds)
      context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
      // It would keep the connection in memory.
      deadline?.cancel()
      context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      while bytes.readableBytes > 0, channel.isActive {
        if let drained {
          self.drained = drained - bytes.readableBytes
          if drained < bytes.readableBytes { channel.close(promise: nil) }
          return
        }
        if meter.isAtStart { closeAfter(RequestLimits.requestSeconds) }
        guard let admitted = bytes.readSlice(length: meter.admit(bytes.readableBytes)),
          admitted.readableBytes > 0
        else { return context.fireErrorCaught(Overflow(part: meter.part)) }
        context.fireChannelRead(wrapInboundOut(admitted))
      }
    }
  }
#endif
