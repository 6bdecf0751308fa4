import HTTP
import HealthModel

/// Names one state of one answer (a strong `ETag`): whoever has it need not be sent it again.
///
/// An answer depends on nothing but the question and the rows, and no row changes without the sequence.
struct EntityTag {
    private let text: String

    /// Another one when the same rows are told in another form.
    private static let form = 1

    /// - Parameter question: of which list, and every parameter that counts.
    init(_ state: BackendState, question: String) {
        text =
            "\"\(Self.form)-\(state.generation)-\(state.sequence)-\(String(ContentNumber.text(question), radix: 16))\""
    }

    /// Whether a request's `If-None-Match` names it (RFC 9110, 13.1.2).
    func isNamed(by request: HTTPRequest) -> Bool {
        request.headers.all("If-None-Match").contains { field in
            // No tag of ours holds a comma or a space.
            field.split { ", \t".contains($0) }.contains { $0 == "*" || $0 == text || $0 == "W/" + text }
        }
    }

    /// The answer for whoever has it.
    var notModified: HTTPResponse { marked(HTTPResponse(status: 304)) }

    /// To be kept by whoever asked, and asked for again each time.
    func marked(_ answer: HTTPResponse) -> HTTPResponse {
        var answer = answer
        answer.headers["ETag"] = text
        answer.headers["Cache-Control"] = "private, no-cache"
        return answer
    }
}
