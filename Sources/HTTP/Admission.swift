extension HTTPServer {
    /// Decides what to do with a request whose head has arrived but whose body hasn't. Called on the server's threads.
    package typealias Admit = @Sendable (HTTPRequest) -> Admission

    /// What happens to a request's body.
    ///
    /// In the two cases that accept a body, a body with `Content-Encoding: gzip` or `deflate` is inflated as it
    /// arrives; any other coding is answered with 415. Limits count inflated bytes.
    package enum Admission {
        /// The request is refused. A client that waits for `100 Continue` gets the answer at once and sends no body.
        /// Otherwise the body is first read and dropped, up to `Limits.bodyBytes` (twice that if its length isn't
        /// announced), since a client may never see an answer that is sent before the body's end.
        case refuse(HTTPResponse)
        /// The body is collected in memory, for `answer` (nil: the server's handler). The maximum size in bytes (nil:
        /// `Limits.bodyBytes`); larger bodies are answered with 413.
        case collect(limit: Int? = nil, answer: Handler? = nil)
        /// The body is passed on in pieces, and the handler isn't called.
        case stream(BodyStream)
    }

    /// A body that is passed on while it arrives.
    package struct BodyStream {
        /// Where it goes. Never more than a connection's buffer (`Limits.headerBytes`) is kept in memory: the next
        /// piece is read from the network once this one is written.
        package var receiver: any BodyReceiver
        /// The maximum size in bytes after inflation; larger bodies are answered with 413.
        package var limit: Int
        /// Makes the answer, once `receiver.finish()` has returned. Receives the request's head.
        package var answer: (HTTPRequest) -> HTTPResponse

        package init(to receiver: any BodyReceiver, limit: Int, answer: @escaping (HTTPRequest) -> HTTPResponse) {
            (self.receiver, self.limit, self.answer) = (receiver, limit, answer)
        }
    }
}

/// Receives a body piece by piece. It is called by one thread at a time, the one that serves the connection. While it
/// works, other connections of that thread wait.
///
/// The body's end is reported exactly once: either `finish` returns, or `abandon` is called.
package protocol BodyReceiver: AnyObject {
    /// Receives the next bytes, which are valid only during the call; they are inflated if they were compressed.
    /// - Throws: the answer for the client, when the receiver can't or won't accept the bytes; the remaining ones are
    ///   then not passed on.
    func write(_ piece: UnsafeRawBufferPointer) throws(HTTPRefusal)

    /// The body is complete.
    /// - Throws: the answer for the client, when the body can't be stored.
    func finish() throws(HTTPRefusal)

    /// The body won't be complete: the client went away, was too slow or sent too much, or a call above threw. No part
    /// of the body may remain.
    func abandon()
}
