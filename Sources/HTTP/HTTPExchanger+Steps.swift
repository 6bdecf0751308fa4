import CMicroHTTPD
import Synchronization

/// Decides what happens to a request when its head has arrived.
enum HTTPAdmission {
    /// Every caller is let in; bodies are accepted as sent.
    case all
    /// Callers that get no answer from the gate are let in; bodies are accepted as sent.
    case gate(HTTPServer.Gate)
    case full(HTTPServer.Admit)

    /// Whether strangers are distinguished from callers that were let in.
    var distinguishesStrangers: Bool {
        if case .all = self { return false }
        return true
    }
}

/// The steps of handling a request: its head, the pieces of its body, and its end.
extension HTTPExchanger {
    func begin(_ incoming: IncomingRequest, _ head: RequestHead, _ connection: OpaquePointer) -> MHD_Result {
        incoming.request = head.request
        incoming.limit = limits.bodyBytes
        incoming.seconds = limits.requestSeconds
        do throws(HTTPRefusal) {
            let inflates = try admit(incoming)
            let socket = healthbus_http_socket(connection)
            if admission.distinguishesStrangers { keeper.trust(socket) }
            try open(incoming, head, inflates: inflates)
            keeper.enters(incoming.stream == nil ? .receiving : .streaming, socket)
            return .YES
        } catch {
            return refuse(error, incoming, head, connection)
        }
    }

    /// - Returns: whether its body is inflated.
    private func admit(_ incoming: IncomingRequest) throws(HTTPRefusal) -> Bool {
        switch admission {
        case .all: return false
        case .gate(let gate):
            if let refusal = gate(incoming.request) { throw HTTPRefusal(refusal) }
            return false
        case .full(let admit):
            switch admit(incoming.request) {
            case .refuse(let refusal): throw HTTPRefusal(refusal)
            case .collect(let limit, let answer):
                incoming.limit = limit ?? limits.bodyBytes
                incoming.handler = answer
            case .stream(let stream):
                guard
                    load.withLock({ load in
                        guard load.streams < limits.streams else { return false }
                        load.streams += 1
                        return true
                    })
                else {
                    stream.receiver.abandon()
                    throw .busy
                }
                incoming.open(stream)
                incoming.limit = stream.limit
                incoming.seconds = limits.streamSeconds
            }
            return true
        }
    }

    /// Makes room for a body of known length, before any of it is read.
    private func open(_ incoming: IncomingRequest, _ head: RequestHead, inflates: Bool) throws(HTTPRefusal) {
        let coding = inflates ? try ContentCoding.of(head.request.headers) : nil
        if let length = head.contentLength {
            guard length <= incoming.limit else { throw .tooLarge(incoming.limit) }
            if coding == nil, incoming.stream == nil {
                guard reserve(length, incoming) else { throw .busy }
                incoming.request.body.reserveCapacity(length)
            }
        }
        if let coding { incoming.inflater = try BodyInflater(coding, ratio: limits.inflationRatio) }
    }

    /// Refuses at once if the body isn't being sent yet, is far too long, or would exceed the total allowed for all
    /// bodies; the connection then ends. Otherwise the body is first read but not kept, since a client may never see an
    /// answer that is sent before the body's end. A body less than twice as long as allowed is also read: its sender
    /// must learn to send less, and a client that waits for `100 Continue` stops waiting after a second, which a busy
    /// machine easily exceeds.
    private func refuse(
        _ refusal: HTTPRefusal, _ incoming: IncomingRequest, _ head: RequestHead, _ connection: OpaquePointer
    ) -> MHD_Result {
        incoming.refuse(refusal.answer)
        let length = head.contentLength ?? 0
        let isSlightlyTooLong =
            refusal.answer.status == 413 && length > limits.bodyBytes && length <= 2 * limits.bodyBytes
        if !isSlightlyTooLong,
            length > limits.bodyBytes || refusal == .busy && head.contentLength != nil || head.waitsForContinue
        {
            return queue(refusal.answer, connection)
        }
        keeper.enters(.receiving, healthbus_http_socket(connection))
        return .YES
    }

    func receive(_ chunk: UnsafeRawBufferPointer, _ incoming: IncomingRequest) -> MHD_Result {
        if monotonicSeconds() - incoming.startedAt > Double(incoming.seconds) { return .NO }
        incoming.take(chunk) { reserve($0, incoming) }
        if incoming.refusal != nil { release(incoming) }
        // An answer can only be given at the body's end, so a body that never ends is cut off.
        return incoming.received - limits.bodyBytes > incoming.limit ? .NO : .YES
    }

    func finish(_ incoming: IncomingRequest, _ connection: OpaquePointer) -> MHD_Result {
        keeper.enters(.handling, healthbus_http_socket(connection))
        let answer = incoming.answer(handler)
        // Memory is released before the client can see the answer, so that the client's next request finds it free.
        release(incoming)
        return queue(answer, connection)
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

    /// Releases the memory for the request's body.
    func release(_ incoming: IncomingRequest) {
        guard incoming.reserved > 0 else { return }
        load.withLock { $0.bodyBytes -= incoming.reserved }
        incoming.reserved = 0
    }

    func queue(_ answer: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
        if let stream = answer.events { return queue(stream, answer, connection) }
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

    private func queue(_ stream: EventStream, _ answer: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
        let isTaken = load.withLock { load in
            guard !load.draining, load.events.count < limits.eventStreams else { return false }
            load.events[ObjectIdentifier(stream)] = stream
            return true
        }
        guard isTaken else {
            stream.close()
            return queue(HTTPRefusal.crowded.answer, connection)
        }
        let forget = { [self] in load.withLock { _ = $0.events.removeValue(forKey: ObjectIdentifier(stream)) } }
        guard let response = EventReader.response(stream, on: connection, closed: { _ = forget() }) else { return .NO }
        defer { MHD_destroy_response(response) }
        for field in answer.headers.fields { MHD_add_response_header(response, field.name, field.value) }
        // The stream has no deadline: it continues until one side ends it.
        keeper.enters(.handling, healthbus_http_socket(connection))
        return MHD_queue_response(connection, UInt32(answer.status), response)
    }
}
