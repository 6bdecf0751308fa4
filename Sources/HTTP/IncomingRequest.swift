/// One request while it arrives: its head, and what happens to its body.
///
/// libmicrohttpd uses only one thread per connection, so a request needs no lock.
final class IncomingRequest {
    let startedAt: Double
    /// The request's head, and the part of the body that has been collected so far.
    var request = HTTPRequest(path: "")
    /// The number of body bytes received, as sent.
    var received = 0
    /// The number of bytes of memory that were granted for the body.
    var reserved = 0
    /// The maximum size of the body after inflation, in bytes.
    var limit = 0
    /// The number of seconds allowed for the whole request.
    var seconds = 0
    var inflater: BodyInflater?
    /// Makes the answer in place of the server's handler.
    var handler: HTTPServer.Handler?
    private(set) var refusal: HTTPResponse?
    private(set) var stream: HTTPServer.BodyStream?
    /// Whether the request is counted among the open streams.
    private(set) var isStreamed = false
    /// Whether the receiver has yet to learn how the body ended.
    private var receiverIsOpen = false
    /// The number of bytes that went into the request or the receiver.
    private var kept = 0

    init(startedAt: Double) { self.startedAt = startedAt }

    func refuse(_ answer: HTTPResponse) {
        refusal = answer
        request.body = []
        inflater = nil
        abandon()
    }

    func open(_ stream: HTTPServer.BodyStream) {
        self.stream = stream
        isStreamed = true
        receiverIsOpen = true
    }

    /// Says to the receiver, if one is still waiting, that the body won't be complete.
    func abandon() {
        guard receiverIsOpen else { return }
        receiverIsOpen = false
        stream?.receiver.abandon()
    }

    /// - Parameter reserve: requests the given number of further bytes of memory; returns false when they aren't
    ///   granted.
    func take(_ chunk: UnsafeRawBufferPointer, reserve: (Int) -> Bool) {
        received += chunk.count
        guard refusal == nil else { return }
        do throws(HTTPRefusal) {
            guard received <= limit else { throw .tooLarge(limit) }
            if let inflater {
                try inflater.take(chunk) { (piece) throws(HTTPRefusal) in try keep(piece, reserve) }
            } else {
                try keep(chunk, reserve)
            }
        } catch {
            refuse(error.answer)
        }
    }

    private func keep(_ piece: UnsafeRawBufferPointer, _ reserve: (Int) -> Bool) throws(HTTPRefusal) {
        guard kept + piece.count <= limit else { throw .tooLarge(limit) }
        kept += piece.count
        if let stream { return try stream.receiver.write(piece) }
        if kept > reserved, !reserve(kept - reserved) { throw .busy }
        // A long body of unknown length gets all the memory that it may need in one allocation. If the buffer grew by
        // doubling, the body would be in memory twice. The unfilled part is only address space.
        if kept > max(request.body.capacity, Self.small) { request.body.reserveCapacity(limit) }
        request.body.append(contentsOf: piece)
    }

    private static let small = 1 << 20

    /// The whole request has arrived: returns the answer, from the handler if the body was collected. The body's memory
    /// is free when this returns.
    func answer(_ handler: HTTPServer.Handler) -> HTTPResponse {
        finish()
        if let refusal { return refusal }
        var request = HTTPRequest(path: "")
        swap(&request, &self.request)
        guard let stream else { return self.handler?(request) ?? handler(request) }
        self.stream = nil
        return stream.answer(request)
    }

    private func finish() {
        guard refusal == nil else { return }
        do throws(HTTPRefusal) {
            try inflater?.finish()
            inflater = nil
            if let stream {
                try stream.receiver.finish()
                receiverIsOpen = false
            }
        } catch {
            refuse(error.answer)
        }
    }
}
