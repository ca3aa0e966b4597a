// SPDX-License-Identifier: Apache-2.0
#if Live
  import Glibc
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NearbyLive
  import NearbyRecordings

  /// The page's server on the loopback interface.
  ///
  /// One thread reads, parses and answers; nothing on it waits. ``RequestGate`` counts what comes before it is
  /// parsed, ``LiveConnection`` answers, ``LiveSite`` knows the answers.
  struct LiveServer: Sendable {
    private let site: LiveSite
    private let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let listener = Locked<(any Channel)?>(nil)

    /// Makes a server that is not started.
    init(feed: LiveFeed, inbox: LiveInbox, requests: LiveLogRequests, saving: LiveSaving) {
      site = LiveSite(feed: feed, inbox: inbox, requests: requests, saving: saving)
    }

    /// Starts listening at a port that the system chooses.
    ///
    /// - Returns: The page's address.
    /// - Throws: When the port cannot be had.
    func start() async throws -> String {
      let (site, roster) = (site, Locked(ConnectionRoster<any Channel>(capacity: Self.capacity)))
      let bootstrap = ServerBootstrap(group: threads)
        // The most that the system allows: a caller that finds the queue full tries again after a second.
        .serverChannelOption(.backlog, value: 4096)
        // Few in comparison with the places: who comes is read before others take the place.
        .serverChannelOption(.maxMessagesPerRead, value: 16)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            // Without descriptors it waits instead of trying again at once.
            try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
          }
        }
        // Little at a time of each, so that all have their turn soon.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        .childChannelOption(
          .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096)
        )
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try LiveConnection.serve(site, over: channel, in: roster)
          }
        }
      let channel: any Channel
      do {
        channel = try await bootstrap.bind(to: SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
      } catch {
        throw CommandFailure(
          .internalError,
          "the page's server cannot listen on 127.0.0.1 (\(error)); is the loopback interface up?")
      }
      listener.withLock { $0 = channel }
      guard let port = channel.localAddress?.port.flatMap(UInt16.init(exactly:)) else {
        throw CommandFailure(.internalError, "the page's server does not tell its port")
      }
      return site.open(port: port)
    }

    /// Stops, after the pages have had a moment to take what was sent last.
    func stop() async {
      try? await listener.withLock { $0 }?.close().get()
      try? await Task.sleep(for: .milliseconds(200))
      try? await threads.shutdownGracefully()
    }

    /// A quarter of the descriptors that this process may have, where that is less than the usual number.
    private static var capacity: Int {
      var limit = rlimit()
      guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
        return RequestLimits.connections
      }
      return max(8, Int(min(limit.rlim_cur / 4, rlim_t(RequestLimits.connections))))
    }
  }
#endif
