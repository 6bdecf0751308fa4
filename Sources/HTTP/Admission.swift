extension HTTPServer {
    /// Decides about a request when its head has come and its body hasn't. Called on the server's threads.
    package typealias Admit = @Sendable (HTTPRequest) -> Admission

    /// What becomes of a request's body.
    ///
    /// A body with `Content-Encoding: gzip` or `deflate` is inflated on the way, by both of those that take one; another coding
    /// is answered 415. Limits count inflated bytes.
    package enum Admission {
        /// It isn't let in. A client that waits for `100 Continue` gets the answer at once and sends no body; of others the body
        /// is read and dropped first, as far as `Limits.bodyBytes` allows, since an answer before its end may never be seen.
        case refuse(HTTPResponse)
        /// Collected in memory, for the handler. At most so many bytes (nil: `Limits.bodyBytes`); more are answered 413.
        case collect(limit: Int? = nil)
        /// Handed on piece by piece; the handler isn't asked.
        case stream(BodyStream)
    }

    /// A body that goes somewhere while it arrives.
    package struct BodyStream {
        /// Where to. Never more than a connection's buffer (`Limits.headerBytes`) is kept in memory: the next piece is
        /// read from the network when this one is written.
        package var sink: any BodySink
        /// Bytes after inflation; more are answered 413.
        package var limit: Int
        /// The answer, once `sink.finish()` has returned. Gets the request's head.
        package var answer: (HTTPRequest) -> HTTPResponse

        package init(to sink: any BodySink, limit: Int, answer: @escaping (HTTPRequest) -> HTTPResponse) {
            self.sink = sink
            self.limit = limit
            self.answer = answer
        }
    }
}

/// Takes a body piece by piece. Called by one thread at a time, the one that serves the connection: while it works, other
/// connections of that thread wait.
///
/// Its end is told exactly once: either `finish` returns, or `abandon` is called.
package protocol BodySink: AnyObject {
    /// The next bytes, valid during the call; inflated where they came compressed.
    /// - Throws: the answer for the client, when it can't or won't take them; the rest isn't offered then.
    func write(_ piece: UnsafeRawBufferPointer) throws(HTTPRefusal)

    /// That was all of it.
    /// - Throws: the answer for the client, when it can't be kept.
    func finish() throws(HTTPRefusal)

    /// It won't be whole: the client went away, was too slow or sent too much, or a call above threw. Nothing may be left of it.
    func abandon()
}
