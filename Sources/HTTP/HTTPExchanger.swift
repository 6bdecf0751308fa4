import CMicroHTTPD
import Glibc
import Synchronization

/// libmicrohttpd's side of a server: collects bodies within the limits and calls the handler.
final class HTTPExchanger: Sendable {
    /// `@unchecked Sendable`: libmicrohttpd's daemon may be stopped from any thread; it is reached under a lock only.
    struct Daemon: @unchecked Sendable { let handle: OpaquePointer }

    struct Load {
        var requests = 0
        var bodyBytes = 0
        var draining = false
    }

    let limits: HTTPServer.Limits
    let gate: HTTPServer.Gate?
    let handler: HTTPServer.Handler
    let keeper: ConnectionKeeper
    let daemon = Mutex<Daemon?>(nil)
    private let load = Mutex(Load())

    init(limits: HTTPServer.Limits, gate: HTTPServer.Gate?, handler: @escaping HTTPServer.Handler) {
        self.limits = limits
        self.gate = gate
        self.handler = handler
        keeper = ConnectionKeeper(limits: limits)
    }

    /// Waits until no request is in hand, at most so long.
    func drain(seconds: Double) {
        load.withLock { $0.draining = true }
        let deadline = monotonicSeconds() + seconds
        while load.withLock({ $0.requests > 0 }), monotonicSeconds() < deadline { usleep(2000) }
    }

    // MARK: C callbacks. The context is the exchanger, which outlives the daemon; the request's is an `IncomingRequest`,
    // retained from the first call until the completion.

    static let onAccess: MHD_AccessHandlerCallback = {
        context, connection, url, method, _, data, dataCount, requestContext in
        guard let context, let connection, let url, let method, let dataCount, let requestContext else { return .NO }
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        guard let known = requestContext.pointee else {
            let incoming = IncomingRequest(startedAt: monotonicSeconds())
            requestContext.pointee = Unmanaged.passRetained(incoming).toOpaque()
            return exchanger.begin(
                incoming, connection, method: String(cString: method), path: String(cString: url))
        }
        let incoming = Unmanaged<IncomingRequest>.fromOpaque(known).takeUnretainedValue()
        if dataCount.pointee > 0 {
            let chunk = UnsafeRawBufferPointer(start: data, count: dataCount.pointee)
            dataCount.pointee = 0
            return exchanger.receive(chunk, incoming)
        }
        return exchanger.finish(incoming, connection)
    }

    static let onConnection: MHD_NotifyConnectionCallback = { context, connection, _, code in
        guard let context, let connection else { return }
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        let socket = healthbus_http_socket(connection)
        // Told before the socket is closed, so its number can't be another's by then.
        if code == .CONNECTION_NOTIFY_STARTED {
            exchanger.keeper.opened(socket, peer: healthbus_http_peer(connection))
        } else {
            exchanger.keeper.closed(socket)
        }
    }

    static let onCompleted: MHD_RequestCompletedCallback = { context, connection, requestContext, _ in
        guard let context, let requestContext, let known = requestContext.pointee else { return }
        requestContext.pointee = nil
        let incoming = Unmanaged<IncomingRequest>.fromOpaque(known).takeRetainedValue()
        let exchanger = Unmanaged<HTTPExchanger>.fromOpaque(context).takeUnretainedValue()
        exchanger.load.withLock {
            $0.requests -= 1
            $0.bodyBytes -= incoming.reserved
        }
        if let connection { exchanger.keeper.enters(.waiting, healthbus_http_socket(connection)) }
    }

    // MARK: Steps of a request

    private func begin(
        _ incoming: IncomingRequest, _ connection: OpaquePointer, method: String, path: String
    ) -> MHD_Result {
        load.withLock { $0.requests += 1 }
        incoming.request = head(connection, method: method, path: path)
        let socket = healthbus_http_socket(connection)
        if let refusal = gate?(incoming.request) {
            // Its body is read, for an answer before its end may never be seen, but not kept.
            incoming.refuse(refusal)
            keeper.enters(.receiving, socket)
            return .YES
        }
        if gate != nil { keeper.trust(socket) }
        keeper.enters(.receiving, socket)
        guard let field = incoming.request.headers["Content-Length"], let length = Int(field), length >= 0 else {
            return .YES
        }
        // Known to be too much: answered before a byte of the body is read.
        if length > limits.bodyBytes { return queue(.tooLarge(limits.bodyBytes), connection) }
        if !reserve(length, incoming) { return queue(.busy, connection) }
        incoming.request.body.reserveCapacity(length)
        return .YES
    }

    private func head(_ connection: OpaquePointer, method: String, path: String) -> HTTPRequest {
        var request = HTTPRequest(method: method, path: path)
        let pairs = PairCollector()
        let context = Unmanaged.passUnretained(pairs).toOpaque()
        MHD_get_connection_values(connection, .HEADER_KIND, PairCollector.onPair, context)
        for (name, value) in pairs.drain() { request.headers.add(name, value) }
        MHD_get_connection_values(connection, .GET_ARGUMENT_KIND, PairCollector.onPair, context)
        for (name, value) in pairs.drain() { request.query[name] = value }
        return request
    }

    private func receive(_ chunk: UnsafeRawBufferPointer, _ incoming: IncomingRequest) -> MHD_Result {
        incoming.received += chunk.count
        if monotonicSeconds() - incoming.startedAt > Double(limits.requestSeconds) { return .NO }
        if incoming.refusal == nil {
            if incoming.received > limits.bodyBytes {
                incoming.refuse(.tooLarge(limits.bodyBytes))
            } else if incoming.received > incoming.reserved,
                !reserve(incoming.received - incoming.reserved, incoming)
            {
                incoming.refuse(.busy)
            } else {
                incoming.request.body.append(contentsOf: chunk)
            }
        }
        // An answer can only be given at the body's end; one that never ends is cut off.
        return incoming.received > 2 * limits.bodyBytes ? .NO : .YES
    }

    private func finish(_ incoming: IncomingRequest, _ connection: OpaquePointer) -> MHD_Result {
        if let refusal = incoming.refusal { return queue(refusal, connection) }
        keeper.enters(.handling, healthbus_http_socket(connection))
        var request = HTTPRequest(path: "")
        swap(&request, &incoming.request)
        return queue(handler(request), connection)
    }

    private func reserve(_ bytes: Int, _ incoming: IncomingRequest) -> Bool {
        let granted = load.withLock { load in
            guard load.bodyBytes + bytes <= limits.totalBodyBytes else { return false }
            load.bodyBytes += bytes
            return true
        }
        if granted { incoming.reserved += bytes }
        return granted
    }

    private func queue(_ answer: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
        keeper.enters(.answering, healthbus_http_socket(connection))
        let response = answer.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response else { return .NO }
        defer { MHD_destroy_response(response) }
        for field in answer.headers.fields { MHD_add_response_header(response, field.name, field.value) }
        if load.withLock({ $0.draining }) { MHD_add_response_header(response, "Connection", "close") }
        return MHD_queue_response(connection, UInt32(answer.status), response)
    }
}

/// One request while it arrives. libmicrohttpd calls for one connection on one thread only, so it needs no lock.
private final class IncomingRequest {
    let startedAt: Double
    /// Its head, and as much of its body as has come.
    var request = HTTPRequest(path: "")
    var received = 0
    var reserved = 0
    private(set) var refusal: HTTPResponse?

    init(startedAt: Double) { self.startedAt = startedAt }

    func refuse(_ answer: HTTPResponse) {
        refusal = answer
        request.body = []
    }
}

/// Takes name and value pairs from libmicrohttpd's iterator.
private final class PairCollector {
    private var pairs: [(String, String)] = []

    func drain() -> [(String, String)] {
        defer { pairs.removeAll() }
        return pairs
    }

    static let onPair: MHD_KeyValueIterator = { context, _, name, value in
        guard let context, let name else { return .NO }
        let collector = Unmanaged<PairCollector>.fromOpaque(context).takeUnretainedValue()
        collector.pairs.append((String(cString: name), value.map { String(cString: $0) } ?? ""))
        return .YES
    }
}

extension HTTPResponse {
    fileprivate static func tooLarge(_ limit: Int) -> HTTPResponse {
        HTTPResponse(
            status: 413,
            json: Array(
                #"{"error":"the body is larger than \#(limit) bytes","hint":"send fewer elements in one request"}"#.utf8
            ))
    }

    fileprivate static let busy = {
        var answer = HTTPResponse(
            status: 503,
            json: Array(#"{"error":"too many bodies at once","hint":"send it again after Retry-After"}"#.utf8))
        answer.headers["Retry-After"] = "1"
        return answer
    }()
}

func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
