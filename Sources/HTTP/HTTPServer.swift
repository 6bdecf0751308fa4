import CMicroHTTPD
import Glibc
import Synchronization

/// An HTTP server on libmicrohttpd with its own threads, every resource bounded.
///
/// The handler is synchronous and is called on the server's threads, on as many at once as `Limits.threads`. A body is
/// collected whole before the handler sees it.
package final class HTTPServer: Sendable {
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse
    /// Looks at a request's head before its body arrives: the answer for a caller who isn't let in, nil for one who is.
    package typealias Gate = @Sendable (HTTPRequest) -> HTTPResponse?

    /// What one server may use.
    package struct Limits: Sendable {
        package var threads = 2
        /// When they are taken, the oldest one that waits and hasn't shown that it is let in gives way to a new one.
        package var connections = 64
        /// Of these so many from one address; one more takes the place of the same address's oldest.
        package var connectionsPerAddress = 48
        /// Bytes of one body; a longer one is answered 413.
        package var bodyBytes = 8 << 20
        /// Bytes of all bodies being received or handled; beyond it a request is answered 503 with Retry-After.
        package var totalBodyBytes = 24 << 20
        /// Bytes of a connection's buffer: request line and headers must fit in (else 414 or 431).
        package var headerBytes = 32 << 10
        /// A new connection whose first request's head isn't whole by then is closed, however busily it trickles.
        package var headSeconds = 10
        /// A connection without a byte for so long is closed; one that has been answered also when no other request's
        /// head is whole by then.
        package var idleSeconds = 30
        /// A request that hasn't arrived whole by then is cut off, however busily it trickles.
        package var requestSeconds = 120
        /// An answer that isn't taken by then is cut off.
        package var answerSeconds = 120

        package init() {}
    }

    /// The real port, also when 0 was asked for.
    package let port: Int
    package let host: String
    private let exchange: HTTPExchanger

    /// Listens and serves at once.
    /// - Parameters:
    ///   - host: an IP address or a name; loopback unless told otherwise.
    ///   - port: 0 takes any free port.
    ///   - gate: who isn't let in gets its answer, and no memory for a body. Without one everybody is let in, and nobody
    ///     is preferred to others.
    /// - Throws: `HTTPError` when the address can't be had.
    package init(
        host: String = "127.0.0.1", port: Int = 0, limits: Limits = Limits(), gate: Gate? = nil,
        handler: @escaping Handler
    ) throws {
        let listener = try ListeningSocket(host: host, port: port)
        exchange = HTTPExchanger(limits: limits, gate: gate, handler: handler)
        self.host = host
        self.port = listener.port
        // libmicrohttpd's own limit, divided among its threads, is out of reach: beyond it, it would leave new
        // connections waiting, whoever they are.
        let ceiling = (limits.connections + Self.leaving) * limits.threads
        let started = healthbus_http_start(
            listener.descriptor, UInt32(limits.threads), UInt32(ceiling), UInt32(limits.idleSeconds),
            limits.headerBytes, HTTPExchanger.onAccess, HTTPExchanger.onCompleted, HTTPExchanger.onConnection,
            Unmanaged.passUnretained(exchange).toOpaque())
        guard let started else {
            close(listener.descriptor)
            throw HTTPError(
                .cannotListen, endpoint: "\(host):\(listener.port)", detail: "the HTTP server didn't start",
                hint: "check the limits on threads and open files (ulimit -u, ulimit -n)")
        }
        exchange.daemon.withLock { $0 = HTTPExchanger.Daemon(handle: started) }
        exchange.keeper.start()
    }

    /// Connections that have been told to go and aren't gone yet.
    private static let leaving = 32

    deinit { stop(drainSeconds: 0) }

    /// Takes no new connection, lets requests in hand finish within `drainSeconds`, then closes. Once; later calls do nothing.
    package func stop(drainSeconds: Double = 5) {
        guard let daemon = exchange.daemon.withLock({ $0.take() }) else { return }
        let listener = MHD_quiesce_daemon(daemon.handle)
        exchange.drain(seconds: drainSeconds)
        MHD_stop_daemon(daemon.handle)
        exchange.keeper.stop()
        // After quiescing the socket is ours again.
        if listener >= 0 { close(listener) }
    }
}
