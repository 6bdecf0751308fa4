import BackgroundDelivery
import HTTP
import JSON

/// Why a request isn't accepted, in a form for programs: `{"code", "error", "hint"}`.
struct IngestProblem: Error {
    var status: Int
    /// A word that doesn't change between releases.
    var code: StaticString
    var message: String
    var hint: String
    var headers: HTTPHeaders = [:]
    /// What the log says about it, and the answer doesn't.
    var reason: String?

    var answer: HTTPResponse {
        var out: [UInt8] = []
        out.append(json: "{\"code\":\"")
        out.append(json: code)
        out.append(json: "\",\"error\":")
        out.append(jsonString: message)
        out.append(json: ",\"hint\":")
        out.append(jsonString: hint)
        out.append(json: "}")
        return HTTPResponse(status: status, json: out, headers: headers)
    }

    static let unauthorized = unauthorized(
        "the bearer token is missing or wrong",
        hint: "send Authorization: Bearer <token>; 'healthbus token new' creates one")

    static func unauthorized(
        _ message: String,
        hint: String = "'healthbus pair' makes another for a phone, 'healthbus token new' for a program"
    ) -> IngestProblem {
        IngestProblem(
            status: 401, code: "unauthorized", message: message, hint: hint, headers: ["WWW-Authenticate": "Bearer"])
    }

    /// The same answer whatever is wrong: a stranger learns nothing.
    static func unsigned(_ reason: String) -> IngestProblem {
        IngestProblem(
            status: 401, code: "unauthorized", message: "the request isn't from a paired phone",
            hint: "pair it again: 'healthbus pair --app life-dashboard'", reason: reason)
    }

    /// The same answer whatever is wrong with a code or a refresh token.
    static func unjoined(_ reason: String) -> IngestProblem {
        IngestProblem(
            status: 401, code: "unauthorized", message: "the code or refresh token isn't valid",
            hint: "get another code with 'healthbus pair --app open-wearables'", reason: reason)
    }

    static func forbidden(_ message: String, hint: String) -> IngestProblem {
        IngestProblem(status: 403, code: "forbidden", message: message, hint: hint)
    }

    static func malformed(_ message: String) -> IngestProblem {
        IngestProblem(
            status: 422, code: "malformed", message: message,
            hint: "nothing in this request was accepted; docs/ways-in.md describes the body")
    }

    static func tooLarge(_ message: String) -> IngestProblem {
        IngestProblem(
            status: 413, code: "too-large", message: message,
            hint: "nothing in this request was accepted; split it into several")
    }

    static func mediaType(_ allowed: String) -> IngestProblem {
        IngestProblem(
            status: 415, code: "media-type", message: "the body has a type that isn't accepted here",
            hint: "send Content-Type: \(allowed)")
    }

    static func tooMany(wait: Double) -> IngestProblem {
        IngestProblem(
            status: 429, code: "too-many-requests", message: "this token or address sends too many requests",
            hint: "send it again after Retry-After", headers: .retryAfter(wait))
    }

    /// Like the system, which wakes an app for only a few silent pushes an hour.
    static func wakesUsedUp(wait: Double) -> IngestProblem {
        IngestProblem(
            status: 429, code: "wakes-used-up",
            message: "this token has woken the stack \(SystemLimits.pushesPerHour) times within the hour",
            hint: "wake it again after Retry-After; what is new is synced meanwhile without being asked",
            headers: .retryAfter(wait))
    }

    static let versionMissing = IngestProblem(
        status: 428, code: "version-missing", message: "the request doesn't say which version the change is meant for",
        hint: "send If-Match with the version that you know, or \"version\" in the body; If-Match: * for any")

    static let notFound = IngestProblem(
        status: 404, code: "not-found", message: "there is no such path", hint: "docs/ways-in.md lists the paths")

    static func method(_ allowed: [String]) -> IngestProblem {
        let names = allowed.joined(separator: ", ")
        return IngestProblem(
            status: 405, code: "method", message: "this path doesn't support that method", hint: "use \(names)",
            headers: ["Allow": names])
    }

    static func busy(_ why: String, code: StaticString, seconds: Int) -> IngestProblem {
        IngestProblem(
            status: 503, code: code, message: why,
            hint: "send the same request again; nothing is stored twice",
            headers: ["Retry-After": "\(seconds)"])
    }
}
