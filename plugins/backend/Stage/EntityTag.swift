import HTTP
import HealthModel

/// Identifies one state of one answer (a strong `ETag`): a client that already has that answer needn't receive it
/// again.
///
/// An answer depends only on the question and the rows, and the sequence rises whenever a row changes.
struct EntityTag {
    private let text: String

    /// Change this when the same rows are returned in a different form.
    private static let form = 1

    /// - Parameter question: the list, and every parameter that matters.
    init(_ state: BackendState, question: String) {
        text =
            "\"\(Self.form)-\(state.generation)-\(state.sequence)-\(String(ContentNumber.text(question), radix: 16))\""
    }

    /// Whether a request's `If-None-Match` contains this tag (RFC 9110, 13.1.2).
    func isNamed(by request: HTTPRequest) -> Bool {
        request.headers.all("If-None-Match").contains { field in
            // Our tags contain no commas or spaces.
            field.split { ", \t".contains($0) }.contains { $0 == "*" || $0 == text || $0 == "W/" + text }
        }
    }

    /// The answer for a client that already has this state.
    var notModified: HTTPResponse { marked(HTTPResponse(status: 304)) }

    /// The client may store it, but must ask again each time.
    func marked(_ answer: HTTPResponse) -> HTTPResponse {
        var answer = answer
        answer.headers["ETag"] = text
        answer.headers["Cache-Control"] = "private, no-cache"
        return answer
    }
}
