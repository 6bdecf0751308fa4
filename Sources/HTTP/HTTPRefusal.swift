/// An answer given instead of the requested content.
package struct HTTPRefusal: Error, Sendable, Equatable {
    package let answer: HTTPResponse

    package init(_ answer: HTTPResponse) { self.answer = answer }

    /// - Parameters:
    ///   - error: what happened, without anything that the client sent. It must be constant text that needs no escapes
    ///     in JSON.
    ///   - hint: what the client can do now; the same rules apply.
    package init(_ status: Int, _ error: String, hint: String, headers: HTTPHeaders = [:]) {
        var answer = HTTPResponse(status: status, json: Array(#"{"error":"\#(error)","hint":"\#(hint)"}"#.utf8))
        for field in headers.fields { answer.headers.add(field.name, field.value) }
        self.answer = answer
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

    /// 429, with `Retry-After` in whole seconds, at least one.
    /// - Parameter wait: the number of seconds, from `RateLimit`, until the same request would be let through.
    package static func tooManyRequests(wait: Double) -> HTTPResponse {
        HTTPRefusal(
            429, "too many requests", hint: "send it again after Retry-After",
            headers: ["Retry-After": String(Int(min(max(wait.rounded(.up), 1), 86_400)))]
        ).answer
    }
}
