import DeliveryKit
import HTTP
import HealthModel
import Logging
import UploaderReading

/// A backend's answer, interpreted as the uploader would.
struct BackendReply: Sendable {
    var response: HTTPResponse
    var answer: UploadAnswer
    /// How many elements the request contained.
    var sent: Int
    var judgement: AnswerProof

    init(_ response: HTTPResponse, sent: Int) {
        (self.response, self.sent) = (response, sent)
        answer = UploadAnswer(body: response.body)
        judgement = AnswerProof(
            status: response.status, contentType: response.headers["Content-Type"], answer: answer, sent: sent,
            seen: SeenBackend())
    }

    var status: Int { response.status }

    /// Whether the uploader counts everything that wasn't refused as delivered.
    var isAccepted: Bool { judgement == .proven || judgement == .onTrust }

    /// For people.
    var seen: String {
        var text = "\(status)"
        if let place = response.headers["Location"] { text += " to \(Self.plain(place))" }
        switch answer.form {
        case .empty: return text + " with an empty body"
        case .json:
            guard let counts = answer.counts else { return text + " with " + Self.plain(response.text) }
            text +=
                " with counts: created \(counts.created), updated \(counts.updated), known \(counts.known), refused \(counts.refused)"
            for refusal in answer.refused.prefix(3) {
                text += "; refused \(Self.plain(refusal.id ?? refusal.index.map { "number \($0)" } ?? "?")): "
                text += Self.plain(refusal.reason)
            }
            return text
        case .other:
            let type = response.headers["Content-Type"].map { " (\(Self.plain($0)))" } ?? ""
            return text + type + " with " + Self.plain(response.text)
        }
    }

    /// Reduces somebody else's text to one line without escape sequences.
    private static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(160).map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars)) + (text.unicodeScalars.count > 160 ? "…" : "")
    }

    /// The remedy for an answer that doesn't count as acceptance.
    var advice: String {
        switch status {
        case 200..<300:
            if answer.form == .other {
                return
                    "answer with a JSON object, as docs/backend.md shows; other text may come from anyone, so nothing counts as delivered"
            }
            if judgement == .unreadableRefusals {
                return #"name what you refuse as "refused": [{"id": …, "reason": …}], or by "list" and "index""#
            }
            if answer.failure != nil {
                return "answer an error with a status of 400 or more, or name what is refused as docs/backend.md shows"
            }
            return "created, updated, known and refused must add up to the elements that were sent"
        case 300..<400: return "use the address it leads to as the uploader's 'url'"
        case 401, 403:
            return "check the token: --token-file, or HEALTHBUS_BACKEND_TOKEN; without one the server must ask for none"
        case 404, 405: return "accept POST at /api/v1/sync/<metric>, and check the URL and its prefix"
        case 413: return "accept bodies of at least 64 KiB"
        case 400, 422: return "accept the element as described in docs/backend.md; the answer may say what was wrong"
        default: return "look at the server's log; healthbus sends the same again later, for as long as it takes"
        }
    }
}

/// Talks to a backend as the uploader does. For use on one thread.
final class BackendConnection {
    private let client: HTTPClient
    /// nil for a server that asks for none.
    private let token: String?

    /// Seconds to wait for an answer, as in the uploader.
    static let patience = 30.0

    /// - Throws: `HTTPError` for a URL that can't be used.
    init(_ url: String, token: String?) throws {
        client = try HTTPClient(base: url)
        self.token = token
    }

    enum Credential { case right, wrong, none }

    func post(
        _ metric: String, _ body: [UInt8], sent: Int, _ credential: Credential = .right
    ) throws(HTTPError) -> BackendReply {
        var request = HTTPRequest(
            method: "POST", path: "/api/v1/sync/" + metric, headers: ["Content-Type": "application/json"], body: body)
        return BackendReply(try send(&request, credential), sent: sent)
    }

    func get(_ path: String, _ query: [String: String]) throws(HTTPError) -> HTTPResponse {
        var request = HTTPRequest(path: "/api/v1/" + path, query: query)
        return try send(&request, .right)
    }

    private func send(_ request: inout HTTPRequest, _ credential: Credential) throws(HTTPError) -> HTTPResponse {
        switch credential {
        case .right: request.headers["Authorization"] = token.map { "Bearer " + $0 }
        case .wrong: request.headers["Authorization"] = "Bearer not-" + (token ?? "any")
        case .none: break
        }
        do { return try client.send(request, timeout: Self.patience, redirects: HTTPClient.usualRedirects) } catch let
            error as HTTPError
        {
            throw error
        } catch {
            throw HTTPError(.connection, endpoint: client.endpoint, detail: "\(error)", hint: "try again")
        }
    }
}
