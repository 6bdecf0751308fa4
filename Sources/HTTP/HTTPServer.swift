import CMicroHTTPD
import Glibc
import Synchronization

/// An HTTP server on libmicrohttpd, with its own threads; every resource it uses is bounded.
///
/// The handler is synchronous and is called on the server's threads, up to `Limits.threads` of them at once. A body is
/// collected completely before the handler sees it, unless `admission` sends it elsewhere.
///
/// The following are answered with 400 before anything else, because two readers could understand them differently: a
/// URL that isn't percent-encoded UTF-8, a body's length given twice, and HTTP/1.1 without exactly one Host.
package final class HTTPServer: Sendable {
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse
    /// Checks a request's head before its body arrives. Returns the answer for a caller who isn't let in, and nil for
    /// one who is.
    package typealias Gate = @Sendable (HTTPRequest) -> HTTPResponse?

    /// The resources that one server may use.
    package struct Limits: Sendable {
        package var threads = 2
        /// When all connections are in use, the oldest one that is waiting or sending a body and hasn't yet been let in
        /// gives way to a new one; failing that, the oldest that is waiting; failing that, the new one is closed.
        package var connections = 64
        /// The maximum number of connections from one address; beyond that, one of that address's gives way in the same
        /// manner.
        package var connectionsPerAddress = 48
        /// The maximum size of one body, in bytes; a longer body is answered with 413.
        package var bodyBytes = 8 << 20
        /// The maximum total size of all bodies being received or handled, in bytes; a request beyond that is answered
        /// with 503 and Retry-After.
        package var totalBodyBytes = 24 << 20
        /// The size of a connection's buffer, in bytes; the request line and headers must fit into it (otherwise 414 or
        /// 431).
        package var headerBytes = 32 << 10
        /// A new connection whose first request's head isn't complete within this time is closed, even if bytes keep
        /// trickling in.
        package var headSeconds = 10
        /// A connection on which no byte arrives for this long is closed. So is a connection that has been answered and
        /// hasn't sent the whole head of another request within this time.
        package var idleSeconds = 30
        /// A request that hasn't arrived completely within this time is cut off, even if bytes keep trickling in.
        package var requestSeconds = 120
        /// An answer that hasn't been read within this time is cut off.
        package var answerSeconds = 120
        /// How many bodies may be streamed at once; a request beyond that is answered with 503 and Retry-After.
        package var streams = 8
        /// A streamed body that hasn't arrived completely within this time is cut off.
        package var streamSeconds = 3600
        /// How many event streams (`EventStream`) may be open at once; a request beyond that is answered with 503 and
        /// Retry-After. A reader who takes nothing for `idleSeconds` while something is waiting is cut off.
        package var eventStreams = 32
        /// The maximum ratio of a compressed body's inflated size to its sent size (1 MiB is always allowed); a request
        /// beyond that is answered with 413.
        package var inflationRatio = 200

        package init() {}
    }

    /// The actual port, even when 0 was requested.
    package let port: Int
    package let host: String
    private let exchange: HTTPExchanger

    /// Listens and serves at once.
    /// - Parameters:
    ///   - host: an IP address or a name; loopback by default.
    ///   - port: 0 takes any free port.
    ///   - portTries: how many ports to try, from `port` up, as long as they are in use; the property `port` holds the
    ///     chosen one.
    ///   - tls: the server's identity; nil for plain HTTP. The TLS version is 1.2 or newer.
    ///   - gate: callers whom it doesn't let in get its answer, and no memory for a body. Without a gate every caller
    ///     is let in, and none has priority over others. Bodies are accepted as sent, compressed or not.
    /// - Throws: `HTTPError` when the address isn't available, or `tls` can't be used.
    package convenience init(
        host: String = "127.0.0.1", port: Int = 0, portTries: Int = 1, limits: Limits = Limits(),
        tls: TLSIdentity? = nil, gate: Gate? = nil, handler: @escaping Handler
    ) throws {
        try self.init(
            host, port, portTries, limits, tls, gate.map { .gate($0) } ?? .all, handler)
    }

    /// As above, but `admission` decides for each request what happens to its body.
    /// - Parameter admission: called once the head of a request has arrived; callers that it lets in have priority over
    ///   strangers.
    /// - Parameter handler: answers those for whom `admission` gives no answer.
    package convenience init(
        host: String = "127.0.0.1", port: Int = 0, portTries: Int = 1, limits: Limits = Limits(),
        tls: TLSIdentity? = nil, admission: @escaping Admit,
        handler: @escaping Handler = { _ in HTTPResponse(status: 404) }
    ) throws {
        try self.init(host, port, portTries, limits, tls, .full(admission), handler)
    }

    private init(
        _ host: String, _ port: Int, _ portTries: Int, _ limits: Limits, _ tls: TLSIdentity?,
        _ admission: HTTPAdmission, _ handler: @escaping Handler
    ) throws {
        let certificates = try tls.map { try TLSCertificates($0) }
        guard certificates == nil || healthbus_http_has_tls() != 0 else {
            throw HTTPError(
                .tls, endpoint: "\(host):\(port)", detail: "this machine's libmicrohttpd was built without TLS",
                hint: "install Debian's libmicrohttpd, or put a proxy that speaks TLS before this server")
        }
        let listener = try ListeningSocket(host: host, port: port, tries: portTries)
        exchange = HTTPExchanger(
            limits: limits, admission: admission, certificates: certificates, handler: handler)
        self.host = host
        self.port = listener.port
        // libmicrohttpd's own limit, divided among its threads, is set too high to be reached, because beyond that
        // limit it would leave new connections waiting, whoever they are.
        let ceiling = (limits.connections + Self.leaving) * limits.threads
        guard let started = exchange.start(listener, connections: ceiling) else {
            close(listener.descriptor)
            throw HTTPError(
                .cannotListen, endpoint: "\(host):\(listener.port)", detail: "the HTTP server didn't start",
                hint: "check the limits on threads and open files (ulimit -u, ulimit -n)")
        }
        exchange.daemon.withLock { $0 = started }
        exchange.keeper.start()
    }

    /// Shows a different certificate to anyone who connects from now on, for example after a renewal (`TLSFiles`). Open
    /// connections keep theirs.
    /// - Throws: `HTTPError` when the certificate can't be used, or the server speaks plain HTTP; the previous one is
    ///   kept.
    package func renew(_ identity: TLSIdentity) throws(HTTPError) {
        guard let certificates = exchange.certificates else {
            throw HTTPError(
                .tls, endpoint: "\(host):\(port)", detail: "this server speaks plain HTTP",
                hint: "start it with a certificate")
        }
        try certificates.renew(identity)
    }

    /// Additional room for connections that were asked to close and haven't closed yet.
    private static let leaving = 32

    deinit { stop(drainSeconds: 0) }

    /// Accepts no new connection, lets current requests finish within `drainSeconds`, then closes. Works only once;
    /// later calls do nothing.
    package func stop(drainSeconds: Double = 5) {
        guard let daemon = exchange.daemon.withLock({ $0.take() }) else { return }
        exchange.drain(seconds: drainSeconds)
        MHD_stop_daemon(daemon.handle)
        exchange.keeper.stop()
    }
}
