import CMicroHTTPD
import Glibc
import Synchronization

/// The side of a server that faces libmicrohttpd: it receives bodies within the limits and calls the handler.
final class HTTPExchanger: Sendable {
    /// `@unchecked Sendable`: libmicrohttpd's daemon may be stopped from any thread; it is only accessed under a lock.
    struct Daemon: @unchecked Sendable { let handle: OpaquePointer }

    struct Load {
        var requests = 0
        var bodyBytes = 0
        var streams = 0
        /// The open event streams.
        var events: [ObjectIdentifier: EventStream] = [:]
        var draining = false
    }

    let limits: HTTPServer.Limits
    let admission: HTTPAdmission
    let handler: HTTPServer.Handler
    let keeper: ConnectionKeeper
    /// nil for plain HTTP.
    let certificates: TLSCertificates?
    let daemon = Mutex<Daemon?>(nil)
    let load = Mutex(Load())

    init(
        limits: HTTPServer.Limits, admission: HTTPAdmission, certificates: TLSCertificates?,
        handler: @escaping HTTPServer.Handler
    ) {
        (self.limits, self.admission, self.certificates, self.handler) = (limits, admission, certificates, handler)
        keeper = ConnectionKeeper(limits: limits)
    }

    /// Starts libmicrohttpd's threads on a listening socket; nil when that fails.
    func start(_ listener: ListeningSocket, connections: Int) -> Daemon? {
        var options = healthbus_http_options()
        options.listener = listener.descriptor
        options.threads = UInt32(limits.threads)
        options.connections = UInt32(connections)
        options.idle_seconds = UInt32(limits.idleSeconds)
        options.header_bytes = limits.headerBytes
        options.certificate_chain = certificates?.chain
        options.key = certificates?.key
        options.handler = Self.onAccess
        options.completed = Self.onCompleted
        options.connected = Self.onConnection
        options.accepts = Self.onArrival
        options.context = Unmanaged.passUnretained(self).toOpaque()
        return healthbus_http_start(&options).map(Daemon.init)
    }

    /// Waits until no request is being handled or the given time has passed.
    func drain(seconds: Double) {
        let events = load.withLock { load in
            load.draining = true
            return Array(load.events.values)
        }
        // Event streams would never end on their own, and a suspended connection can't be stopped, so they are ended
        // here.
        for stream in events { stream.end() }
        let deadline = monotonicSeconds() + seconds
        while load.withLock({ $0.requests > 0 }), monotonicSeconds() < deadline { usleep(2000) }
    }

    // MARK: C callbacks. The context is the exchanger, which outlives the daemon; a request's context is an
    // `IncomingRequest`, retained from the first call until completion.

    static let onAccess: MHD_AccessHandlerCallback = {
        context, connection, url, method, version, data, dataCount, requestContext in
        guard let context, let connection, let url, let method, let dataCount, let requestContext else { return .NO }
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        guard let known = requestContext.pointee else {
            let incoming = IncomingRequest(startedAt: monotonicSeconds())
            requestContext.pointee = Unmanaged.passRetained(incoming).toOpaque()
            exchanger.load.withLock { $0.requests += 1 }
            do throws(HTTPRefusal) {
                let head = try RequestHead(connection, method: method, path: url, version: version)
                return exchanger.begin(incoming, head, connection)
            } catch {
                return exchanger.queue(error.answer, connection)
            }
        }
        let incoming = Unmanaged<IncomingRequest>.fromOpaque(known).takeUnretainedValue()
        if dataCount.pointee > 0 {
            let chunk = UnsafeRawBufferPointer(start: data, count: dataCount.pointee)
            dataCount.pointee = 0
            return exchanger.receive(chunk, incoming)
        }
        return exchanger.finish(incoming, connection)
    }

    /// While the server stops, new connections are closed at once. `MHD_quiesce_daemon` would leave them unaccepted, but
    /// it ends the whole process when one of the server's threads removes the listening socket from its epoll set at
    /// the same moment (libmicrohttpd 0.9.75).
    static let onArrival: MHD_AcceptPolicyCallback = { context, _, _ in
        guard let context else { return .NO }
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        return exchanger.load.withLock { $0.draining } ? .NO : .YES
    }

    static let onConnection: MHD_NotifyConnectionCallback = { context, connection, _, code in
        guard let context, let connection else { return }
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        let socket = healthbus_http_socket(connection)
        // This is called before the socket is closed, so its number can't belong to another socket yet.
        if code == .CONNECTION_NOTIFY_STARTED {
            exchanger.keeper.opened(socket, peer: healthbus_http_peer(connection))
            // The connection's TLS session has been created, but its handshake hasn't begun.
            if let session = healthbus_http_session(connection) { exchanger.certificates?.show(in: session) }
        } else {
            exchanger.keeper.closed(socket)
        }
    }

    static let onCompleted: MHD_RequestCompletedCallback = { context, connection, requestContext, _ in
        guard let context, let requestContext, let known = requestContext.pointee else { return }
        requestContext.pointee = nil
        let incoming = Unmanaged<IncomingRequest>.fromOpaque(known).takeRetainedValue()
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        incoming.abandon()
        exchanger.release(incoming)
        exchanger.load.withLock {
            $0.requests -= 1
            if incoming.isStreamed { $0.streams -= 1 }
        }
        if let connection { exchanger.keeper.enters(.waiting, healthbus_http_socket(connection)) }
    }
}

func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
