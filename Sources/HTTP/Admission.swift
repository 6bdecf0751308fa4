extension HTTPServer {
    /// Decides what to do with a request whose head has arrived but whose body hasn't. Called on the server's threads.
    package typealias Admit = @Sendable (HTTPRequest) -> Admission

    /// What happens to a request's body.
    ///
    /// A body with `Content-Encoding: gzip` or `deflate` is inflated on the way by the two cases that accept one; any
    /// other coding is answered with 415. Limits count inflated bytes.
    package enum Admission {
        /// The request isn't let in. A client that waits for `100 Continue` gets the answer at once and sends no body;
        /// otherwise the body is read and dropped first, up to `Limits.bodyBytes`, since an answer before its end may
        /// never be seen.
        case refuse(HTTPResponse)
        /// Collected in memory, for the handler. At most this many bytes (nil: `Limits.bodyBytes`); more are answered
        /// with 413.
        case collect(limit: Int? = nil)
        /// Passed on piece by piece; the handler isn't called.
        case stream(BodyStream)
    }

    /// A body that is passed on while it arrives.
    package struct BodyStream {
        /// Where it goes. Never more than a connection's buffer (`Limits.headerBytes`) is kept in memory: the next
        /// piece is read from the network once this one is written.
        package var sink: any BodySink
        /// The most bytes after inflation; more are answered with 413.
        package var limit: Int
        /// The answer, once `sink.finish()` has returned. Receives the request's head.
        package var answer: (HTTPRequest) -> HTTPResponse

        package init(to sink: any BodySink, limit: Int, answer: @escaping (HTTPRequest) -> HTTPResponse) {
            self.sink = sink
            self.limit = limit
            self.answer = answer
        }
    }
}

/// Receives a body piece by piece. Called by one thread at a time, the one that serves the connection: while it works,
/// other connections of that thread wait.
///
/// The body's end is reported exactly once: either `finish` returns, or `abandon` is called.
package protocol BodySink: AnyObject {
    /// The next bytes, valid during the call; inflated if they were compressed.
    /// - Throws: the answer for the client, when the sink can't or won't accept them; the rest is then not passed on.
    func write(_ piece: UnsafeRawBufferPointer) throws(HTTPRefusal)

    /// The body is complete.
    /// - Throws: the answer for the client, when it can't be stored.
    func finish() throws(HTTPRefusal)

    /// The body won't be complete: the client went away, was too slow or sent too much, or a call above threw. No part
    /// of it may remain.
    func abandon()
}
