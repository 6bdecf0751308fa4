/// An answer given instead of the requested content.
package struct HTTPRefusal: Error, Sendable, Equatable {
    package let answer: HTTPResponse

    package init(_ answer: HTTPResponse) { self.answer = answer }

    /// - Parameters:
    ///   - error: what happened, without anything that the client sent. It must be constant text that needs no escapes
    ///     in JSON.
    ///   - hint: what the client can do now; the same rules apply.
    package init(_ status: Int, _ error: String, hint: String, headers: HTTPHeaders = [:]) {
        answer = HTTPResponse(
            status: status, json: Array(#"{"error":"\#(error)","hint":"\#(hint)"}"#.utf8), headers: headers)
    }

    static func tooLarge(_ limit: Int) -> HTTPRefusal {
        HTTPRefusal(413, "the body is larger than \(limit) bytes", hint: "send fewer elements in one request")
    }

    static let busy = HTTPRefusal(
        503, "too many bodies at once", hint: "send it again after Retry-After", headers: ["Retry-After": "1"])

    static let crowded = HTTPRefusal(
        503, "too many readers at once", hint: "close one, or try again after Retry-After",
        headers: ["Retry-After": "5"])

    /// The connection ends with this answer, because where the next request begins is unknown or can't be trusted.
    static func malformed(_ error: String) -> HTTPRefusal {
        HTTPRefusal(
            400, error, hint: "correct the request; sending it again won't help", headers: ["Connection": "close"])
    }
}

extension HTTPResponse {
    /// 405, with the methods that the path supports in `Allow` (RFC 9110, 15.5.6).
    package static func methodNotAllowed(_ allowed: [String]) -> HTTPResponse {
        HTTPRefusal(
            405, "this path doesn't support that method", hint: "use one of the methods in Allow",
            headers: ["Allow": allowed.joined(separator: ", ")]
        ).answer
    }
}

extension HTTPHeaders {
    /// `Retry-After` in whole seconds, from one to an hour.
    package static func retryAfter(_ seconds: Double) -> HTTPHeaders {
        ["Retry-After": String(Int(min(max(seconds.rounded(.up), 1), 3600)))]
    }
}
